"""The drives in the lab: the catalogue, and the user's own profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from diskmodel.drive import Drive, catalogue, load_drive
from diskmodel.errors import DescriptionError, Fault

_own: dict[str, Drive] = {}


def set_own_drives(paths: Sequence[Path]) -> None:
    """Offer the profiles in these files under the names of the files, instead of any earlier ones.

    Raises
    ------
    DescriptionError
        When a profile cannot be read, or its name is already taken.
    """
    found: dict[str, Drive] = {}
    for path in paths:
        if path.stem in found or path.stem in catalogue():
            rule = f"has the name of another drive, {path.stem}"
            raise DescriptionError(Fault("drive", str(path), rule, "rename the file"))
        if not path.is_file():
            fix = "name a profile, such as `diskmodel calibrate` writes"
            raise DescriptionError(Fault("drive", str(path), "is not a file", fix))
        found[path.stem] = load_drive(path)
    _own.clear()
    _own.update(found)


def own_drives() -> Iterator[tuple[str, Drive]]:
    """Yield the user's own drives with their names."""
    yield from _own.items()


def drive_of(name: str) -> Drive:
    """Return the drive of that name; unlike `load_drive`, never open a file.

    Raises
    ------
    DescriptionError
        When no drive has that name.
    """
    return _own[name] if name in _own else catalogue()[name]


def has_one_arm(drive: Drive) -> bool:
    """Return whether a drive has exactly one arm, which the animation can show."""
    return drive.arms == 1
