"""Drives that the lab knows: the catalogue, and profiles that its reader named when it was started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from diskmodel.drive import Flash, Hdd, catalogue, load_drive
from diskmodel.errors import DescriptionError, Fault

_own: dict[str, Hdd | Flash] = {}


def set_own_drives(paths: Sequence[Path]) -> None:
    """Make the profiles in these files known by the names of the files, in place of those known before.

    Raises
    ------
    DescriptionError
        When a profile cannot be read, or two would have the same name.
    """
    found: dict[str, Hdd | Flash] = {}
    for path in paths:
        if path.stem in found or path.stem in catalogue():
            rule = f"there is a drive {path.stem} already"
            raise DescriptionError(Fault("drive", str(path), rule, "rename the file"))
        if not path.is_file():
            raise DescriptionError(Fault("drive", str(path), "is no file", "name a profile, as `calibrate` writes it"))
        found[path.stem] = load_drive(path)
    _own.clear()
    _own.update(found)


def own_drives() -> Iterator[tuple[str, Hdd | Flash]]:
    """Names and drives that the reader brought."""
    yield from _own.items()


def drive_of(name: str) -> Hdd | Flash:
    """The drive of that name; no file is looked for.

    Raises
    ------
    DescriptionError
        When there is none.
    """
    return _own[name] if name in _own else catalogue()[name]


def has_one_arm(drive: Hdd | Flash) -> bool:
    """Whether a drive has one arm that can be watched."""
    return isinstance(drive, Hdd) and drive.actuators == 1
