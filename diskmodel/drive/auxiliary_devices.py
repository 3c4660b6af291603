"""Drives for devices of their own: log, special vdev or cache of a pool, the journal of an array of Linux md."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator

from diskmodel.description import Description
from diskmodel.drive.description import load_drive
from diskmodel.drive.parse import parse_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.faults import inner
from diskmodel.layout import LogDevice, SpecialVdev

#: No device: the log of a pool is on its own disks, and so is its metadata; an array has no journal.
NONE = "none"
#: What each of them is called.
_CALLED = {"log": "drive of a log", "special": "drive of a special vdev", "cache": "cache device"}
#: Figures of a device that is no drive.
_FIGURES = ("write_ns", "bytes_per_s", "page_bytes", "dies", "read_ns", "command_ns", "latency_ns")
#: Devices of a mirror and their drive: "2x micron-7450-pro-1920".
_MIRROR = re.compile(r"(?P<devices>\d{1,6})\s*[x×]\s*(?P<drive>\S.*)")
#: Words without a drive.
_NO_DRIVE = re.compile(r"\d*\s*[x×X*]?")
#: The same with another sign between them, or none: its meaning is clear, and the answer says how it is written.
_ALMOST_A_MIRROR = re.compile(r"(?P<devices>\d{1,6})(?:\s*[X*]\s*|\s+)(?P<drive>\S.*)")
_Device = TypeVar("_Device", bound=Description)


def _figures_of(drive: Any) -> dict[str, Any] | None:
    """Return what a drive is as a device of its own: its buffer answers, flash sets the rate in the long run."""
    found = drive.buffered_writes()
    return None if found is None else dict(zip(("write_ns", "bytes_per_s"), found, strict=True))


def log_device_of(place: Any) -> LogDevice:
    """Return a drive as the device of a log: by its name, by the path of its profile, or as it is described.

    Raises
    ------
    DescriptionError
        When there is no such drive, or a log cannot be on it: a volume of several, or zones that are written in order.
    """
    return LogDevice(drive=drive_at("log", place))


def drive_at(field: str, place: Any) -> Any:
    """Return the drive for a place of its own: of that name, of that profile, or as it is described."""
    if isinstance(place, Description):
        drive: Any = place
    else:
        drive = parse_drive(place) if isinstance(place, Mapping) else load_drive(place)
    fix = 'use a drive, for example "micron-7450-pro-1920"'
    if drive.stands_alone:
        raise DescriptionError(Fault(field, drive.name, f"is a volume as a whole, which is no {_CALLED[field]}", fix))
    if drive.zones_in_order is not None:
        raise DescriptionError(Fault(field, drive.name, "has zones that the host writes in order", fix))
    return drive


def mirror_of(words: str) -> tuple[int, str]:
    """Return devices and drive of a special vdev in words: "2x micron-7450-pro-1920".

    Raises
    ------
    DescriptionError
        When they do not say how many, or name one device: the pool would be lost with it.
    """
    if _NO_DRIVE.fullmatch(words.strip()):
        raise DescriptionError(Fault("special", words, "names no drive", 'write for example "2x micron-7450-pro-1920"'))
    found = _MIRROR.fullmatch(words.strip())
    almost = None if found else _ALMOST_A_MIRROR.fullmatch(words.strip())
    if almost is not None:
        fix = f'write "{max(int(almost["devices"]), 2)}x {almost["drive"]}"'
        raise DescriptionError(Fault("special", words, "has no x between the number of devices and their drive", fix))
    n = int(found["devices"]) if found else 1
    if found is None or n < 2:
        rule = "is one device, and the pool is lost with it" if n == 1 else "has no device"
        fix = f'use a mirror of at least two: "2x {found["drive"] if found else words}"'
        raise DescriptionError(Fault("special", words, rule, fix))
    return n, found["drive"].strip()


def special_vdev_of(words: str) -> SpecialVdev:
    """Return the special vdev in words, "2x micron-7450-pro-1920": a mirror of so many of these drives."""
    n, name = mirror_of(words)
    return SpecialVdev.parse(_of_special(drive_at("special", name), n))


def _of_special(drive: Any, n: int) -> dict[str, Any]:
    """Return the fields of a special vdev of so many drives."""
    of_drive = {"size_bytes": drive.capacity_bytes, "mttf_hours": drive.mttf_hours, "ure_per_bit": drive.ure_per_bit}
    return {"drive": drive, "devices": n, **of_drive}


def device_in_words(name: str) -> str:
    """Return a device, or a mirror of such devices, for people."""
    mirror = _MIRROR.fullmatch(name.strip())
    count, drive = (f"{mirror['devices']}x ", mirror["drive"]) if mirror else ("", name)
    return count + os.path.basename(drive).removesuffix(".toml")


def with_log_drive(value: Any) -> Any:
    """Return the device of a log with its drive, where it is named or described: "NAME", or a table with `drive`.

    A table that states figures of the device beside it has those, and else the drive's. "none" is no device.

    Raises
    ------
    PydanticCustomError
        When there is no such drive, or no log can be on it, or it has no such figures.
    """
    return with_own_drive(value, LogDevice, lambda place, _: {"drive": drive_at("log", place)}, _figures_of)


def with_special_drives(value: Any) -> Any:
    """Return a special vdev with its drives, as `with_log_drive`: "2x NAME", or a table with `drive`."""

    def fields(place: Any, more: Mapping[str, Any] | None) -> dict[str, Any]:
        usual: int = SpecialVdev.model_fields["devices"].default
        is_mirror = isinstance(place, str) and _MIRROR.fullmatch(place.strip()) is not None
        if isinstance(place, str) and (more is None or (is_mirror and "devices" not in more)):
            n, place = mirror_of(place)
        else:
            n = usual
        return _of_special(drive_at("special", place), n)

    return with_own_drive(value, SpecialVdev, fields, _figures_of)


def with_own_drive(
    value: Any,
    kind: type[_Device],
    fields: Callable[[Any, Mapping[str, Any] | None], dict[str, Any]],
    figures_of: Callable[[Any], dict[str, Any] | None],
) -> Any:
    """Return a device with its drive; `fields` are those of a place, and of what a table states beside it.

    Where the table states figures of the device, it has these, the others that `figures_of` finds of the drive, and no
    drive.
    """
    more = {key: stated for key, stated in value.items() if key != "drive"} if isinstance(value, Mapping) else None
    place = value if more is None else value.get("drive")
    if not isinstance(place, str | Path | Mapping | Description) or isinstance(place, kind):
        return value
    if place == NONE:
        return None
    try:
        found, more = fields(place, more), more or {}
        # "write" states write_ns
        stated = {kind.full_name(key) for key in more}
        own = [name for name in _FIGURES if name in stated]
        if own:
            figures = figures_of(found.pop("drive"))
            if figures is None:
                rule = "is given beside a drive that has no such figure"
                raise DescriptionError(Fault(own[0], None, rule, "remove it, or the drive"))
            found |= figures
        return kind.parse({**{name: of for name, of in found.items() if name not in stated}, **more})
    except DescriptionError as error:
        raise inner(error) from None


#: The device of a log inside another description: a full description, the path of a drive's profile, or its name; and
#: so a special vdev.
NamedLog = Annotated[LogDevice, BeforeValidator(with_log_drive)]
NamedSpecial = Annotated[SpecialVdev, BeforeValidator(with_special_drives)]
