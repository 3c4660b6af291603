"""A workload description from what users have: iostat or sar, a fio job, a block trace.

The result is plain data for `diskmodel.workload.Workload.parse`, the load over time, and notes on what had to be
assumed because the source does not say it.
"""

from __future__ import annotations

from pathlib import Path

from diskmodel.errors import Fault, FormatError
from diskmodel.formats import arrays, latencies, pools, recorders
from diskmodel.formats.benchmarks import registry as benchmarks
from diskmodel.formats.detect import check_kind, detect_evidence
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import latency_log
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.level import Level
from diskmodel.formats.sysstat import KINDS as SYSSTAT_KINDS
from diskmodel.formats.sysstat import read_sysstat
from diskmodel.formats.trace.reader import Errors
from diskmodel.formats.workloads.found import FoundWorkload, flush_fault
from diskmodel.formats.workloads.jobs import from_jobs
from diskmodel.formats.workloads.recording import Mix, from_recording
from diskmodel.formats.workloads.traces import from_trace
from diskmodel.workload import Workload


def find_workload(
    path: str | Path,
    *,
    level: Level | float | str = 95,
    device: str | None = None,
    interval_s: float = 1.0,
    errors: Errors = "raise",
    format: str | None = None,
    mix: Mix = "all",
    keep_first: bool | None = None,
) -> FoundWorkload:
    """Return the workload in a recording of iostat, sar or their like, a job or result of fio, or a block trace.

    Parameters
    ----------
    path : str or Path
    level : float, str or Level
        Percentile of the load over time that the workload's rates stand for, from 0 to 100; or "95 % of requests", the
        rate of the busiest interval that 95 % of the requests arrive in, intervals in order of their rates.
    device : str, optional
        Needed where the file holds several: one, several with commas between them, or "all" (whole disks, without
        partitions and without volumes that lie on other disks of the file). Several become streams of one array.
        Results of fio and DiskSpd: the name of a job, whose group is taken instead of the first.
    interval_s : float
        Traces: length of the intervals that the load is counted in; at least 0.001. Doubled as often as a trace of
        more than a million intervals needs.
    errors : {"raise", "count"}
        Traces: what malformed lines do.
    format : str, optional
        One of `diskmodel.formats.detect.KINDS`, or the name of a trace format; recognized by content when left out.
    mix : "all" or "peak"
        iostat, sar and their like: which samples the share of reads and the sizes are from. "peak": those with at least
        the load of `level`, where they write more or longer, and all samples elsewhere.
    keep_first : bool, optional
        iostat: whether the first report counts, as in `read_sysstat`.

    Raises
    ------
    FormatError
        When the file is none of these, or holds several devices and none is named.
    """
    level = Level.of(level)
    if not 0.001 <= interval_s <= 1e6:
        raise FormatError(Fault("interval_s", interval_s, "must lie from 0.001 to 1e6"))
    kind = detect_evidence(path) if format is None else check_kind(format)
    if kind in SYSSTAT_KINDS:
        return from_recording(read_sysstat(path, kind=kind, keep_first=keep_first), device, kind, level, mix, str(path))
    if kind in fio_reader.KINDS:
        return from_jobs(fio_reader.read_fio(path, kind=kind), kind, str(path), device)
    if kind in recorders.KINDS:
        return from_recording(recorders.read_recording(path, kind), device, kind, level, mix, str(path))
    if kind in benchmarks.KINDS:
        return from_jobs(benchmarks.read_benchmark(path, kind), kind, str(path), device)
    if device is not None and not kind.startswith("trace:"):
        raise FormatError(Fault("device", device, f"chooses among devices of a recording; this is {kind}"), str(path))
    if kind.startswith("trace:"):
        return from_trace(path, kind, level, device, interval_s, errors)
    if kind == latency_log.KIND:
        fix = "make it with log_offset=1, or give the job's JSON output"
        raise file_error(path, "is a log of fio without places: it holds no workload", fix)
    if kind in pools.KINDS:
        fix = "give it to `diskmodel pool`, and a recording of its load here: zpool iostat -vly 1 600"
        raise file_error(path, "shows a pool, and no load", fix, value=kind)
    if kind in latencies.KINDS:
        what = "output of biolatency" if kind == "biolatency" else "a histogram of bpftrace"
        rule = f"is {what}: it counts times of requests without their rates, sizes and places"
        fix = (
            "record with biosnoop, which has them; or give it to `diskmodel explain` beside iostat -x of the same time"
        )
        raise file_error(path, rule, fix)
    if kind in arrays.KINDS:
        rule = f"is {arrays.PROGRAMS[kind].what}: it describes an array and holds no load"
        fix = f"make the array of it: diskmodel array {Path(path).name}; its load is recorded with iostat -x 1 600"
        raise file_error(path, rule, fix)
    raise file_error(path, "holds no workload", "use an output of sysstat, a fio job or a trace", value=kind)


def load_workload(
    path: str | Path,
    *,
    level: Level | float | str = 95,
    device: str | None = None,
    format: str | None = None,
    mix: Mix = "all",
) -> Workload:
    """Return the workload that a TOML file describes, or that `find_workload` finds in a recording.

    Raises
    ------
    DescriptionError
        With every fault of a description.
    FormatError
        When the file is neither, or holds several devices and none is named.
    """
    if Path(path).suffix == ".toml" and format is None:
        return Workload.load(path)
    found = find_workload(path, level=level, device=device, format=format, mix=mix)
    if found.dropped_flushes:
        fix = (
            "describe the workload in a file of its own (`diskmodel workload`), with sync where writes have to be safe"
        )
        raise FormatError(flush_fault(found.dropped_flushes, fix), str(path))
    return Workload.parse(found.workload, str(path))
