"""fio's normal text output, versions 1 to 3; the leading blanks of its lines may be lost.

A file may hold several runs, one after the other: each header of a job after results begins the next run. Versions
before 2.17 print `io=…, bw=…, iops=…, runt=…`, their K, M and G being 1024 bytes and their successors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.fio.command import single_job
from diskmodel.formats.fio.headers import BINARY, Header, combined_patterns, header_of, without_host
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options
from diskmodel.formats.fio.jobfile import section_options
from diskmodel.formats.fio.snapshots import said, without_earlier

_NUMBER = r"(\d{1,18}(?:\.\d{1,18})?)([kKMGT]?)"
_VERSION = re.compile(r"(fio[- ]\d+\.\d+\S*)\s*\Z", re.ASCII)
_RESULT = re.compile(
    r"(?P<name>.+?): \(groupid=(?P<group>\d{1,9}), jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<error>\d{1,9})", re.ASCII
)
# With `unit_base` rates are in bits, with `kb_base` the decimal unit stands first; sums over clients leave "B/s" out.
_RATE = r"(?P<{0}>[\d.]{{1,24}}) ?(?P<{0}_unit>[kKMGTP]?i?)(?P<{0}_bit>bit|b|B)?(?:/s)?"
_DIRECTION = re.compile(
    rf"(?P<name>read|write|trim|mixed)\s*: IOPS={_NUMBER}, BW={_RATE.format('bw')} \({_RATE.format('other')}\)"
    r"\((?P<size>[\d.]{1,24}) ?(?P<size_unit>[kKMGTP]i?)?B/(?P<ms>\d{1,15})msec\)",
    re.ASCII,
)
_OLD_DIRECTION = re.compile(
    r"(?P<name>read|write|trim|mixed)\s*: io=\s*(?P<size>[\d.]{1,24})(?P<size_unit>[KMGTP]?)i?B?, "
    r"bw=\s*(?P<bw>[\d.]{1,24})(?P<bw_unit>[KMGTP]?)i?(?P<bw_bit>bit|b|B)?/s, "
    r"iops=\s*(?P<iops>[\d.]{1,24})(?P<iops_unit>[kKMG]?)\s*, "
    r"runt=\s*(?P<ms>\d{1,15})\s*msec",
    re.ASCII,
)
_LATENCY = re.compile(
    rf"(?P<kind>slat|clat|lat) \((?P<unit>[num]sec|sec)\)\s*: min=\s*{_NUMBER}, max=\s*{_NUMBER}, avg=\s*{_NUMBER}, "
    rf"stdev=\s*{_NUMBER}",
    re.ASCII,
)
_SYNC = re.compile(_LATENCY.pattern.replace("slat|clat|lat", "sync"), re.ASCII)
_PID = re.compile(r"\bpid=(\d{1,18})\b", re.ASCII)
_PERCENTILES = re.compile(r"(?P<kind>slat|clat|lat) percentiles \((?P<unit>[num]sec|sec)\):", re.ASCII)
_PERCENTILE = re.compile(rf"(\d{{1,3}}\.\d{{1,9}})th=\[\s*{_NUMBER}\]", re.ASCII)
_CPU = re.compile(r"cpu\s*: usr=(\d{1,9}(?:\.\d{1,9})?)%, sys=(\d{1,9}(?:\.\d{1,9})?)%", re.ASCII)
_ISSUED = re.compile(
    r"issued rwts?\s*: total=(\d{1,18}),(\d{1,18}),(\d{1,18})(?:,(\d{1,18}))?(?:\s+short=(\d{1,18}))?", re.ASCII
)
_OLD_ISSUED = re.compile(r"issued\s*: total=r=(\d{1,18})/w=(\d{1,18})(?:/d=(\d{1,18}))?", re.ASCII)
_SCALE = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BITS = ("bit", "b")
#: The table of how many requests were outstanding when one was issued.
_DEPTHS = re.compile(r"IO depths\s*: 1=\s*(\d{1,3}(?:\.\d{1,3})?)%", re.ASCII)
_DEPTH = re.compile(r"(?:>=)?(\d{1,2})=\s*(\d{1,3}(?:\.\d{1,3})?)%", re.ASCII)
_UNIT_NS = {"nsec": 1, "usec": 10**3, "msec": 10**6, "sec": 10**9}
#: Options that the header of a job leaves out, taken from a command line that is printed above it.
_NOT_IN_HEADER = (
    "direct",
    "buffered",
    "size",
    "runtime",
    "rwmixread",
    "rwmixwrite",
    "numjobs",
    "filename",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "thinktime_blocks",
    "random_distribution",
    "offset",
    "fsync",
    "fdatasync",
    "sync",
    "verify",
    "percentage_random",
    "bssplit",
)

# Printed figures have three digits; a derived figure that differs by more is about something else.
_PRINT_PRECISION = 0.01


@dataclass
class _Part:
    """One direction while its lines are read."""

    iops: float
    bandwidth: float
    total_bytes: float
    runtime_ns: int
    latencies: dict[str, FioLatency] = field(default_factory=dict)
    percentiles: dict[str, dict[float, float]] = field(default_factory=dict)

    def finished(self, n_ios: int | None, block_bytes: float | None) -> FioDirection:
        iops, total, bandwidth = self.iops, self.total_bytes, self.bandwidth
        if n_ios and self.runtime_ns:
            exact = n_ios / self.runtime_ns * 1e9
            # Small figures are cut to whole numbers.
            iops = exact if 0 <= exact - iops < 1 else _sharpened(iops, exact)
            if block_bytes:
                total = _sharpened(total, n_ios * block_bytes)
                bandwidth = _sharpened(bandwidth, total / self.runtime_ns * 1e9)
        found = {
            kind: replace(latency, percentiles=self.percentiles.get(kind, {}))
            for kind, latency in self.latencies.items()
        }
        return FioDirection(
            n_ios or None,
            round(total),
            self.runtime_ns,
            iops,
            bandwidth,
            found.get("slat"),
            found.get("clat"),
            found.get("lat"),
        )


@dataclass
class _Result:
    name: str
    group: int
    n_jobs: int
    error: int
    run: int = 0
    parts: dict[str, _Part] = field(default_factory=dict)
    issued: dict[str, int] = field(default_factory=dict)
    cpu_ratio: float | None = None
    pid: int | None = None
    sync: FioLatency | None = None
    n_syncs: int | None = None
    n_snapshots: int = 1
    mean_depth: float | None = None


def _sharpened(printed: float, derived: float) -> float:
    """The derived figure where the printed one is a rounding of it."""
    return derived if printed and abs(derived / printed - 1) <= _PRINT_PRECISION else printed


def _scaled(number: str, suffix: str) -> float:
    return float(number) * _SCALE[suffix]


def _mean_depth(line: str) -> float | None:
    """Requests outstanding on average when one was issued, taken as the least of their classes."""
    classes = [(int(depth), float(percent)) for depth, percent in _DEPTH.findall(line)]
    total = sum(percent for _, percent in classes)
    return sum(depth * percent for depth, percent in classes) / total if total else None


def _bytes_of(prefix: str | None, unit: str | None = None) -> float:
    """Bytes of a unit: Ki, Mi … are binary, k, M … decimal; bits are eighths."""
    prefix = prefix or ""
    scale = BINARY[prefix] if prefix.endswith("i") else _SCALE[prefix]
    return scale / 8 if unit in _BITS else scale


def _latency_of(match: re.Match[str]) -> FioLatency:
    unit = _UNIT_NS[match["unit"]]
    groups = match.groups()[2:]
    low, high, mean, deviation = (_scaled(groups[place], groups[place + 1]) * unit for place in range(0, 8, 2))
    return FioLatency(low, high, mean, deviation)


class _Reader:
    """Goes through the lines and keeps what was last opened."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.version = ""
        self.run = 0
        self.headers: list[tuple[int, Header]] = []
        self.command: dict[str, str] = {}
        self.heading: list[str] = []
        self.results: list[_Result] = []
        self._part: _Part | None = None
        self._percentiles: tuple[dict[float, float], int] | None = None

    def line(self, number: int, line: str) -> None:
        line = without_host(line)
        if line.startswith("|") and self._percentiles is not None:
            found, unit = self._percentiles
            for position, value, suffix in _PERCENTILE.findall(line):
                found[float(position)] = _scaled(value, suffix) * unit
            return
        self._percentiles = None
        if (header := header_of(line)) is not None:
            self._next_run()
            self.headers.append((self.run, header))
        elif match := _RESULT.match(line):
            self._part = None
            pid = _PID.search(line)
            self.results.append(
                _Result(
                    match["name"],
                    int(match["group"]),
                    int(match["jobs"]),
                    int(match["error"]),
                    self.run,
                    pid=int(pid[1]) if pid else None,
                )
            )
        elif not self.results or self.results[-1].run < self.run:
            self._before_results(line)
        elif match := _DIRECTION.match(line):
            self._part = _Part(
                iops=_scaled(match[2], match[3]),
                bandwidth=self._figure(match["other"], number, line)
                * _bytes_of(match["other_unit"], match["other_bit"]),
                total_bytes=self._figure(match["size"], number, line) * _bytes_of(match["size_unit"]),
                runtime_ns=int(match["ms"]) * 10**6,
            )
            self.results[-1].parts[match["name"]] = self._part
        elif match := _OLD_DIRECTION.match(line):
            self._part = _Part(
                iops=_scaled(match["iops"], match["iops_unit"]),
                bandwidth=self._figure(match["bw"], number, line)
                * BINARY[match["bw_unit"]]
                / (8 if match["bw_bit"] in _BITS else 1),
                total_bytes=self._figure(match["size"], number, line) * BINARY[match["size_unit"]],
                runtime_ns=int(match["ms"]) * 10**6,
            )
            self.results[-1].parts[match["name"]] = self._part
        elif re.match(r"(read|write|trim|mixed)\s*: (IOPS=|io=)", line):
            raise LineError(
                self._source, number, 0, "", line, "is not a line of results as any version of fio writes it"
            )
        elif match := _ISSUED.match(line):
            self.results[-1].issued = dict(zip(("read", "write", "trim"), map(int, match.groups()[:3]), strict=True))
            # results that are printed during the run have the number of flushes where short reads are counted
            self.results[-1].n_syncs = int(match[4] or 0) or int(match[5] or 0)
        elif match := _OLD_ISSUED.match(line):
            counts = (int(count or 0) for count in match.groups())
            self.results[-1].issued = dict(zip(("read", "write", "trim"), counts, strict=True))
        elif match := _SYNC.match(line):
            self._part = None
            self.results[-1].sync = _latency_of(match)
        elif _VERSION.match(line):
            self._next_run()
            self._before_results(line)
        elif _DEPTHS.match(line):
            self.results[-1].mean_depth = _mean_depth(line)
        elif match := _CPU.match(line):
            self.results[-1].cpu_ratio = (float(match[1]) + float(match[2])) / 100 or None
        elif self._part is not None:
            self._latency(line, self._part)

    def _latency(self, line: str, part: _Part) -> None:
        if match := _LATENCY.match(line):
            part.latencies[match["kind"]] = _latency_of(match)
        elif match := _PERCENTILES.match(line):
            self._percentiles = part.percentiles.setdefault(match["kind"], {}), _UNIT_NS[match["unit"]]

    def _next_run(self) -> None:
        if self.results and self.results[-1].run == self.run:
            self.run += 1
            self._part = None

    def _before_results(self, line: str) -> None:
        if match := _VERSION.match(line):
            self.version = match[1]
        elif (asked := single_job(line)) is not None:
            self.command = asked
        else:
            self.heading.append(line)

    def _figure(self, text: str, number: int, line: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise LineError(self._source, number, 0, "", line, "has a figure that is no number") from None


def looks_like_text(text: str) -> bool:
    """Whether a text holds results in fio's normal output."""
    return any(_RESULT.match(line.lstrip()) for line in text.split("\n"))


def jobs_of(text: str, source: str = "") -> list[FioJob]:
    """Return the jobs of fio's normal output, in order; runs one after the other have groups one after the other.

    Printed figures are rounded to three digits (six before version 2.17); IOPS and bytes are made exact again where
    the output also holds the number of requests, the runtime and a single block size. A job file that is printed
    before the output adds the options that the output leaves out.

    Raises
    ------
    FormatError
        When no job is found, a line of results cannot be understood, or a job has no line of results.
    """
    reader = _Reader(source)
    for number, line in enumerate(text.split("\n"), start=1):
        reader.line(number, line.strip())
    if not reader.results:
        raise file_error(source, "holds no results of fio", "is it the whole output?")
    groups = {key: place for place, key in enumerate(dict.fromkeys((r.run, r.group) for r in reader.results))}
    printed = section_options(reader.heading)
    results = _last_of_each(reader.results)
    jobs = [_job(result, reader, groups[result.run, result.group], printed, source) for result in results]
    if all(result.pid is None for result in results):
        jobs = without_earlier(jobs)
    for job in jobs:
        if not job.directions and not job.error:
            fix = "give fio's JSON output (--output-format=json)"
            raise file_error(source, f"holds no figures of job {job.name} that could be read", fix)
    return jobs


def _last_of_each(results: list[_Result]) -> list[_Result]:
    """The results without those that a later one of the same process contains (`--status-interval`, SIGUSR1)."""
    last: dict[tuple[object, ...], _Result] = {}
    for place, result in enumerate(results):
        key = (result.run, result.name, result.group, place if result.pid is None else result.pid, result.pid is None)
        if key in last:
            result.n_snapshots = last.pop(key).n_snapshots + 1
        last[key] = result
    return list(last.values())


def _job(result: _Result, reader: _Reader, group: int, printed: Mapping[str, Mapping[str, str]], source: str) -> FioJob:
    sections = [header for run, header in reader.headers if (run, header.group) == (result.run, result.group)]
    own = [header for header in sections if header.name == result.name]
    options = dict(own[0].options) if own else {}
    is_alone = len(reader.headers) == 1
    patterns = None
    if len({r.name for r in reader.results if (r.run, r.group) == (result.run, result.group)}) == 1:
        patterns = combined_patterns(sections)
    if is_alone:
        missing = _NOT_IN_HEADER
        options = {name: reader.command[name] for name in missing if name in reader.command} | options
    options = {name: v for name, v in printed.get(result.name, {}).items() if name not in options} | options
    if result.n_jobs > 1 or "numjobs" in options:
        options = options | {"numjobs": str(max(result.n_jobs, 1))}
    job = job_from_options(
        result.name,
        options,
        group=group,
        fio_version=reader.version,
        error=result.error,
        source=source,
        is_complete=bool(printed.get(result.name) or (reader.command and is_alone)),
        sync=result.sync,
        n_syncs=result.n_syncs,
    )
    found = {}
    for name, part in result.parts.items():
        ends = options.get("bs", "").split(",")
        has_one_size = "-" in ends[0] and all(low == high for low, _, high in (piece.partition("-") for piece in ends))
        block = job.block_bytes.get("read" if name == "mixed" else name) if has_one_size and patterns is None else None
        n_issued = sum(result.issued.values()) if name == "mixed" else result.issued.get(name)
        found[name] = part.finished(n_issued, block)
    is_unified = "mixed" in found and not {"read", "write"} & set(found)
    return replace(
        job,
        read=found.get("mixed" if is_unified else "read"),
        is_unified=is_unified,
        write=found.get("write"),
        trim=found.get("trim"),
        cpu_ratio=result.cpu_ratio,
        combined=patterns,
        notes=(said(result.n_snapshots),) if result.n_snapshots > 1 else (),
        mean_depth=result.mean_depth,
        # Unlike JSON, the text does not print the mix; without the command line it is what was done.
        read_fraction=_mix(job, found)
        if "rwmixread" not in options and "rwmixwrite" not in options
        else job.read_fraction,
    )


def _mix(job: FioJob, found: dict[str, FioDirection]) -> float | None:
    if job.pattern not in ("rw", "randrw"):
        return job.read_fraction
    rates = [found[name].iops if name in found else 0.0 for name in ("read", "write")]
    return rates[0] / sum(rates) if sum(rates) else job.read_fraction
