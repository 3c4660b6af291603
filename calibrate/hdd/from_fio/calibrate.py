"""A hard disk from rates and percentiles of random reads and writes over queue depths, alone or inside an array.

At depth 1 the distribution is overhead, seek and rotation: its width determines the speed among the usual ones, its
lower end the shortest accesses. Deeper queues determine how the firmware orders commands, writes how they are cached.
What the evidence does not show keeps the value of the drive that the fit starts from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from calibrate.calibration import Calibration
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.parameters import AVERAGE_SEEK_RATIO, read_parameters, write_parameters
from calibrate.hdd.from_fio.residuals import held_out, held_out_mixes, residual, verdict
from calibrate.hdd.from_fio.signs import signs
from calibrate.hdd.from_fio.speed import fit_speed, starts_of
from calibrate.hdd.from_fio.writes import as_found, fit_writes
from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.errors import Fault, InputError
from diskmodel.units import pretty_bytes

#: Read conditions from which on one is held out, in the middle of the depths. Of four, each alone shows something: the
#: seeks, from where on commands are ordered, and how well.
MIN_FOR_HELD_OUT = 5
#: Percentiles of reads one at a time without which width and lower end of the distribution are unknown.
MIN_PERCENTILES = 2


def calibrate_hdd_from_fio(
    conditions: Sequence[Condition],
    *,
    start: Hdd | None,
    array: Array | None = None,
    capacity_bytes: int | None,
    name: str,
    provenance: dict[str, Any],
    warnings: list[str],
    seed: int,
) -> Calibration:
    """Fit a hard disk to random reads, and to the writes where there are any; mixes of both are held out.

    Parameters
    ----------
    conditions : sequence of Condition
    start : Hdd, optional
        Drive of the same kind; its speed is kept. By default the array's, or typical drives of each speed.
    array : Array, optional
        The array that was measured; by default the disk alone. The speed of a typical drive in it is not kept.
    capacity_bytes : int, optional
        Of the drive; by default that of the start.

    Raises
    ------
    InputError
        Without percentiles of random reads one at a time, when the array's drive is no hard disk, or when what was
        measured has no room on disks of this capacity.
    """
    reads = [c for c in conditions if c.op == "read" and not c.is_mixed]
    writes = [c for c in conditions if c.op == "write" and not c.is_mixed]
    mixes = [c for c in conditions if c.is_mixed]
    if not reads or reads[0].depth != 1 or len(reads[0].percentiles_ns) < MIN_PERCENTILES:
        rule = "has no percentiles of random reads at queue depth 1, which determine seeks and rotation"
        what = "drive" if array is None else "array"
        run = f"fio with iodepth=1 over the whole {what} and --output-format=json, DiskSpd with -o1 -L"
        fix = f"run {run}, or diskmodel measure"
        raise InputError(Fault("evidence", None, rule, fix))
    measured = MeasuredArray(array)
    starts = starts_of(start, array, capacity_bytes)
    _check_room(conditions, measured.with_drive(starts.drives[starts.usual]), is_alone=array is None)
    held = [reads[len(reads) // 2]] if len(reads) >= MIN_FOR_HELD_OUT else []
    fitted = [c for c in reads if c not in held]
    fit, found, speed = fit_speed(measured, fitted, starts, seed, warnings)
    report: dict[str, Any] = {"why": "fewer than five depths of random reads"}
    if held:
        report = held_out(measured, found.drive, held[0], seed + 1)
        # its error is known now: the profile is fitted to everything
        found = replace(fit, reads=reads).again(found)
    drive = found.drive
    region_ratio = _region_ratio(conditions, measured.with_drive(drive), warnings)
    parameters = read_parameters(found, speed, region_ratio, has_choice=fit.has_choice)
    if writes:
        written = fit_writes(measured, drive, writes, seed)
        drive, measured = written.drive if array is not None else as_found(written), written.array
        parameters |= write_parameters(written)
    elif array is None:
        warnings.append("without random writes, how the drive writes is assumed: of the class of drives")
    elif len(measured.write_cache_states(drive)) > 1:
        warnings.append(
            "without random writes, the drives' write caches are taken to be off; "
            "drive_write_cache = true in the array's file states that they are on"
        )
    if array is None:
        warnings[:0] = signs(reads, writes, drive)
    rows = [residual(measured, drive, c, seed + 1) for c in (*reads, *writes)]
    if mixes:
        report = report | {"mixed_read_write": held_out_mixes(measured, drive, mixes, seed + 1)}
    # what was held out has been fitted since: its error before counts, too
    worst, has_converged = verdict([*rows, report] if held else rows)
    inside = "" if array is None else f" on {array.layout.disks} disks in {array.layout.level}"
    described = {
        "name": name,
        "source": f"fitted to random reads and writes{inside}",
        "notes": "" if region_ratio >= AVERAGE_SEEK_RATIO else f"seeks over more than {region_ratio:.1%} are assumed",
        "provenance": provenance,
    }
    drive = drive.model_copy(update=described)
    return Calibration(
        drive,
        has_converged,
        f"{len(rows)} condition{'s' if len(rows) > 1 else ''}; the worst: {worst}",
        parameters,
        report,
        {"residuals": rows, "warnings": warnings},
        array=None if array is None else measured.with_drive(drive),
    )


def _check_room(conditions: Sequence[Condition], array: Array, *, is_alone: bool) -> None:
    """Check that what was measured has room on disks of this capacity.

    Raises
    ------
    InputError
        Where it has not.
    """
    span = max((stream.span_bytes or 0 for c in conditions for stream in c.workload.streams), default=0)
    if span > array.usable_bytes:
        capacity = array.drive.capacity_bytes
        held = "" if is_alone else f": {array.layout.disks} of them in {array.layout.level} hold {array.usable_bytes:,}"
        rule = f"is less than the {span:,} bytes that fio measured{held}"
        fix = "give the capacity of one drive from its data sheet (--capacity)"
        raise InputError(Fault("capacity", pretty_bytes(capacity), rule, fix))


def _region_ratio(conditions: Sequence[Condition], array: Array, warnings: list[str]) -> float:
    """Return the share of each disk over which the evidence was measured; note where that is assumed to be."""
    spans = [stream.span_bytes for c in conditions for stream in c.workload.streams]
    part = (array.layout.member_bytes or array.drive.capacity_bytes) / array.drive.capacity_bytes
    known = [span for span in spans if span]
    span = max(known) if len(known) == len(spans) else array.usable_bytes
    ratio = part * span / array.usable_bytes
    if ratio < AVERAGE_SEEK_RATIO:
        warnings.append(
            f"the measured region of {pretty_bytes(span)} is {ratio:.1%} of each disk: it is taken to lie at the "
            "beginning, and longer seeks than it has are extrapolated; plans for more data depend on that"
        )
    return ratio
