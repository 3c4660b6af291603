"""Calibrate a drive from evidence, and validate a drive against evidence: one call each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibrate.calibration import Calibration
from calibrate.evidence import (
    Cells,
    Evidence,
    Measurement,
    answered_together,
    cells_of,
    cells_of_fio,
    find_flushes,
    is_limited_by_host,
    read_evidence,
)
from calibrate.flash import Known, buffer_of, calibrate_flash, single_reads_ns, with_percentiles
from calibrate.hdd import calibrate_hdd, calibrate_hdd_from_fio, conditions_of, find_rotation, single_reads
from calibrate.provenance import provenance
from calibrate.score import mixes_of, mixes_report, repeat
from diskmodel.array import Array
from diskmodel.drive import Drive, Hdd
from diskmodel.errors import Fault, InputError
from diskmodel.formats import FioJob
from diskmodel.units import nominal_bytes, pretty_bytes

#: Median latency of single reads, ns, above which a drive may rotate: a seek and half a turn take several times as
#: long, flash a tenth. At a tenth, slow flash is searched for a revolution; at ten times, fast disks pass for flash.
MECHANICAL_NS = 1_000_000

#: Capacity where fio alone is the evidence, bytes: its results do not contain it.
ASSUMED_CAPACITY_BYTES = 256 * 10**9
#: A fitted mean that is off by more shows that the model does not describe the drive: conditions scatter by a few
#: percent. Half would reject drives whose deepest queues the host limits a little.
MAX_MISFIT_RATIO = 0.3
#: Simulated reads are spread over this much where the evidence does not say.
FIO_SPAN_BYTES = 1 << 30


def calibrate(
    paths: str | Path | Iterable[str | Path],
    *,
    out: str | Path | None = None,
    seed: int = 0,
    name: str | None = None,
    capacity_bytes: int | None = None,
    start: Drive | None = None,
    array: Array | None = None,
) -> Calibration:
    """Fit the drive behind measurements and results of fio.

    Parameters
    ----------
    paths : path or paths
        Documents of the micro-benchmark and outputs of fio (JSON, terse, text), all of the same drive.
    out : path, optional
        Where to save the profile (TOML, atomically).
    seed : int
        Of the simulations behind the fit.
    name : str, optional
        Of the profile.
    capacity_bytes : int, optional
        Of the drive; by default that of the evidence, at worst the size of the measured file.
    start : Drive, optional
        Hard disk of the same kind, which the fit to results of fio starts from; its speed and capacity are kept. A
        measurement that only read takes its bus and write cache.
    array : Array, optional
        What was measured, where that is an array: the drive inside it is fitted, from the one described there.

    Returns
    -------
    Calibration
        `has_converged` is False, with a message, when the model does not describe the evidence. With `array`, the
        result's `array` has the fitted drive.

    Raises
    ------
    InputError
        When the files cannot be read or have too little to fit.
    """
    task = _Task(read_evidence(paths), name, capacity_bytes, start, seed)
    try:
        result = _with_mixes(_calibrate(task), task) if array is None else _calibrate_inside(task, array)
    except InputError as error:
        faults = [_with_files(fault, task.evidence) for fault in error.faults]
        raise type(error)(faults, error.source) from None
    if out is not None:
        result.drive.save(out)
    return result


def _with_files(fault: Fault, evidence: Evidence) -> Fault:
    """Return a fault of the whole evidence with the files that it consists of, and what of them was left out."""
    if fault.field != "evidence" or fault.value is not None:
        return fault
    paths, failed = evidence.paths, _failed(evidence.jobs)
    rule = f"{fault.rule} ({failed[0]})" if failed else fault.rule
    return replace(fault, rule=rule, value=str(paths[0]) if len(paths) == 1 else [str(path) for path in paths])


@dataclass(frozen=True)
class _Task:
    """What `calibrate` was asked, and the warnings that it has gathered; see there."""

    evidence: Evidence
    name: str | None
    capacity_bytes: int | None
    start: Drive | None
    seed: int
    warnings: list[str] = field(default_factory=list)


def _calibrate(task: _Task) -> Calibration:
    evidence, warnings, seed, capacity_bytes = task.evidence, task.warnings, task.seed, task.capacity_bytes
    cells = Cells()
    for measurement in evidence.measurements:
        _note_warnings(measurement, warnings)
        for key, cell in cells_of(measurement).items():
            if key.op == "mix":
                continue  # held out
            known = cells.setdefault(key, cell)
            if known is not cell:
                known.response_ns.extend(cell.response_ns)
                known.slices_ns.extend(cell.slices_ns)
                known.latency_ns.extend(cell.latency_ns)
    for key, cell in cells_of_fio(evidence.jobs).items():
        cells.setdefault(key, cell).response_ns.extend(() if cells[key] is cell else cell.response_ns)
    if not evidence.measurements:
        return _calibrate_fio(task, cells)
    target = evidence.measurements[0]
    rotation = find_rotation(target) if _is_slow(target) else None
    capacity, note = capacity_of(target)
    _check_capacity(capacity_bytes, target.size_bytes)
    if capacity_bytes is None and note:
        warnings.append(note)
    name = task.name or _name(target)
    origin = provenance(evidence.paths, evidence.kinds, evidence.kernel, seed)
    if rotation is not None and rotation.is_found:
        return calibrate_hdd(
            target,
            cells,
            rotation,
            capacity_bytes=capacity_bytes or capacity,
            name=name,
            provenance=origin,
            warnings=warnings,
            sheet=_hard_disk(task.start),
            seed=seed,
        )
    if task.start is not None:
        rule = "has nothing to add: the measured drive is no hard disk, or shows no rotation"
        raise InputError(Fault("drive", task.start.name, rule, "leave it out"))
    found = calibrate_flash(
        cells,
        Known(
            name,
            capacity_bytes or capacity,
            target.size_bytes,
            together_ratio=answered_together(evidence.measurements),
            buffer_bytes=buffer_of(evidence.measurements),
            flushes=find_flushes(evidence.measurements),
        ),
        provenance=origin,
        warnings=warnings,
        seed=seed,
    )
    if _is_slow(target):
        message = "single reads are as slow as a rotating drive's, but completions show no rotation; measure longer"
        return replace(found, has_converged=False, message=message)
    return found


def _check_capacity(capacity_bytes: int | None, measured_bytes: int) -> None:
    """Check that the capacity that the user gave has room for what was measured.

    Raises
    ------
    InputError
        Where it has not.
    """
    if capacity_bytes is not None and capacity_bytes < measured_bytes:
        rule = f"is less than the {measured_bytes:,} bytes that were measured"
        fix = "give the drive's capacity from its data sheet, or leave it out"
        raise InputError(Fault("capacity", pretty_bytes(capacity_bytes), rule, fix))


def _with_mixes(result: Calibration, task: _Task) -> Calibration:
    """Add the profile's errors on mixes of reads and writes, which are held out."""
    mixes = mixes_of(task.evidence.measurements, with_writes=result.kind == "hdd")
    report = mixes_report(result.drive, mixes, seed=task.seed + 1)
    return result if report is None else replace(result, held_out={**result.held_out, "mixed_read_write": report})


def _processor_bound(jobs: Iterable[FioJob]) -> list[str]:
    """Return a warning for each job of fio whose processor was busy: the host was measured, not the drive."""
    return [
        f"fio job {job.name!r} used {100 * (job.cpu_ratio or 0):.0f} % of a processor: its rate is the host's, not the "
        "drive's"
        for job in jobs
        if is_limited_by_host(job)
    ]


def _buffered(jobs: Iterable[FioJob]) -> list[str]:
    """Return a warning of jobs of fio that measured memory, too."""
    buffered = [job.name for job in jobs if job.options and job.is_complete and job.is_direct is not True]
    if not buffered:
        return []
    return [
        f"fio ran without direct=1 ({_named(map(repr, buffered))}): requests went through the page cache, and reads "
        "that it answered count as the drive's; measure again with direct=1"
    ]


def _failed(jobs: Iterable[FioJob]) -> list[str]:
    """Return a warning of jobs that fio ended with an error."""
    failed = [f"{job.name!r} (error {job.error})" for job in jobs if job.error]
    return [f"left out are jobs that fio ended with an error: {_named(failed)}"] if failed else []


def _named(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    first = list(dict.fromkeys(names))
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")


def _calibrate_fio(task: _Task, cells: Cells) -> Calibration:
    """Calibrate from results of fio alone: a hard disk from their percentiles, flash from means and single reads.

    Raises
    ------
    InputError
        When `start` is no hard disk, or hard disks' results have no percentiles.
    """
    evidence, warnings, seed, capacity_bytes = task.evidence, task.warnings, task.seed, task.capacity_bytes
    start = _hard_disk(task.start)
    warnings.extend([*_buffered(evidence.jobs), *_failed(evidence.jobs), *_processor_bound(evidence.jobs)])
    conditions = conditions_of(evidence.jobs)
    _check_capacity(capacity_bytes, max((c.workload.streams[0].span_bytes or 0 for c in conditions), default=0))
    if capacity_bytes is None and start is None:
        assumed = nominal_bytes(ASSUMED_CAPACITY_BYTES)
        warnings.append(f"fio does not report the capacity: {assumed} are assumed; give that of the drive (--capacity)")
    named = task.name or evidence.paths[0].stem
    origin = provenance(evidence.paths, evidence.kinds, None, seed)
    if start is not None or _is_mechanical(cells):
        return calibrate_hdd_from_fio(
            conditions,
            start=start,
            capacity_bytes=capacity_bytes or (None if start is not None else ASSUMED_CAPACITY_BYTES),
            name=named,
            provenance=origin,
            warnings=warnings,
            seed=seed,
        )
    capacity_bytes = capacity_bytes or ASSUMED_CAPACITY_BYTES
    found = calibrate_flash(
        cells,
        Known(named, capacity_bytes, min(FIO_SPAN_BYTES, capacity_bytes), alone_ns=single_reads_ns(conditions)),
        provenance=origin,
        warnings=warnings,
        seed=seed,
    )
    return with_percentiles(_with_verdict(found), conditions, seed + 1)


def _calibrate_inside(task: _Task, array: Array) -> Calibration:
    """Calibrate the hard disks inside an array.

    Raises
    ------
    InputError
        When the array's drive or `start` is no hard disk, or the evidence does not fit the array.
    """
    evidence = task.evidence
    task.warnings.extend([*_buffered(evidence.jobs), *_failed(evidence.jobs), *_processor_bound(evidence.jobs)])
    for measurement in evidence.measurements:
        _note_warnings(measurement, task.warnings)
    return calibrate_hdd_from_fio(
        conditions_of(evidence.jobs, evidence.measurements),
        start=_hard_disk(task.start),
        array=array,
        capacity_bytes=task.capacity_bytes,
        name=task.name or f"drive of {array.name or evidence.paths[0].stem}",
        provenance=provenance(evidence.paths, evidence.kinds, evidence.kernel, task.seed),
        warnings=task.warnings,
        seed=task.seed,
    )


def _hard_disk(start: Drive | None) -> Hdd | None:
    """Return the drive to start from.

    Raises
    ------
    InputError
        When it is no hard disk.
    """
    if start is not None and not isinstance(start, Hdd):
        raise InputError(Fault("drive", start.name, "is not a hard disk", "leave it out, or name a hard disk"))
    return start


def _is_mechanical(cells: Cells) -> bool:
    """Return whether random requests one at a time take as long as on a rotating drive (see `MECHANICAL_NS`).

    Reads decide where there are any: writes take milliseconds on flash without a write buffer, too.
    """
    alone = {key.op: cell.mean_ns for key, cell in cells.items() if key.queue_depth == 1 and not key.is_sequential}
    return alone.get("read", max(alone.values(), default=0.0)) > MECHANICAL_NS


def _with_verdict(found: Calibration) -> Calibration:
    """Return the calibration; not converged where a fitted mean is far from the measured one."""
    rows = [row for row in found.report.get("residuals", ()) if "error_ratio" in row]
    worst = max(rows, key=lambda row: abs(row["error_ratio"]), default=None)
    if worst is None or abs(worst["error_ratio"]) <= MAX_MISFIT_RATIO:
        return found
    message = f"the profile does not describe what it was fitted to: {worst['what']} {worst['error_ratio']:+.0%}"
    return replace(found, has_converged=False, message=f"{message}; {found.message}")


def validate(drive: Drive, paths: str | Path | Iterable[str | Path], *, seed: int = 0) -> dict[str, Any]:
    """Compare a drive with measurements and results of fio: what `diskmodel validate --json` prints.

    Raises
    ------
    InputError
        When a file is no such evidence.
    """
    return repeat(drive, [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)], seed=seed)


def _is_slow(measurement: Measurement) -> bool:
    """Return whether reads one at a time take as long as on a rotating drive (see `MECHANICAL_NS`)."""
    latencies = [samples.latency_ns for samples in single_reads(measurement)]
    return bool(latencies) and float(np.median(np.concatenate(latencies))) > MECHANICAL_NS


def capacity_of(measurement: Measurement) -> tuple[int, str]:
    """Return the capacity of the measured drive, and a note when it is only that of a file on it."""
    device = measurement.target.get("device") or {}
    if device.get("size_bytes"):
        return int(device["size_bytes"]), ""
    if measurement.target.get("kind") == "block device":
        return measurement.size_bytes, ""
    size = _size_in_sysfs(str(device.get("disk") or ""), str(measurement.host.get("kernel", "")))
    if size:
        return size, ""
    note = f"the capacity is that of the measured file, {measurement.size_bytes} bytes; give the drive's capacity"
    return measurement.size_bytes, note


def _size_in_sysfs(disk: str, kernel: str) -> int:
    """Return the size of the disk if the measurement was made on this host and its kernel reports it; else 0."""
    try:
        release = Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip()
        if not disk or "/" in disk or release not in kernel:
            return 0
        return int(Path(f"/sys/block/{disk}/size").read_text(encoding="ascii")) * 512
    except (OSError, ValueError):
        return 0


def _name(measurement: Measurement) -> str:
    device = measurement.target.get("device") or {}
    return str(device.get("model") or device.get("disk") or "measured drive").strip()


def _note_warnings(measurement: Measurement, warnings: list[str]) -> None:
    if not measurement.is_complete:
        warnings.append(f"{measurement.path.name} is only part of a measurement")
    warnings.extend(str(item.get("message", json.dumps(dict(item)))) for item in measurement.warnings)
