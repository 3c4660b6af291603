"""Questions in the units of those who ask: cameras, desktops, virtual machines, terabytes a backup window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import Field

from diskmodel.description import Description
from diskmodel.errors import DescriptionError, Fault
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Pause, in_digits, in_hours_or_days, nominal_bytes

#: Requests a second of a virtual desktop of an office worker, in the steady state: Dell, Sizing and Best Practices for
#: Deploying VMware View 4.5 with Dell EqualLogic Storage, section 5.4 (3 to 4 for each).
PER_DESKTOP = 4.0
#: Requests a second of a virtual machine whose use is not known, at its peak: store-predict, Default IOPS Estimates,
#: 2026, which gives it as Dell's conservative estimate (500 for an SQL server, 100 for a file server).
PER_MACHINE = 50.0
#: Share of a recorder's requests that read recordings, as in the preset.
_VIEWING = 0.05


class Asker(Description):
    """A load in the units of those who ask.

    Attributes
    ----------
    cameras : int or None
        Recorded all the time, each with `bitrate_bytes_per_s`, and kept for `retention_ns`.
    desktops, machines : int or None
    backup_bytes : int or None
        Written within `window_ns`.
    """

    cameras: int | None = Field(default=None, ge=1, le=100_000)
    bitrate_bytes_per_s: BytesPerSecond | None = None
    retention_ns: Pause | None = Field(default=None, gt=0)
    desktops: int | None = Field(default=None, ge=1, le=10_000_000)
    machines: int | None = Field(default=None, ge=1, le=10_000_000)
    backup_bytes: Bytes | None = Field(default=None, gt=0)
    window_ns: Pause | None = Field(default=None, gt=0)


class Unit(NamedTuple):
    """A unit of askers.

    Attributes
    ----------
    key : str
        Of the option that counts it.
    others : tuple of str
        Of the options that it needs beside it.
    preset : str
        The preset that it is about.
    asked : callable
        Returns from the values of these options those of others, and the note about them.
    """

    key: str
    others: tuple[str, ...]
    preset: str
    asked: Callable[..., tuple[dict[str, Any], str]]


def _cameras(cameras: int, bitrate: float, retention: int) -> tuple[dict[str, Any], str]:
    recorded = cameras * bitrate
    stored = round(recorded * retention / NS_PER_S)
    kept = in_hours_or_days(retention / NS_PER_S / 3600)
    note = (
        f"{cameras:,} cameras of {in_digits(bitrate * 8 / 1e6)} Mbit/s write {in_digits(recorded / 1e6)} MB/s, and "
        f"{kept} of it are {nominal_bytes(stored)}"
    )
    return {"throughput": recorded / (1 - _VIEWING), "capacity": stored}, note


def _desktops(desktops: int) -> tuple[dict[str, Any], str]:
    iops = PER_DESKTOP * desktops
    return {"iops": iops}, f"{desktops:,} desktops of {PER_DESKTOP:g} requests/s each (Dell): {in_digits(iops)}/s"


def _machines(machines: int) -> tuple[dict[str, Any], str]:
    iops = PER_MACHINE * machines
    return {"iops": iops}, (
        f"{machines:,} virtual machines of {PER_MACHINE:g} requests/s each (store-predict, after Dell): "
        f"{in_digits(iops)}/s; --iops replaces it by what yours do"
    )


def _backup(backup: int, window: int) -> tuple[dict[str, Any], str]:
    rate = backup / (window / NS_PER_S)
    hours = in_hours_or_days(window / NS_PER_S / 3600)
    note = f"{nominal_bytes(backup)} in {hours}: {in_digits(rate / 1e6)} MB/s"
    busy = window / NS_PER_S / 3600
    if busy >= 24:
        return {"throughput": rate}, note
    return {"throughput": rate, "busy_hours": busy}, f"{note}; idle for the rest of the day (--busy-hours)"


UNITS = (
    Unit("cameras", ("bitrate", "retention"), "video", _cameras),
    Unit("desktops", (), "desktops", _desktops),
    Unit("machines", (), "vm", _machines),
    Unit("backup", ("window",), "backup", _backup),
)


def unit_of(asked: Mapping[str, Any]) -> Unit | None:
    """Return the unit of a question; None where it has none.

    Raises
    ------
    DescriptionError
        Where there are several, or a part of one is missing.
    """
    found = [unit for unit in UNITS if unit.key in asked]
    faults = []
    for unit in UNITS:
        lacking = [f"--{key}" for key in unit.others if key not in asked]
        if unit in found and lacking:
            fix = f"write for example: diskmodel plan {_EXAMPLES[unit.key]}"
            faults.append(Fault(", ".join(lacking), None, f"is missing, which --{unit.key} needs", fix))
        given = [f"--{key}" for key in unit.others if key in asked]
        if unit not in found and given:
            rule = f"needs --{unit.key}"
            faults.append(Fault(given[0], None, rule, f"write for example: diskmodel plan {_EXAMPLES[unit.key]}"))
    if len(found) > 1:
        names = ", ".join(f"--{unit.key}" for unit in found)
        faults.append(Fault(names, None, "state several loads", "keep one, or write a plan with a stream for each"))
    if faults:
        raise DescriptionError(faults)
    return found[0] if found else None


_EXAMPLES = {
    "cameras": "--cameras 100 --bitrate 4Mbit/s --retention 30d",
    "desktops": "--desktops 500 --capacity 20TB",
    "machines": "--machines 40 --capacity 20TB",
    "backup": "--backup 10TB --window 8h --capacity 100TB",
}


def in_requests(unit: Unit, asked: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the options of a question with those of a unit replaced by its rate and data, and the note about it.

    What is asked beside it goes first.
    """
    keys = (unit.key, *unit.others)
    others, note = unit.asked(**{key: asked[key] for key in keys})
    rest = {key: value for key, value in asked.items() if key not in keys}
    if {"iops", "throughput"} & set(rest):
        others = {key: value for key, value in others.items() if key not in ("iops", "throughput")}
    return {**others, **rest}, note
