"""Reading results: every file that `diskmodel.formats` and `calibrate` recognize becomes measured loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from diskmodel.array import Array
from diskmodel.errors import DescriptionError, Fault, FormatError
from diskmodel.explanation.equals import differences, equals_of_jobs
from diskmodel.explanation.measured import PARTS, SHAPE, Measured
from diskmodel.explanation.recordings import of_recording
from diskmodel.formats import (
    FioDirection,
    FioJob,
    FioLatency,
    detect_evidence,
    fio_workload,
    load_replay,
    read_fio,
    read_latencies,
)
from diskmodel.formats.benchmarks import registry as benchmarks
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.latencies import KINDS as LATENCIES
from diskmodel.formats.pools import KINDS as POOLS
from diskmodel.formats.recorders import KINDS as RECORDERS
from diskmodel.formats.sysstat import KINDS as SYSSTAT
from diskmodel.workload import Workload

#: Measured loads that are compared: more say nothing new of a cause, and each takes seconds.
MOST = 12
#: Requests of a trace that are replayed.
_TRACE_REQUESTS = 20_000
#: fio's options without which the number outstanding is that which the results show.
_DEPTH_OPTIONS = ("iodepth", "numjobs", "ioengine")


def read_results(
    paths: Iterable[str | Path], device: str | None = None, array: Array | None = None
) -> tuple[list[Measured], list[str]]:
    """Return the measured loads of files, and what was left out.

    Parameters
    ----------
    paths : iterable of str or Path
        Results of fio and other load generators, recordings of iostat, sar and their like, traces with responses,
        measurements of `diskmodel measure`.
    device : str, optional
        Of a recording of several devices; of fio's results, the job.
    array : Array, optional
        Of which a recording may show the members.

    Raises
    ------
    FormatError
        When a file cannot be read, or holds no result.
    DescriptionError
        Without a file.
    """
    files = [Path(path) for path in paths]
    if not files:
        raise DescriptionError(Fault("results", None, "are missing", "name an output of fio, iostat or a trace"))
    kinds = {path: detect_evidence(path) for path in files}
    loads = [path for path in files if kinds[path] not in LATENCIES]
    found = _named_apart(measured for path in loads for measured in _of_file(path, kinds[path], device, array))
    for path in files:
        if kinds[path] in LATENCIES:
            found = _with_latencies(found, path, kinds[path])
    if len(found) <= MOST:
        return found, []
    chosen = [found[round(at)] for at in np.linspace(0, len(found) - 1, MOST)]
    return chosen, [f"{MOST} of {len(found)} measured loads were compared: name fewer files for the others"]


def _named_apart(found: Iterable[Measured]) -> list[Measured]:
    """Return loads of names that differ: the second "t" is "t#2"."""
    apart: list[Measured] = []
    seen: dict[str, int] = {}
    for one in found:
        seen[one.name] = seen.get(one.name, 0) + 1
        n = seen[one.name]
        apart.append(one if n == 1 else replace(one, name=f"{one.name}#{n}"))
    return apart


def _of_file(path: Path, kind: str, device: str | None, array: Array | None) -> Iterator[Measured]:
    if kind == "measurement":
        yield from _of_measurement(path)
    elif kind in fio_reader.KINDS:
        yield from _of_jobs(read_fio(path, kind=kind), path, device)
    elif kind in benchmarks.KINDS:
        yield from _of_jobs(benchmarks.read_benchmark(path, kind), path, device)
    elif kind in SYSSTAT or kind in RECORDERS:
        yield of_recording(path, kind, device, array)
    elif kind.startswith("trace:"):
        yield _of_trace(path, device)
    elif kind in POOLS:
        fix = "make the array of it with `diskmodel pool`, and give results beside it"
        raise FormatError(Fault("results", str(path), f"is {kind}, which has no figures to compare", fix))
    else:
        raise FormatError(Fault("results", str(path), f"is {kind}, which has no figures to compare", _USE))


_USE = "use results of fio or DiskSpd, a recording of iostat or sar, a trace with responses, or a measurement"


# ---------------------------------------------------------------- fio and other load generators


def _of_jobs(jobs: list[FioJob], path: Path, name: str | None) -> Iterator[Measured]:
    """Yield the groups of jobs, which ran one after the other."""
    if name is not None:
        jobs = [job for job in jobs if job.group in {other.group for other in jobs if other.name == name}]
        if not jobs:
            raise FormatError(Fault("device", name, "is no job of this file"), str(path))
    groups: dict[int, list[FioJob]] = {}
    for job in jobs:
        groups.setdefault(job.group, []).append(job)
    if not any(direction.iops for job in jobs for direction in job.directions.values()):
        raise FormatError(Fault("results", str(path), "says what to run and has no result", _USE))
    for own in groups.values():
        if any(part.iops for job in own for part in job.directions.values()):
            yield _of_group(own, path, path.name if len(groups) == 1 else f"{path.name}, {own[0].name}")


def _of_group(jobs: list[FioJob], path: Path, name: str) -> Measured:
    notes: list[str] = []
    asked = [_as_asked(job) for job in jobs]
    workload = Workload.parse(fio_workload(asked, str(path), notes), str(path))
    figures: dict[str, float] = {}
    n: dict[str, float] = {}
    rate = 0.0
    wanted = {"reads": workload.has_reads, "writes": workload.has_writes}
    has_one_latency = any(job.has_one_latency for job in jobs)
    if has_one_latency:
        notes.append(
            "latencies of reads and writes together are those of neither, and are left out: the rate is compared"
        )
    for part, direction in PARTS.items():
        own = [job.directions[direction] for job in jobs if direction in job.directions and wanted[part]]
        own = [one for one in own if one.iops > 0]
        if not own:
            continue
        rate += sum(one.iops for one in own)
        counts = [float(one.n_ios or one.iops * max(one.runtime_ns, 1e9) / 1e9) for one in own]
        n[part] = sum(counts)
        means = [one.response_ns for one in own]
        if has_one_latency or any(mean is None for mean in means):
            continue
        figures[f"{part}.mean"] = float(np.average([mean or 0.0 for mean in means], weights=counts))
        shapes = [_shape(mean or 0.0, one.lat, one.clat) for mean, one in zip(means, own, strict=True)]
        for level in SHAPE:
            values = [shape.get(level) for shape in shapes]
            if all(value is not None for value in values):
                figures[f"{part}.{level}"] = float(np.average([value or 0.0 for value in values], weights=counts))
    found = differences(equals_of_jobs(jobs), "job")
    n_threads = sum(job.n_jobs for job in jobs)
    return Measured(name, workload, {"iops": rate, **figures}, n, tuple(notes), tuple(found), n_threads=n_threads)


def _as_asked(job: FioJob) -> FioJob:
    """Return a job without its latencies, so that its options alone say how much is outstanding."""
    if not any(option in job.options for option in _DEPTH_OPTIONS) and not job.is_complete:
        return job
    return replace(job, read=_untimed(job.read), write=_untimed(job.write))


def _untimed(direction: FioDirection | None) -> FioDirection | None:
    return None if direction is None else replace(direction, slat=None, clat=None, lat=None)


def _shape(mean_ns: float, *latencies: FioLatency | None) -> dict[str, float]:
    """Return the percentiles that are compared, of the first latency that has them, as if its mean were the given one.

    fio has percentiles of one kind of latency only, which may leave out the time of submission.
    """
    for latency in latencies:
        if latency is None or not latency.mean_ns:
            continue
        scale = mean_ns / latency.mean_ns
        if latency.bins:
            values = np.array(sorted(latency.bins), np.float64)
            counts = np.array([latency.bins[int(value)] for value in values], np.float64)
            ranks = (np.cumsum(counts) - counts / 2) / counts.sum()
            return {name: scale * float(np.interp(level, ranks, values)) for name, level in SHAPE.items()}
        if latency.percentiles:
            known = {round(percent / 100, 6): value for percent, value in latency.percentiles.items()}
            return {name: scale * known[level] for name, level in SHAPE.items() if known.get(level, 0.0) > 0}
    return {}


# ---------------------------------------------------------------- traces, measurements


def _with_latencies(found: list[Measured], path: Path, kind: str) -> list[Measured]:
    """Return the only measured load with the percentiles of a histogram of response times.

    Its means stay where it has some: a class of a histogram is wide.
    """
    load = found[0].workload if len(found) == 1 else None
    if not isinstance(load, Workload):
        rule = "counts response times without a load" if not found else "counts response times, and needs one load"
        fix = "give a recording of the same time beside it, such as iostat -x 1 60"
        raise FormatError(Fault("results", str(path), rule, fix))
    latencies, one = read_latencies(path, kind), found[0]
    wanted = [part for part, has in (("reads", load.has_reads), ("writes", load.has_writes)) if has]
    figures, n = dict(one.figures), dict(one.n)
    notes = [f"percentiles are from {path.name}: a class of times goes from one power of two to the next"]
    for part in wanted:
        own = part if part in latencies.counts else "all" if len(wanted) == 1 else ""
        if not own or not latencies.n(own):
            continue
        n[part] = latencies.n(own)
        figures.setdefault(f"{part}.mean", latencies.mean_ns(own) or 0.0)
        for name, level in SHAPE.items():
            value = latencies.quantile_ns(own, level)
            if value is not None:
                figures[f"{part}.{name}"] = value
    if figures == one.figures:
        fix = "record reads and writes apart: biolatency -F"
        raise FormatError(Fault("results", str(path), "counts reads and writes together", fix))
    if len(latencies.devices) > 1:
        notes.append(f"the times of {len(latencies.devices)} disks in {path.name} were added up")
    return [replace(one, figures=figures, n=n, notes=(*one.notes, *notes))]


def _of_trace(path: Path, device: str | None) -> Measured:
    workload, trace = load_replay(path, device=device, wraps=True)
    rows = trace.requests.take(slice(0, _TRACE_REQUESTS))
    figures: dict[str, float] = {}
    n: dict[str, float] = {}
    for op, part in enumerate(PARTS):
        own = rows.response_ns[(rows.op == op) & (rows.response_ns >= 0)].astype(np.float64)
        if len(own):
            n[part] = float(len(own))
            figures[f"{part}.mean"] = float(own.mean())
            figures |= {f"{part}.{name}": float(np.quantile(own, level)) for name, level in SHAPE.items()}
    if not figures:
        raise FormatError(Fault("results", str(path), "is a trace without response times", _USE))
    return Measured(path.name, workload, {key: value for key, value in figures.items() if value > 0}, n, trace.notes)


def _of_measurement(path: Path) -> Iterator[Measured]:
    """Yield the random loads of a measurement by the bundled program."""
    from calibrate.evidence import read_evidence
    from calibrate.score import conditions_of

    for condition in conditions_of(read_evidence(path).measurements):
        part = "reads" if condition.op == "read" else "writes"
        mean_ns = condition.mean_ms * 1e6
        figures = {"iops": condition.workload.queue_depth * 1e9 / mean_ns, f"{part}.mean": mean_ns}
        for name, level in SHAPE.items():
            figures[f"{part}.{name}"] = float(np.interp(level, condition.ranks, condition.quantiles_ms)) * 1e6
        yield Measured(f"{path.name}, {condition.what}", condition.workload, figures, {part: float(condition.n)})
