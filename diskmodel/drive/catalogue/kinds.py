"""Kinds of drives, and the search for drives by kind or by a word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from diskmodel.drive.flash.description import Flash
from diskmodel.drive.hdd import NEARLINE_BYTES, Hdd
from diskmodel.drive.parse import KINDS as DRIVES
from diskmodel.drive.parse import Drive
from diskmodel.errors import DescriptionError, Fault, choose_from


def _is_flash_on(bus: str) -> Callable[[Drive], bool]:
    return lambda drive: isinstance(drive, Flash) and bus in drive.bus


def _is_a(kind: type) -> Callable[[Drive], bool]:
    return lambda drive: isinstance(drive, kind)


def _turns(low_rpm: float, high_rpm: float) -> Callable[[Drive], bool]:
    return lambda drive: isinstance(drive, Hdd) and low_rpm <= drive.rpm < high_rpm


def _is_nearline(drive: Drive) -> bool:
    return _turns(7_000, 8_000)(drive) and drive.capacity_bytes >= NEARLINE_BYTES and not _is_shingled(drive)


def _is_shingled(drive: Drive) -> bool:
    return isinstance(drive, Hdd) and drive.recording == "shingled"


#: Each kind with the test that decides whether a drive is of it; a drive may be of several kinds. The 10k class
#: includes drives of up to 10,500 rpm. Shingled drives are no nearline ones, whose random writes they cannot do.
KINDS: dict[str, Callable[[Drive], bool]] = {
    "hdd": lambda drive: isinstance(drive, Hdd),
    "nearline": _is_nearline,
    "10k": _turns(9_500, 12_000),
    "15k": _turns(14_000, 16_000),
    "smr": _is_shingled,
    "host-managed": lambda drive: isinstance(drive, Hdd) and drive.write_zones is not None,
    "sata-ssd": _is_flash_on("SATA"),
    "sas-ssd": _is_flash_on("SAS"),
    "nvme": _is_flash_on("NVMe"),
} | {kind.listed_as[0]: _is_a(kind) for kind in DRIVES.values() if kind.listed_as}


def _is_of_equations(drive: Drive) -> bool:
    """Whether a drive is no product: one whose mechanics follow equations, for comparisons with what measured those."""
    return drive.year is None


#: Classes of drives as a list shows them, those that are bought today first; a drive is in the first that it fits.
CLASSES: dict[str, Callable[[Drive], bool]] = {
    "equation disks, no products": _is_of_equations,
    "nearline disks, 7,200 rpm": _is_nearline,
    "NVMe flash": KINDS["nvme"],
    **{kind.listed_as[1]: _is_a(kind) for kind in DRIVES.values() if kind.listed_as},
    "SAS flash": KINDS["sas-ssd"],
    "SATA flash": KINDS["sata-ssd"],
    "SAS disks, 10,000 rpm": lambda drive: KINDS["10k"](drive) and drive.capacity_bytes >= _LEAST_OF_TODAY,
    "shingled disks": _is_shingled,
    "SAS disks, 15,000 rpm": KINDS["15k"],
    "older disks, 10,000 rpm": KINDS["10k"],
    "other disks": lambda _: True,
}
#: Smallest disk of 10,000 rpm that is still sold, bytes; older ones are of up to 900 GB.
_LEAST_OF_TODAY = 10**12


def by_class(drives: Mapping[str, Drive]) -> dict[str, list[str]]:
    """Return the names of drives by their class, the newest first; those that are no products in the last one."""
    found: dict[str, list[str]] = {title: [] for title in CLASSES}
    for name, drive in drives.items():
        found[next(title for title, is_of_it in CLASSES.items() if is_of_it(drive))].append(name)
    first, *others = found
    ordered = {title: sorted(found[title], key=lambda name: -(drives[name].year or 0)) for title in (*others, first)}
    return {title: names for title, names in ordered.items() if names}


def kinds_of(drive: Drive) -> list[str]:
    """Return the names of the kinds that a drive belongs to."""
    return [name for name, is_of_it in KINDS.items() if is_of_it(drive)]


def find_drives(drives: Mapping[str, Drive], word: str | None = None, kind: str | None = None) -> list[str]:
    """Return the names of the drives of a kind that match a word, in the order of `drives`.

    Parameters
    ----------
    drives : mapping of str to drive
        Such as the catalogue.
    word : str, optional
        Part of a name, title, maker or bus, or a kind; upper and lower case are alike. Several words must all match.
    kind : str, optional
        One of `KINDS`.

    Raises
    ------
    DescriptionError
        When there is no such kind, or when nothing matches the word; the message lists what is close.
    """
    if kind is not None and kind not in KINDS:
        raise DescriptionError(Fault("kind", kind, "is not a kind of drive", choose_from(kind, KINDS)))
    of_kind = [name for name, drive in drives.items() if kind is None or KINDS[kind](drive)]
    if word is None:
        return of_kind
    parts = word.lower().split()
    found = [name for name in of_kind if all(_matches(part, name, drives[name]) for part in parts)]
    if not found or not parts:
        raise DescriptionError(_nothing_found(drives, word, kind))
    return found


def _matches(part: str, name: str, drive: Drive) -> bool:
    return part in kinds_of(drive) or any(part in text.lower() for text in (name, drive.name, drive.bus))


def _nothing_found(drives: Mapping[str, Drive], word: str, kind: str | None) -> Fault:
    """Return the fault of a word without a match, with the names and words that are close to it."""
    if kind is not None and any(_matches(word.lower(), name, drive) for name, drive in drives.items()):
        return Fault("drive", word, f"matches no drive of the kind {kind}", "leave --kind out")
    words = sorted({part for name in drives for part in re.split("-", name) if len(part) > 3} | set(KINDS))
    close = difflib.get_close_matches(word.lower(), drives, n=4, cutoff=0.6)
    close += difflib.get_close_matches(word.lower(), words, n=2, cutoff=0.7)
    fix = f"did you mean {', '.join(close[:5])}?" if close else "`diskmodel drives` lists them all"
    return Fault("drive", word, "is neither a file nor a drive in the catalogue, and matches no name or kind", fix)
