"""The speed of rotation: that of a drive that is named, or the one among the usual that the reads fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibrate.calibration import Parameter
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.mechanics import Mechanics, Ordered
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.errors import Fault, InputError
from diskmodel.units import pretty_bytes

#: Speeds that hard disks are sold with, and a typical drive of each, where the fit starts.
CLASSES = {5400: "generic-5k4", 7200: "generic-7k2", 10000: "generic-10k", 15000: "generic-15k"}
#: A typical disk of 7,200 rpm from so many bytes on: a nearline drive, whose tracks are twice as dense.
NEARLINE, NEARLINE_BYTES = "seagate-exos-x16", 8e12
#: The largest disks that were sold at these speeds, bytes: 900 GB and 2.4 TB. Larger ones turn more slowly.
LARGEST_BYTES = {15000: 1e12, 10000: 2.5e12}
#: Most bytes on a surface of a typical disk that is larger than its class: 24 TB have 20. Its other drives have few and
#: sparse tracks; with a tenth of the heads there would be millions of cylinders, with ten times as many hardly any.
BYTES_PER_SURFACE = 1.2e12
#: How much denser than its own profile a drive may be. At 1 the rounding of a capacity adds heads; at 2 a drive of a
#: quarter of the capacity keeps half of the heads that it needs.
DENSER = 1.1
#: Largest capacity that a fit takes, bytes: twice that of the largest disk of 2026.
MAX_CAPACITY_BYTES = 72e12
#: Taken where the evidence does not separate it from others: most disks have it.
USUAL_RPM = 7200
#: Chi-square by which another speed must fit worse for the speed to be identified. At 9, which noise alone would ask
#: for, the form of the seek curve passes for another speed: real curves are not those of the class.
MIN_SPEED_GAIN = 25.0


@dataclass(frozen=True)
class Starts:
    """Drives that the fit may start from.

    Attributes
    ----------
    drives : dict of int to Hdd
        By speed.
    usual : int
        The speed that is taken where the evidence does not separate it from others: that of the class that the array
        names.
    is_known : bool
        Whether that speed is kept whatever the evidence says, because a model was named.
    """

    drives: dict[int, Hdd]
    usual: int
    is_known: bool


def starts_of(start: Hdd | None, array: Array | None, capacity_bytes: int | None) -> Starts:
    """Return where the fit starts: from a named drive, the array's, or a typical one of each speed.

    A typical drive in an array is a guess, whose speed is not kept.

    Raises
    ------
    InputError
        When the array's drive is no hard disk, or none is so large or so small.
    """
    if capacity_bytes is not None and capacity_bytes > MAX_CAPACITY_BYTES:
        fix = f"give that of one drive, at most {pretty_bytes(round(MAX_CAPACITY_BYTES))}"
        raise InputError(Fault("capacity", pretty_bytes(capacity_bytes), "is more than any hard disk has", fix))
    named, is_known = start, start is not None
    if start is None and array is not None:
        inside = array.drive
        if not isinstance(inside, Hdd):
            fix = "name one in the array's file: only hard disks are fitted through an array"
            raise InputError(Fault("array.drive", inside.name, "is not a hard disk", fix))
        named = inside
        is_known = inside.name not in {_class(name).name for name in CLASSES.values()}
    if named is not None and capacity_bytes is None:
        capacity_bytes = named.capacity_bytes
    typical = _typical(capacity_bytes)
    usual = USUAL_RPM if named is None else round(named.rpm)
    is_typical = not is_known and usual in typical and (capacity_bytes or 0) >= NEARLINE_BYTES
    if named is not None and not is_typical:
        typical[usual] = named
    try:
        drives = {rpm: _sized(drive, capacity_bytes) for rpm, drive in typical.items()}
    except ValueError:  # fewer cylinders than zones
        fix = "give the capacity of one drive from its data sheet (--capacity)"
        asked = pretty_bytes(capacity_bytes or 0)
        raise InputError(Fault("capacity", asked, "is less than the smallest hard disk has", fix)) from None
    if array is not None and array.drive_write_cache:
        drives = {rpm: _with_write_cache(drive) for rpm, drive in drives.items()}
    return Starts(drives, usual, is_known)


def fit_speed(
    array: MeasuredArray, reads: Sequence[Condition], starts: Starts, seed: int, warnings: list[str]
) -> tuple[Mechanics, Ordered, Parameter]:
    """Return the start of the likeliest speed, what it was fitted to, and the speed as a parameter.

    Reads one at a time are seek plus rotation, and shorter seeks make up for slower rotation. Where they leave several
    speeds, all reads decide: a command that is missed costs a revolution, which no seek makes up for.
    """
    fits = {rpm: Mechanics(array, drive, reads, seed) for rpm, drive in starts.drives.items()}
    found = {rpm: fit.without_order() for rpm, fit in fits.items()}
    losses = _above_least({rpm: misfit for rpm, (_, misfit) in found.items()})
    usual = starts.usual
    if starts.is_known:
        if losses[usual] >= MIN_SPEED_GAIN:
            best = min(losses, key=lambda rpm: losses[rpm])
            warnings.append(
                f"a typical disk of {best} rpm fits the shallowest reads better (chi-square lower by "
                f"{losses[usual]:.0f}); to start from it, name {CLASSES[best]}"
            )
        speed = Parameter(starts.drives[usual].rpm, None, "rpm", False, "of the drive that the fit started from")
        return fits[usual], fits[usual].with_order(found[usual][0]), speed
    likely = [rpm for rpm, loss in losses.items() if loss < MIN_SPEED_GAIN]
    if not fits[usual].has_choice:
        likely = [usual if usual in likely else min(losses, key=lambda rpm: losses[rpm])]
    ordered = {rpm: fits[rpm].with_order(found[rpm][0]) for rpm in likely}
    if len(likely) > 1:
        # a model that misses its evidence separates speeds no better than it describes it
        least = min(fit.misfit for fit in ordered.values())
        scale = max(least / sum(len(condition.targets) for condition in reads), 1.0)
        losses |= _above_least({rpm: fit.misfit / scale for rpm, fit in ordered.items()})
    best = min(likely, key=lambda rpm: losses[rpm])
    if usual in likely and losses[usual] < MIN_SPEED_GAIN:
        best = usual
    rival = min((rpm for rpm in losses if rpm != best), key=lambda rpm: losses[rpm])
    gain = losses[rival] - losses[best]
    is_identified = gain >= MIN_SPEED_GAIN
    why = f"{rival} rpm fits worse by {gain:.0f} (chi-square)"
    if not is_identified:
        why = f"the percentiles do not separate it from {rival} rpm; name a drive of its kind to start from"
    speed = Parameter(starts.drives[best].rpm, 0.0 if is_identified else None, "rpm", is_identified, why)
    return fits[best], ordered[best], speed


def _above_least(misfits: Mapping[int, float]) -> dict[int, float]:
    least = min(misfits.values())
    return {rpm: misfit - least for rpm, misfit in misfits.items()}


def _with_write_cache(drive: Hdd) -> Hdd:
    """Return the drive with a write-back cache, as the array's file says.

    Raises
    ------
    InputError
        When it has no cache.
    """
    if drive.cache is None:
        fix = "set drive_write_cache = false, or name a drive with a cache"
        raise InputError(Fault("array.drive_write_cache", True, f"{drive.name} has no cache", fix))
    return drive.model_copy(update={"cache": drive.cache.to_dict() | {"write_back": True}})


def _typical(capacity_bytes: int | None) -> dict[int, Hdd]:
    """Return a typical drive of each speed that disks of this capacity have."""
    found = {rpm: _class(name) for rpm, name in CLASSES.items()}
    if capacity_bytes is None:
        return found
    if capacity_bytes >= NEARLINE_BYTES:
        found[USUAL_RPM] = _class(NEARLINE)
    return {rpm: drive for rpm, drive in found.items() if capacity_bytes <= LARGEST_BYTES.get(rpm, math.inf)}


def _class(name: str) -> Hdd:
    drive = load_drive(name)
    assert isinstance(drive, Hdd)
    return drive


def _sized(drive: Hdd, capacity_bytes: int | None) -> Hdd:
    """Return the drive with this capacity, in whole sectors; with more heads where its own would make surfaces too
    large."""
    if capacity_bytes is None or capacity_bytes == drive.capacity_bytes:
        return drive
    capacity_bytes -= capacity_bytes % drive.sector_bytes
    most = max(BYTES_PER_SURFACE, DENSER * drive.capacity_bytes / drive.heads)
    surfaces = math.ceil(capacity_bytes / most / drive.actuators) * drive.actuators
    return drive.model_copy(update={"capacity_bytes": capacity_bytes, "heads": max(drive.heads, surfaces)})
