"""A workload description from what users have: iostat or sar, a fio job, a block trace.

The result is plain data for `diskmodel.workload.Workload.parse`, the load over time, and notes on what had to be
assumed because the source does not tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import reader as fio_reader
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.workload import fio_workload
from diskmodel.formats.sysstat import KINDS as SYSSTAT_KINDS
from diskmodel.formats.sysstat import read_sysstat
from diskmodel.formats.trace.reader import Errors, read_trace
from diskmodel.formats.trace_facts import TraceFacts
from diskmodel.workload import Workload

LEVELS = (50, 90, 95, 99, 100)

#: Share of requests that continue an earlier one above which a stream is described as sequential runs.
_SEQUENTIAL_ABOVE = 0.5

# A tenth of the space with much more than a tenth of the requests is worth a hot spot.
_HOT_SPACE = 0.1
_HOT_ABOVE = 0.2


@dataclass(frozen=True)
class FoundWorkload:
    """A workload read off some evidence.

    Attributes
    ----------
    workload : dict
        For `Workload.parse`.
    kind : str
        As `detect_evidence` names it.
    load_per_s : dict of int to float
        Percentile of time → requests per second; empty for fio jobs, which come as fast as they are served.
    mean_per_s : float or None
    rates_per_s : float64, shape (n,)
        Requests per second, interval by interval.
    notes : tuple of str
        What was assumed.
    """

    workload: dict[str, Any]
    kind: str
    load_per_s: dict[int, float]
    mean_per_s: float | None
    rates_per_s: NDArray[np.float64]
    notes: tuple[str, ...]


def find_workload(
    path: str | Path, *, level: float = 95, device: str | None = None, interval_s: float = 1.0,
    errors: Errors = "raise",
) -> FoundWorkload:  # fmt: skip
    """The workload in a file of sysstat, a fio job file or result, or a block trace.

    Parameters
    ----------
    path : str or Path
    level : float
        Percentile of the load over time that the workload's rates stand for, from 0 to 100.
    device : str, optional
        Needed where the file holds several.
    interval_s : float
        Traces: length of the intervals that the load is counted in; at least 0.001. Doubled as often as a trace of
        more than a million intervals needs.
    errors : {"raise", "count"}
        Traces: what malformed lines do.

    Raises
    ------
    FormatError
        When the file is none of these, or holds several devices and none is named.
    """
    faults = [] if 0 <= level <= 100 else [Fault("level", level, "must lie from 0 to 100")]
    if not 0.001 <= interval_s <= 1e6:
        faults.append(Fault("interval_s", interval_s, "must lie from 0.001 to 1e6"))
    if faults:
        raise FormatError(faults)
    kind = detect_evidence(path)
    if kind in SYSSTAT_KINDS:
        return _from_load(_the_device(read_sysstat(path), device, str(path)), kind, level)
    if kind in fio_reader.KINDS:
        return _from_fio(fio_reader.read_fio(path), kind, str(path))
    if kind.startswith("trace:"):
        return _from_trace(path, kind, level, device, interval_s, errors)
    raise file_error(path, "holds no workload", "use an output of sysstat, a fio job or a trace", value=kind)


def load_workload(path: str | Path, *, level: float = 95, device: str | None = None) -> Workload:
    """The workload that a TOML file describes, or that any evidence `find_workload` reads holds.

    Raises
    ------
    DescriptionError
        With every fault of a description.
    FormatError
        When the file is neither, or holds several devices and none is named.
    """
    if Path(path).suffix == ".toml":
        return Workload.load(path)
    return Workload.parse(find_workload(path, level=level, device=device).workload, str(path))


def _levels(rates: NDArray[np.float64]) -> dict[int, float]:
    return {level: float(np.percentile(rates, level)) for level in LEVELS}


# ---------------------------------------------------------------- sysstat


def _the_device(loads: list[DeviceLoad], device: str | None, source: str) -> DeviceLoad:
    known = ", ".join(load.device for load in loads)
    if device is not None:
        for load in loads:
            if load.device == device:
                return load
        raise FormatError(Fault("device", device, "is not in the file", f"it has {known}"), source)
    busy = [load for load in loads if np.nansum(load.ios_per_s) > 0]
    if len(busy) != 1:
        raise FormatError(Fault("device", None, "must be named: several are busy, or none", f"one of {known}"), source)
    return busy[0]


def _from_load(load: DeviceLoad, kind: str, level: float) -> FoundWorkload:
    rates = np.nan_to_num(load.ios_per_s)
    rate = float(np.percentile(rates, level))
    if rate <= 0:
        raise FormatError(Fault("level", level, "has no load at this percentile", "choose a higher one"), load.device)
    notes = [f"rates are those of the {level:g}th percentile of {len(rates)} samples of {load.device}",
             "places are not told: uniformly random ones were assumed, the hardest case"]  # fmt: skip
    reads, writes = np.nansum(load.reads_per_s), np.nansum(load.writes_per_s)
    read_bytes, write_bytes = np.nansum(load.read_bytes_per_s), np.nansum(load.write_bytes_per_s)
    if reads + writes > 0:
        parts = {"reads": (1.0, reads, read_bytes), "writes": (0.0, writes, write_bytes)}
        streams = [
            _open_stream(name, ratio, rate * count / (reads + writes), {_sectors(n_bytes / count): 1})
            for name, (ratio, count, n_bytes) in parts.items()
            if count > 0
        ]
        notes.append("of sizes only the means are told; each direction has one size")
    else:
        share = read_bytes / (read_bytes + write_bytes) if read_bytes + write_bytes > 0 else 1.0
        mean = (read_bytes + write_bytes) / np.nansum(load.ios_per_s)
        streams = [_open_stream("all", round(float(share), 4), rate, {_sectors(mean): 1})]
        notes.append("reads and writes are not counted apart: equal sizes were assumed, so that bytes give the mix")
    workload = {"name": load.device, "streams": streams}
    return FoundWorkload(workload, kind, _levels(rates), float(rates.mean()), rates, tuple(notes))


def _sectors(mean_bytes: float) -> int:
    """Whole sectors; sizes near a multiple of 4 KiB are one, rounded by the program that printed them."""
    pages = round(mean_bytes / 4096)
    if pages and abs(mean_bytes / (4096 * pages) - 1) < 0.01:
        return 4096 * pages
    return 512 * max(round(mean_bytes / 512), 1)


def _open_stream(name: str, read_ratio: float, rate_per_s: float, sizes: dict[int, int]) -> dict[str, Any]:
    return {
        "name": name,
        "read_ratio": read_ratio,
        "sizes": [{"size_bytes": size, "weight": float(count)} for size, count in sizes.items()],
        "arrival": {"kind": "poisson", "rate_per_s": float(rate_per_s)},
    }


# ---------------------------------------------------------------- fio


def _from_fio(jobs: list[FioJob], kind: str, source: str) -> FoundWorkload:
    notes: list[str] = []
    first = [job for job in jobs if job.group == jobs[0].group]
    if len(first) < len(jobs):
        notes.append(f"only the first group of jobs was taken ({', '.join(job.name for job in first)}); others wait")
    workload = fio_workload(first, source, notes)
    return FoundWorkload(workload, kind, {}, None, np.zeros(0), tuple(notes))


# ---------------------------------------------------------------- traces


def _from_trace(
    path: str | Path, kind: str, level: float, device: str | None, interval_s: float, errors: Errors
) -> FoundWorkload:
    reader = read_trace(path, format=kind.removeprefix("trace:"), device=device, errors=errors)
    facts = TraceFacts(round(interval_s * 1e9))
    for chunk in reader:
        facts.add(chunk)
    n = sum(facts.n_requests)
    if n == 0:
        raise file_error(path, "holds no reads or writes")
    notes = []
    if device is None and len(reader.device_names) > 1:
        notes.append(f"the requests of {len(reader.device_names)} devices were taken together, as on one array")
    rates = facts.rates_per_s()
    rate = float(np.percentile(rates, level))
    if rate <= 0:
        raise FormatError(Fault("level", level, "has no load at this percentile", "choose a higher one"), str(path))
    notes.append(f"rates are those of the {level:g}th percentile of intervals of {facts.rate.width / 1e9:g} s")
    notes.append("arrivals within an interval were taken as random (Poisson)")
    if reader.n_malformed:
        notes.append(f"{reader.n_malformed} malformed lines were left out")
    streams = []
    for op, name in enumerate(("reads", "writes")):
        if facts.n_requests[op]:
            stream = _open_stream(name, 1.0 - op, rate * facts.n_requests[op] / n, facts.sizes(op))
            streams.append(stream | _places(facts, op))
    if any(stream["addresses"]["pattern"] == "hot_spot" for stream in streams):
        notes.append(f"the busiest {_HOT_SPACE:.0%} of the space were laid together, at its front")
    largest = max(size["size_bytes"] for stream in streams for size in stream["sizes"])
    span = max(-(-facts.end_bytes // 4096) * 4096, largest)
    workload = {"name": Path(path).name[:120], "span_bytes": span, "streams": streams}
    return FoundWorkload(workload, kind, _levels(rates), float(rates.mean()), rates, tuple(notes))


def _places(facts: TraceFacts, op: int) -> dict[str, Any]:
    sequential = facts.sequential_ratio(op)
    if sequential > _SEQUENTIAL_ABOVE:
        mean_run = min(1 / (1 - sequential), facts.n_requests[op]) if sequential < 1 else facts.n_requests[op]
        return {"addresses": {"pattern": "sequential", "mean_run": float(mean_run)}}
    hot = facts.hot_share(_HOT_SPACE)
    if hot > _HOT_ABOVE:
        return {"addresses": {"pattern": "hot_spot", "access_ratio": round(hot, 4), "space_ratio": _HOT_SPACE}}
    return {"addresses": {"pattern": "uniform"}}
