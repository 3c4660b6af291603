"""fio's terse output, versions 3, 4 and 5: one line of semicolons a job."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace

from diskmodel.formats.faults import LineError
from diskmodel.formats.fio.headers import Header, combined_patterns, header_of, n_started, without_host
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options
from diskmodel.formats.fio.snapshots import without_earlier
from diskmodel.formats.sizes import THREE_DIGITS, likely_count, whole_size
from diskmodel.units import in_digits, pretty_bytes

_START = re.compile(r"([345]);fio-\d+\.\d+[^;]*;", re.ASCII)
_LATENCY_FIELDS = 4
_PERCENTILES = 20
# kb, bandwidth, iops, runtime; slat, clat; percentiles; lat; bw (min, max, share, mean, deviation)
_FIELDS = 4 + 2 * _LATENCY_FIELDS + _PERCENTILES + _LATENCY_FIELDS + 5
# version 5 adds the number of bw samples and five figures of iops samples
_FIELDS_5 = _FIELDS + 1 + 5
_FIRST = 5
#: IOPS below which a cut decimal is more than a percent.
_CUT_BELOW = 100
#: Reads and writes of one job run as long as each other, to a millisecond; beyond both of these they were phases.
_SAME_RUNTIME, _SAME_RUNTIME_NS = 0.02, 3_000_000
#: Mean sizes whose ratio is larger are no roundings of one.
_OTHER_SIZE = 1.05


def is_terse(line: str) -> bool:
    """Whether a line begins as a terse job does."""
    return _START.match(line) is not None


def jobs_of(text: str, source: str = "") -> list[FioJob]:
    """Jobs of all terse lines of a text, in order; other lines are left alone.

    Terse output has no options, but for those of the lines above it that fio prints when it starts. It counts bandwidth
    in whole KiB/s, IOPS in whole numbers and latencies in microseconds. Block sizes are derived from bandwidth and
    IOPS, to whole sectors of 512 bytes.

    Raises
    ------
    LineError
        For a terse line that lacks fields or has one that is no number.
    """
    runs: list[_Run] = [_Run()]
    for number, line in enumerate(text.split("\n"), start=1):
        if is_terse(line):
            runs[-1].jobs.append(_Line(line, number, source).job())
        elif (header := header_of(without_host(line.strip()))) is not None:
            if runs[-1].jobs:
                runs.append(_Run())
            runs[-1].headers.append(header)
        elif (n := n_started(without_host(line))) is not None:
            runs[-1].n_started = n
    runs = [run for run in runs if run.jobs]
    jobs: list[FioJob] = []
    for run in runs:
        first = max((job.group for job in jobs), default=-1) + 1
        groups = {group: place for place, group in enumerate(dict.fromkeys(job.group for job in run.jobs))}
        found = without_earlier([_with_options(job, run, source) for job in run.jobs])
        jobs += [replace(job, group=first + groups[job.group] if len(runs) > 1 else job.group) for job in found]
    return jobs


@dataclass
class _Run:
    """The terse lines of one run, and the lines above them that fio prints when it starts."""

    headers: list[Header] = field(default_factory=list)
    jobs: list[FioJob] = field(default_factory=list)
    n_started: int | None = None


def _with_options(job: FioJob, run: _Run, source: str) -> FioJob:
    """Return a job with the options that its section's line above the results holds."""
    sections = [header for header in run.headers if header.group == job.group]
    own = [header for header in sections if header.name == job.name]
    if not own:
        return _apart(_without_verification(job)) if not job.options else job
    options = dict(own[0].options)
    names = [other.name for other in run.jobs if other.group == job.group]
    patterns = combined_patterns(sections) if len(set(names)) == 1 else None
    if len(run.headers) == 1 and names.count(job.name) == 1 and run.n_started:
        options["numjobs"] = str(run.n_started)
    asked = job_from_options(job.name, options, source=source, is_complete=False)
    has_sizes = patterns is None and asked.has_sizes
    # fio shows a split of sizes as a range, and the mean decides
    off = {} if job.is_unified or not has_sizes else _other_than_ranges(asked, job)
    notes = [
        f"{kind}s: {size:,.0f} bytes a request were measured, {asked.block_bytes[kind]:,.0f} asked for: the measured "
        "mean is taken"
        for kind, size in off.items()
    ]
    is_mixed = asked.pattern in ("rw", "randrw") and not job.is_unified
    return replace(
        asked,
        group=job.group,
        fio_version=job.fio_version,
        block_bytes={**asked.block_bytes, **off} if has_sizes else job.block_bytes,
        sizes={kind: sizes for kind, sizes in asked.sizes.items() if kind not in off} if has_sizes else {},
        read=job.read,
        write=job.write,
        trim=job.trim,
        error=job.error,
        notes=(*job.notes, *notes),
        is_unified=job.is_unified,
        combined=patterns,
        read_fraction=job.measured_read_fraction if is_mixed else asked.read_fraction,
    )


def _other_than_ranges(asked: FioJob, job: FioJob) -> dict[str, float]:
    """Return the measured mean sizes, by direction, that are not those of the range that was asked for."""
    ranges = {kind: asked.block_bytes[kind] for kind, sizes in asked.sizes.items() if len(sizes) > 1}
    found = {kind: (size, ranges[kind]) for kind, size in job.block_bytes.items() if kind in ranges}
    return {kind: size for kind, (size, mean) in found.items() if max(size, mean) > _OTHER_SIZE * min(size, mean)}


def _without_verification(job: FioJob) -> FioJob:
    """Return a job without reads that follow its writes: `verify` reads what was written, in a time of its own."""
    read, write = job.read, job.write
    if read is None or write is None or not read.runtime_ns or not write.runtime_ns:
        return job
    ratio = read.runtime_ns / write.runtime_ns
    if abs(ratio - 1) <= _SAME_RUNTIME and abs(read.runtime_ns - write.runtime_ns) <= _SAME_RUNTIME_NS:
        return job
    times = f"reads ran for {read.runtime_ns / 1e9:.3g} s and writes for {write.runtime_ns / 1e9:.3g} s"
    if abs(read.total_bytes - write.total_bytes) <= 1024:
        note = f"{times}, over the same bytes: the reads verify what was written, later, and are left out"
        return replace(job, read=None, notes=(*job.notes, note))
    note = f"{times}: they were phases (verify), or several jobs; they are taken as running together"
    return replace(job, notes=(*job.notes, note))


def _apart(job: FioJob) -> FioJob:
    """Return a job whose reads and writes have sizes of their own as sections that were reported as one."""
    sizes = [job.block_bytes.get(name, 0.0) for name in ("read", "write")]
    if job.read is None or job.write is None or not all(sizes) or max(sizes) <= _OTHER_SIZE * min(sizes):
        return job
    return replace(job, combined={"read": "", "write": ""})


class _Line:
    def __init__(self, line: str, number: int, source: str) -> None:
        self._text, self._number, self._source = line, number, source
        self._cells = line.rstrip("\r").split(";")
        self._version = int(self._cells[0])
        self._n_fields = _FIELDS_5 if self._version == 5 else _FIELDS
        self._n_directions = 2 if self._version == 3 else 3
        # with unified_rw_reporting=1 the share of the processor follows the first direction, which is of all
        after = _FIRST + self._n_fields
        self._is_mixed = len(self._cells) > after and self._cells[after].endswith("%")
        self._n_directions = 1 if self._is_mixed else self._n_directions
        if len(self._cells) < _FIRST + self._n_directions * self._n_fields:
            raise self._error(0, "", f"has {len(self._cells)} fields; version {self._version} of the format has more")

    def job(self) -> FioJob:
        names = ("read", "write", "trim")[: self._n_directions]
        found = {name: self._direction(_FIRST + place * self._n_fields) for place, name in enumerate(names)}
        blocks: dict[str, float] = {}
        notes: list[str] = []
        for name, part in found.items():
            if part is None:
                continue
            n = self._count(_FIRST + names.index(name) * self._n_fields) if part.iops < _CUT_BELOW else None
            if n is not None and part.runtime_ns:
                exact = n * 1e9 / part.runtime_ns
                blocks[name] = float(whole_size(part.total_bytes / n, 1024 / max(part.total_bytes, 1024)))
                if exact > part.iops * (1 + THREE_DIGITS):
                    notes.append(
                        f"IOPS of {name}s are printed without decimals: from the bytes, {n} requests of "
                        f"{pretty_bytes(round(blocks[name]))}, {in_digits(exact)}/s, are the most likely"
                    )
                found[name] = replace(part, iops=exact)
            elif part.iops:
                precision = max(THREE_DIGITS, 0.5 / part.iops)
                blocks[name] = float(whole_size(part.bandwidth_bytes_per_s / part.iops, precision))
        return FioJob(
            name=self._cells[2],
            group=int(self._figure(3, "groupid")),
            fio_version=self._cells[1],
            is_complete=False,
            block_bytes=blocks,
            read=found.get("read"),
            write=found.get("write"),
            trim=found.get("trim"),
            error=int(self._figure(4, "error")),
            is_unified=self._is_mixed,
            notes=tuple(notes),
        )

    def _count(self, first: int) -> int | None:
        """Requests of a direction; None where its figures are not whole numbers, or fit none."""
        kib, bandwidth, iops, runtime = self._cells[first : first + 4]
        if not all(cell.isascii() and cell.isdecimal() and len(cell) < 13 for cell in (kib, bandwidth, iops, runtime)):
            return None
        return likely_count(int(kib), int(bandwidth), int(iops), int(runtime))

    def _direction(self, first: int) -> FioDirection | None:
        kib = self._figure(first, "kb")
        runtime_ms = self._figure(first + 3, "runtime")
        if kib == 0 and self._figure(first + 2, "iops") == 0:
            return None
        latencies = first + 4
        percentiles = latencies + 2 * _LATENCY_FIELDS
        clat = self._latency(latencies + _LATENCY_FIELDS, "clat")
        return FioDirection(
            n_ios=None,
            total_bytes=int(kib * 1024),
            runtime_ns=int(runtime_ms * 1e6),
            iops=self._figure(first + 2, "iops"),
            bandwidth_bytes_per_s=self._figure(first + 1, "bandwidth") * 1024,
            slat=self._latency(latencies, "slat"),
            clat=clat
            and FioLatency(
                clat.min_ns, clat.max_ns, clat.mean_ns, clat.stddev_ns, percentiles=self._percentiles(percentiles)
            ),
            lat=self._latency(percentiles + _PERCENTILES, "lat"),
        )

    def _latency(self, first: int, name: str) -> FioLatency | None:
        low, high, mean, deviation = (self._figure(first + place, name) * 1000 for place in range(4))
        return FioLatency(low, high, mean, deviation) if high > 0 else None

    def _percentiles(self, first: int) -> dict[float, float]:
        found = {}
        for place in range(first, first + _PERCENTILES):
            percent, equals, value = self._cells[place].partition("%=")
            if not equals:
                raise self._error(place, "percentile", "must be percent%=microseconds")
            position = self._to_number(percent, place, "percentile")
            if 0 < position <= 100:
                found[position] = self._to_number(value, place, "percentile") * 1000
        return found

    def _figure(self, place: int, name: str) -> float:
        return self._to_number(self._cells[place], place, name)

    def _to_number(self, text: str, place: int, name: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1e15:
            raise self._error(place, name, "must be a number")
        return value

    def _error(self, place: int, name: str, rule: str) -> LineError:
        return LineError(self._source, self._number, place + 1 if name else 0, name, self._text, rule)
