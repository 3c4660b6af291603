"""The drive of an array by what its manager shows of the disks: of the catalogue, or one of its class."""

from __future__ import annotations

import math
from collections import Counter

from diskmodel.drive import Drive, find_drives, load_drive, parse_drive
from diskmodel.drive.catalogue import catalogue
from diskmodel.errors import DescriptionError
from diskmodel.formats.arrays.volume import Member
from diskmodel.loading import dataclass
from diskmodel.units import pretty_bytes

#: Rotation (r/min) from which on a disk is of the class of 15,000 and of 10,000, and below which of 5,400.
_FAST_RPM, _MIDDLE_RPM, _SLOW_RPM = 14_000, 9_500, 6_500
#: Capacities that only SAS disks of 10,000 r/min have, bytes, to 3 %.
_OF_10K = tuple(round(gb * 1e9) for gb in (600, 900, 1200, 1800, 2400))
#: Sizes are printed in a few digits: a disk has whole sectors of this size.
_SECTOR = 4096
#: Capacity of flash in servers where none is shown, bytes.
_USUAL_FLASH_BYTES = 1_920_383_410_176


@dataclass(frozen=True)
class FoundDrive:
    """A drive.

    Attributes
    ----------
    drive : Drive
    name : str
        In the catalogue.
    is_exact : bool
        Whether `drive` is the catalogue's; False: a class with the capacity of the disks.
    notes : tuple of str
    """

    drive: Drive
    name: str
    is_exact: bool
    notes: tuple[str, ...] = ()


def drive_of(members: tuple[Member, ...]) -> FoundDrive | None:
    """Return the drive that the disks are; None where nothing is known of them.

    Parameters
    ----------
    members : tuple of Member
        Of an array, without spares.
    """
    if not members:
        return None
    models = Counter(member.model for member in members if member.model)
    model = models.most_common(1)[0][0] if models else ""
    notes = []
    if len(models) > 1:
        listed = ", ".join(f"{name} ({n})" for name, n in models.most_common(4))
        notes.append(f"the disks are of several models: {listed}; all are taken as the first, and the slowest decides")
    one = next((member for member in members if member.model == model and member.capacity_bytes), members[0])
    if model and (name := _catalogued(model)):
        drive = load_drive(name)
        size = one.capacity_bytes
        if size and abs(math.log(size / drive.capacity_bytes)) > 0.1:
            notes.append(f"the disks hold {pretty_bytes(size)}, {name} {pretty_bytes(drive.capacity_bytes)}")
        return FoundDrive(drive, name, True, tuple(notes))
    return _stand_in(one, model, notes)


def _catalogued(model: str) -> str | None:
    try:
        return catalogue().name_of(model)
    except DescriptionError:
        return None


def _stand_in(one: Member, model: str, notes: list[str]) -> FoundDrive | None:
    """Return a drive of the class of a disk that the catalogue does not have."""
    what = model or "a disk without a model"
    rule = f"{what} is not in the catalogue" if model else "no model is shown"
    is_nvme = one.bus == "NVMe" or one.device.startswith("nvme")
    if one.is_rotational is False or is_nvme:
        kind = "nvme" if is_nvme else "sas-ssd" if one.bus == "SAS" else "sata-ssd"
        names = find_drives(catalogue(), kind=kind)
        size = one.capacity_bytes or _USUAL_FLASH_BYTES
        name = min(names, key=lambda name: abs(math.log(catalogue()[name].capacity_bytes / size)))
        near = f"the {kind} nearest in capacity" if one.capacity_bytes else f"a usual {kind}"
        notes.append(f"{rule}: {name} is taken for it, {near}; name yours with --drive")
        return FoundDrive(load_drive(name), name, True, tuple(notes))
    if one.is_rotational is None and one.rpm is None:
        return None
    name = _class_of(one)
    drive = load_drive(name)
    notes.append(f"{rule}: {name} is taken for it, a class; name yours with --drive")
    if not one.capacity_bytes or one.capacity_bytes == drive.capacity_bytes:
        return FoundDrive(drive, name, True, tuple(notes))
    fields = drive.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    fields |= {"name": f"{what}, as {name}", "capacity_bytes": one.capacity_bytes // _SECTOR * _SECTOR}
    fields.pop("capacity", None)
    return FoundDrive(parse_drive(fields, name), name, False, tuple(notes))


def _class_of(one: Member) -> str:
    rpm, size = one.rpm, one.capacity_bytes
    if rpm is None:
        is_10k = one.bus == "SAS" and size is not None and any(abs(size / known - 1) < 0.03 for known in _OF_10K)
        return "generic-10k" if is_10k else "generic-7k2-2015"
    if rpm >= _FAST_RPM:
        return "generic-15k"
    if rpm >= _MIDDLE_RPM:
        return "generic-10k"
    return "generic-5k4" if rpm < _SLOW_RPM else "generic-7k2-2015"
