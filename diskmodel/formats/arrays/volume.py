"""An array as the programs that manage it show it: one record, whichever program it was."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from typing import Literal

from diskmodel.loading import dataclass

State = Literal["working", "failed", "rebuilding", "missing", "spare"]
Bus = Literal["", "SATA", "SAS", "NVMe"]


@dataclass(frozen=True)
class Member:
    """A disk of an array, or a spare.

    Attributes
    ----------
    device : str
        As the program names it: "sda", "252:3", "1I:1:1"; "" where it is missing.
    state : str
        "working", "failed", "rebuilding", "missing" or "spare".
    model : str
        "" where the program does not show it.
    capacity_bytes : int or None
    is_rotational : bool or None
    rpm : int or None
    bus : str
        "SATA", "SAS", "NVMe" or "".
    """

    device: str
    state: State = "working"
    model: str = ""
    capacity_bytes: int | None = None
    is_rotational: bool | None = None
    rpm: int | None = None
    bus: Bus = ""

    @property
    def is_failed(self) -> bool:
        """Whether nothing can be read from it, or not yet."""
        return self.state in ("failed", "rebuilding", "missing")


@dataclass(frozen=True)
class Pass:
    """A rebuild, check or resync that is in progress.

    Attributes
    ----------
    action : str
        "recover", "check" or "resync", as in the description of a rebuild.
    done_ratio : float
    bytes_per_s, hours : float or None
        Its rate on a disk, and the estimate of what is left.
    """

    action: Literal["recover", "check", "resync"]
    done_ratio: float = 0.0
    bytes_per_s: float | None = None
    hours: float | None = None

    def __str__(self) -> str:
        name = {"recover": "a rebuild", "check": "a check", "resync": "a resync"}[self.action]
        parts = [f"{name} is in progress, {100 * self.done_ratio:.1f} % done"]
        if self.bytes_per_s is not None:
            parts.append(f"{self.bytes_per_s / 2**20:.4g} MiB/s")
        if self.hours is not None:
            parts.append(f"{self.hours:.3g} h to go")
        return ", ".join(parts)


@dataclass(frozen=True)
class Volume:
    """An array.

    Attributes
    ----------
    name : str
        As the program names it: "md0", "VD 0", "logicaldrive 1".
    program : str
        What shows it, in words that follow "output of".
    level : str
        Of `diskmodel.layout.levels`.
    members : tuple of Member
        In the order of their places, with those that are missing.
    spares : tuple of Member
        Disks that a rebuild can take.
    groups, copies : int or None
        Spans of RAID 50 and 60, copies of a block in RAID 1 and 10.
    arrangement : str
        "near" or "far", of RAID 10 of Linux md.
    strip_bytes, capacity_bytes : int or None
    rotation : str
        Layout of the parity in the words of md; "" where it is not shown.
    running : Pass or None
    is_md : bool
    consistency : str
        "bitmap", "resync", "journal" or "ppl", of Linux md; "" where it is not shown.
    bitmap_chunk_bytes : int or None
    controller : str
        Model of the controller; "" where it is not shown.
    cache_bytes : int or None
        Memory of the controller.
    write_back, read_ahead, drive_cache : bool or None
        Whether writes end in the controller's cache, it reads ahead, and the drives' own caches are on.
    notes : tuple of str
        What else was seen and is not in the record.
    """

    name: str
    program: str
    level: str
    members: tuple[Member, ...]
    spares: tuple[Member, ...] = ()
    groups: int | None = None
    copies: int | None = None
    arrangement: str = "near"
    strip_bytes: int | None = None
    capacity_bytes: int | None = None
    rotation: str = ""
    running: Pass | None = None
    is_md: bool = False
    consistency: str = ""
    bitmap_chunk_bytes: int | None = None
    controller: str = ""
    cache_bytes: int | None = None
    write_back: bool | None = None
    read_ahead: bool | None = None
    drive_cache: bool | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def failed(self) -> tuple[int, ...]:
        """Places of members from which nothing can be read, or not yet."""
        return tuple(place for place, member in enumerate(self.members) if member.is_failed)

    def with_members(self, found: dict[str, Member]) -> Volume:
        """Return the array with what another program shows of its disks, by device."""
        return replace(
            self,
            members=tuple(_joined(member, found) for member in self.members),
            spares=tuple(_joined(member, found) for member in self.spares),
        )


def _joined(member: Member, found: dict[str, Member]) -> Member:
    other = found.get(whole_disk(member.device))
    if other is None or not member.device:
        return member
    return replace(
        member,
        model=member.model or other.model,
        capacity_bytes=member.capacity_bytes or other.capacity_bytes,
        is_rotational=other.is_rotational if member.is_rotational is None else member.is_rotational,
        rpm=member.rpm or other.rpm,
        bus=member.bus or other.bus,
    )


_PARTITION = re.compile(r"((?:sd|vd|xvd|hd)[a-z]{1,3})\d{1,3}\Z|((?:nvme\d+n\d+|mmcblk\d+))p\d{1,3}\Z")


def whole_disk(device: str) -> str:
    """Return the disk of a partition, without the folder.

    Examples
    --------
    >>> whole_disk("/dev/sda1"), whole_disk("nvme0n1p3"), whole_disk("sdb"), whole_disk("252:1")
    ('sda', 'nvme0n1', 'sdb', '252:1')
    """
    name = device.removeprefix("/dev/")
    found = _PARTITION.match(name)
    return (found[1] or found[2]) if found else name


_SIZE = re.compile(r"(\d{1,16}(?:\.\d{1,6})?)\s*([KMGTP])?(i)?B?\b", re.IGNORECASE)


def size_bytes(text: str, *, decimal: bool = False) -> int | None:
    """Return a size as such programs print it; None for anything else.

    Parameters
    ----------
    text : str
    decimal : bool
        Whether "TB" is 10¹² bytes; most of these programs mean 2⁴⁰.

    Examples
    --------
    >>> size_bytes("256 KB"), size_bytes("512K"), size_bytes("1.2 TB", decimal=True), size_bytes("N/A")
    (262144, 524288, 1200000000000, None)
    """
    found = _SIZE.match(text.strip())
    if found is None:
        return None
    power = " KMGTP".index(found[2].upper()) if found[2] else 0
    base: int = 1000 if decimal and not found[3] else 1024
    return round(float(found[1]) * float(base) ** power)


def bus_of(text: str) -> Bus:
    """Return the bus that a word names; "" for any other."""
    upper = text.upper()
    known: tuple[tuple[str, Bus], ...] = (("NVM", "NVMe"), ("PCIE", "NVMe"), ("SATA", "SATA"), ("SAS", "SAS"))
    return next((bus for word, bus in known if word in upper), "")


def percent_of(text: str) -> float | None:
    """Return the share that a text with a percentage names; None where it names none."""
    found = re.search(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", text)
    return None if found is None else min(float(found[1]), 100.0) / 100


def in_places(members: Iterable[Member], n: int) -> tuple[Member, ...]:
    """Return members with missing ones behind them, `n` in all."""
    found = tuple(members)
    return found + tuple(Member("", "missing") for _ in range(n - len(found)))
