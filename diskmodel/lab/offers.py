"""The choices of the lab's controls: drives, levels with their possible numbers of disks, schedulers, sizes."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, get_args

from diskmodel.drive import Drive, catalogue
from diskmodel.errors import DescriptionError
from diskmodel.lab.commits import commit_offers
from diskmodel.lab.drives import has_one_arm, own_drives
from diskmodel.lab.settings import LEVELS, Pattern, Settings
from diskmodel.layout import Layout, levels
from diskmodel.queue import SCHEDULERS

#: Disks on the slider, the same limit as in `Settings`; more make its steps too fine to hit.
MAX_DISKS = 64

_PATTERN_NAMES = {
    "random": "random",
    "hot_spot": "80 % of requests on 20 % of the space",
    "zipf": "Zipf: a few blocks very popular",
    "sequential": "sequential",
}


def offers() -> dict[str, Any]:
    """Return the choices of every control as plain data; the user's own drive is the default where there is one."""
    drive = next((name for name, _ in own_drives()), Settings().drive)
    return {
        "defaults": Settings(drive=drive).to_dict(),
        "drives": [
            *(_drive(name, drive, "your own") for name, drive in own_drives()),
            *(_drive(name, drive) for name, drive in catalogue().items()),
        ],
        "levels": [
            {
                "value": level,
                "text": levels.LEVELS[level].title,
                "disks": _disk_counts(level),
                "survives": _survives(level),
            }
            for level in LEVELS
        ],
        "schedulers": [
            {"value": "drive", "text": "the drive's own queue"},
            *({"value": name, "text": policy.title} for name, policy in SCHEDULERS.items()),
        ],
        "patterns": [{"value": v, "text": _PATTERN_NAMES.get(v, v)} for v in get_args(Pattern)],
        "size_bytes": [512 << power for power in range(14)],
        "strip_bytes": [4096 << power for power in range(11)],
        "outstanding": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
        "commits": commit_offers(),
        "write_cache_bytes": [0, *(1 << power for power in range(20, 31, 2))],
    }


def _drive(name: str, drive: Drive, group: str = "") -> dict[str, Any]:
    return {"value": name, "text": drive.name, "group": group or drive.speed_class, "has_one_arm": has_one_arm(drive)}


@functools.cache
def _survives(level: str) -> bool:
    """Return whether the level keeps its data when one disk fails."""
    try:
        Layout.parse({"level": level, "disks": _disk_counts(level)[-1], "failed": (0,)})
    except DescriptionError:
        return False
    return True


@functools.cache
def _disk_counts(level: str) -> list[int]:
    """Return the numbers of disks that the level allows."""
    counts = []
    for disks in range(1, MAX_DISKS + 1):
        with contextlib.suppress(DescriptionError):
            Layout.parse({"level": level, "disks": disks})
            counts.append(disks)
    return counts
