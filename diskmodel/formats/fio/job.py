"""What every output of fio becomes: jobs with their options and, per direction, rates and latencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diskmodel.formats.fio import options as fio_options

DIRECTIONS = ("read", "write", "trim")


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
        Completed requests; None where the output does not tell (terse without a way to derive it).
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


@dataclass(frozen=True)
class FioJob:
    """One job of fio: what was asked and, unless it comes from a job file, what was measured.

    Attributes
    ----------
    name : str
    group : int
        fio's group id; with a job file, jobs of one group run at the same time.
    fio_version : str
        For instance "fio-3.33"; empty for job files.
    options : dict
        Options of the job over the global ones, as text. Where the output has no options (terse), empty.
    pattern : str or None
        fio's `rw`: "read", "randwrite", "randrw" …; None when the output does not tell.
    read_fraction : float or None
        Asked share of reads among requests, from 0 to 1.
    block_bytes : dict
        Direction → bytes; for a range or a split its mean.
    depth, n_jobs : int
        `iodepth` and `numjobs`, 1 by default.
    engine : str or None
    is_direct : bool or None
    read, write, trim : FioDirection or None
        None for directions without I/O.
    error : int
        fio's error number; 0: none.
    cpu_ratio : float or None
        Share of a processor that each process of the job used; None when the output does not tell.
    """

    name: str
    group: int = 0
    fio_version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    pattern: str | None = None
    read_fraction: float | None = None
    block_bytes: Mapping[str, float] = field(default_factory=dict)
    depth: int = 1
    n_jobs: int = 1
    engine: str | None = None
    is_direct: bool | None = None
    read: FioDirection | None = None
    write: FioDirection | None = None
    trim: FioDirection | None = None
    error: int = 0
    cpu_ratio: float | None = None

    @property
    def outstanding(self) -> int:
        """Requests that the job keeps in flight: engines that wait for each request ignore the depth."""
        return self.n_jobs * (1 if self.engine in fio_options.SYNCHRONOUS_ENGINES else self.depth)

    @property
    def directions(self) -> dict[str, FioDirection]:
        """The directions that have I/O."""
        found = {"read": self.read, "write": self.write, "trim": self.trim}
        return {name: direction for name, direction in found.items() if direction is not None}


def job_from_options(
    name: str, options: Mapping[str, str], *, group: int = 0, fio_version: str = "", error: int = 0, source: str = "",
    results: Mapping[str, FioDirection | None] | None = None, cpu_ratio: float | None = None,
) -> FioJob:  # fmt: skip
    """A job whose asked-for side is derived from its options.

    Raises
    ------
    FormatError
        For options that are known here and have no value that fio would take.
    """
    told = fio_options.Told(options, source)
    results = results or {}
    return FioJob(
        name=name,
        group=group,
        fio_version=fio_version,
        options=dict(options),
        pattern=told.pattern,
        read_fraction=told.read_fraction,
        block_bytes=told.block_bytes,
        depth=told.depth,
        n_jobs=told.n_jobs,
        engine=told.engine,
        is_direct=told.is_direct,
        read=results.get("read"),
        write=results.get("write"),
        trim=results.get("trim"),
        error=error,
        cpu_ratio=cpu_ratio,
    )
