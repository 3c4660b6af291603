"""What every output of fio becomes: jobs with their options and, per direction, rates and latencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from diskmodel.formats.fio import options as fio_options
from diskmodel.loading import dataclass

DIRECTIONS = ("read", "write", "trim")

#: A run that keeps less than this share of the requests in flight that its options allow was limited by something else
#: than the device. At half of it, runs held to half their speed would count as saturated; runs that saturate a device
#: reach 0.98, short ones 0.8.
LIMITED_BELOW = 0.5

#: Flushes, for each that was asked for, from which on there were more.
_MORE_FLUSHES = 1.1

#: Patterns of one direction only.
PURE_PATTERNS = {
    "read": "read",
    "randread": "read",
    "write": "write",
    "randwrite": "write",
    "trim": "trim",
    "randtrim": "trim",
}


@dataclass(frozen=True)
class FioLatency:
    """Distribution of one kind of latency.

    Attributes
    ----------
    min_ns, max_ns, mean_ns, stddev_ns : float
        0 or more. Text and terse outputs round them to their printed unit.
    n_samples : int or None
        None where the output does not say (text, terse).
    percentiles : dict of float to float
        Percent → ns; empty where fio did not report them for this kind.
    bins : dict of int to int
        json+ only: ns of a histogram bin → count.
    """

    min_ns: float
    max_ns: float
    mean_ns: float
    stddev_ns: float
    n_samples: int | None = None
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FioDirection:
    """Reads, writes or trims of a job (of all its clones, with group reporting).

    Attributes
    ----------
    n_ios : int or None
        Completed requests; None where the output does not say (terse).
    total_bytes : int
    runtime_ns : int
        With group reporting: of the longest clone.
    iops, bandwidth_bytes_per_s : float
    slat, clat, lat : FioLatency or None
        From preparation to submission, from submission to completion, and both together.
    """

    n_ios: int | None
    total_bytes: int
    runtime_ns: int
    iops: float
    bandwidth_bytes_per_s: float
    slat: FioLatency | None = None
    clat: FioLatency | None = None
    lat: FioLatency | None = None

    @property
    def response_ns(self) -> float | None:
        """Mean time from preparation to completion; from submission where only that is known; None without either."""
        if self.lat is not None:
            return self.lat.mean_ns
        if self.clat is None:
            return None
        return self.clat.mean_ns + (0.0 if self.slat is None else self.slat.mean_ns)

    @property
    def mean_bytes(self) -> float | None:
        """Mean size of the completed requests; None where their number is unknown."""
        return self.total_bytes / self.n_ios if self.n_ios else None


@dataclass(frozen=True)
class FioJob:
    """One job of fio: what was asked and, unless it comes from a job file, what was measured.

    Attributes
    ----------
    name : str
    group : int
        Jobs of one group ran, or are to run, at the same time; a later group waits for the earlier ones.
    fio_version : str
        For instance "fio-3.33"; empty for job files.
    options : dict
        Options of the job over the global ones, as text, by canonical name. Where the output has no options (terse),
        empty.
    is_complete : bool
        Whether `options` holds all options of the job. Text output leaves most of them out, unless its command line or
        job file is printed above it.
    pattern : str or None
        fio's `rw`: "read", "randwrite", "randrw" …; None when the output does not say.
    read_fraction : float or None
        Asked share of reads among requests, from 0 to 1.
    block_bytes : dict
        Direction → bytes; for a range or a split its mean.
    sizes : dict
        Direction → bytes → share of the direction's requests.
    rates_per_s : dict
        Direction → requests per second that the options hold all clones together to; absent where they set no limit.
    depth, n_jobs : int
        `iodepth` and `numjobs`, 1 by default.
    engine : str or None
    is_direct : bool or None
    read, write, trim : FioDirection or None
        None for directions without I/O.
    error : int
        fio's error number; 0: none.
    cpu_ratio : float or None
        Share of a processor that each process of the job used; None when the output does not say.
    sync : FioLatency or None
        Latency of flushes (fsync, fdatasync, sync_file_range); None where there were none, or the output (terse) does
        not say.
    n_syncs : int or None
        Flushes; None where the output does not say.
    combined : dict or None
        Where `group_reporting` added up sections of different settings: direction → their pattern, "" where it is
        unknown or they differ. None for the results of one section.
    program : str
        What ran the job; its results may be in the form of fio's jobs without being fio's.
    dropped_flushes : str
        Flushes of the run that no option shows, in words.
    mean_depth : float or None
        Requests that were outstanding when one was issued, by the text's table of depths, at least; None where the
        output has none.
    is_unified : bool
        `read` has the figures of reads and writes together (`unified_rw_reporting`).
    has_one_latency : bool
        Latencies of reads and of writes are those of both together.
    notes : tuple of str
        What the reader had to assume.
    """

    name: str
    group: int = 0
    fio_version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = True
    pattern: str | None = None
    read_fraction: float | None = None
    block_bytes: Mapping[str, float] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    rates_per_s: Mapping[str, float] = field(default_factory=dict)
    depth: int = 1
    n_jobs: int = 1
    engine: str | None = None
    is_direct: bool | None = None
    read: FioDirection | None = None
    write: FioDirection | None = None
    trim: FioDirection | None = None
    error: int = 0
    cpu_ratio: float | None = None
    sync: FioLatency | None = None
    n_syncs: int | None = None
    combined: Mapping[str, str] | None = None
    program: str = "fio"
    dropped_flushes: str = ""
    mean_depth: float | None = None
    is_unified: bool = False
    has_one_latency: bool = False
    notes: tuple[str, ...] = ()

    @property
    def has_sizes(self) -> bool:
        """Whether the sizes of requests are known from the options; fio's default counts where no option is missing."""
        return self.is_complete or any(option in self.options for option in ("bs", "bsrange", "bssplit"))

    @property
    def outstanding(self) -> int:
        """Requests that the options let the job keep in flight: engines that wait for each request ignore the depth."""
        engine = self.engine or (fio_options.DEFAULT_ENGINE if self.options else None)
        return self.n_jobs * (1 if engine in fio_options.SYNCHRONOUS_ENGINES else self.depth)

    @property
    def measured_outstanding(self) -> float | None:
        """Requests that were in flight on average, by Little's law: IOPS times latency; None without latencies.

        Counted are the directions that the pattern asks for: others verify, at another time. Flushes fill the time in
        which a job that waits for them has nothing else in flight, up to what the options allow.
        """
        total = 0.0
        for name, direction in self.directions.items():
            if self.pattern in PURE_PATTERNS and PURE_PATTERNS[self.pattern] != name:
                continue
            latency_ns = direction.response_ns
            if latency_ns is None:
                return None
            total += direction.iops * latency_ns / 1e9
        if total < self.outstanding and self._flushing:
            total = min(total + self._flushing, float(self.outstanding))
        return total or None

    @property
    def sync_rule(self) -> tuple[str, int] | None:
        """What makes its writes safe, and after how many of them; None where nothing is known to.

        The options count, and how often it was done, where it was more often than they ask for; where the output has
        none, the number of flushes over that of writes.
        """
        if fio_options.is_synchronous(self.options):
            return "dsync", 1
        if self.asked_flush is not None:
            name, every = self.asked_flush
            return name, self._as_flushed(every)
        n_writes = self.write.n_ios if self.write else None
        if self.is_complete or not self.n_syncs or not n_writes:
            return None
        return "fdatasync", max(round(n_writes / self.n_syncs), 1)

    @property
    def asked_flush(self) -> tuple[str, int] | None:
        """The option that asks for flushes, and after how many writes."""
        asked = {name: fio_options.count(self.options, name) for name in ("fdatasync", "fsync")}
        return min(((name, every) for name, every in asked.items() if every), key=lambda each: each[1], default=None)

    def _as_flushed(self, every: int) -> int:
        """Return how many writes a flush followed that was asked for after so many.

        Before version 3.38 fio flushed again after reads, and after requests of a deep queue (axboe/fio, pull requests
        1754 and 1777).
        """
        n_writes = self.write.n_ios if self.write else None
        if not self.n_syncs or not n_writes or self.range_syncs:
            return every
        # each clone may end with one more
        due = _MORE_FLUSHES * n_writes / every + 2 * self.n_jobs
        return every if self.n_syncs <= due else max(round(n_writes / self.n_syncs), 1)

    @property
    def flushes_reads(self) -> bool:
        """Whether more flushes were made than writes: they followed reads, too."""
        n_writes = self.write.n_ios if self.write else None
        is_known = bool(self.n_syncs and n_writes) and not self.range_syncs and self.read is not None
        return is_known and (self.n_syncs or 0) > _MORE_FLUSHES * (n_writes or 0) + 2 * self.n_jobs

    @property
    def range_syncs(self) -> str:
        """Its option `sync_file_range`, whose calls fio counts among the flushes although they flush no drive."""
        option = self.options.get("sync_file_range", "").strip()
        return "" if option.rpartition(":")[2] == "0" else option

    @property
    def syncs_per_s(self) -> float | None:
        """Calls per second of the run that fio counts as flushes; None where the output has none."""
        runtime_ns = max((direction.runtime_ns for direction in self.directions.values()), default=0)
        return self.n_syncs * 1e9 / runtime_ns if self.n_syncs and runtime_ns else None

    @property
    def _flushing(self) -> float:
        """Flushes in flight on average."""
        runtime_ns = max((direction.runtime_ns for direction in self.directions.values()), default=0)
        if self.sync is None or not self.n_syncs or not runtime_ns:
            return 0.0
        return self.n_syncs * self.sync.mean_ns / runtime_ns

    @property
    def was_limited(self) -> bool:
        """Whether something other than the device limited the run: a rate, pauses, the processor."""
        measured = self.measured_outstanding
        return bool(self.rates_per_s) or (measured is not None and measured < LIMITED_BELOW * self.outstanding)

    @property
    def measured_read_fraction(self) -> float | None:
        """Share of reads among the requests that completed; None without results."""
        counts = [
            0.0 if part is None else part.n_ios if part.n_ios is not None else part.iops
            for part in (self.read, self.write)
        ]
        return counts[0] / sum(counts) if sum(counts) else None

    @property
    def directions(self) -> dict[str, FioDirection]:
        """The directions that have I/O."""
        found = {"read": self.read, "write": self.write, "trim": self.trim}
        return {name: direction for name, direction in found.items() if direction is not None}


def job_from_options(
    name: str,
    options: Mapping[str, str],
    *,
    group: int = 0,
    fio_version: str = "",
    error: int = 0,
    source: str = "",
    results: Mapping[str, FioDirection | None] | None = None,
    cpu_ratio: float | None = None,
    is_complete: bool = True,
    sync: FioLatency | None = None,
    n_syncs: int | None = None,
) -> FioJob:
    """Return a job whose requested side is derived from its options.

    Raises
    ------
    FormatError
        For options that are known here and have no value that fio would take.
    """
    options = {fio_options.canonical(option): value for option, value in options.items()}
    read = fio_options.JobOptions(options, source)
    results = results or {}
    return FioJob(
        name=name,
        group=group,
        fio_version=fio_version,
        options=options,
        is_complete=is_complete,
        pattern=read.pattern,
        read_fraction=read.read_fraction,
        block_bytes=read.block_bytes,
        sizes=read.sizes,
        rates_per_s={direction: rate * read.n_jobs for direction, rate in read.rates_per_s.items()},
        depth=read.depth,
        n_jobs=read.n_jobs,
        engine=read.engine,
        is_direct=read.is_direct,
        read=results.get("read"),
        write=results.get("write"),
        trim=results.get("trim"),
        error=error,
        cpu_ratio=cpu_ratio,
        sync=sync,
        n_syncs=n_syncs,
    )
