"""Disks, and arrays of Linux md, as lsblk shows them (`lsblk -J -b -o NAME,TYPE,SIZE,MODEL,ROTA,TRAN`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from diskmodel.formats.arrays.volume import Member, Volume, bus_of, whole_disk
from diskmodel.formats.hardware import DriveFacts, facts_of_text
from diskmodel.limits import parse_json

_LEVELS = {"linear": "jbod"} | {f"raid{n}": f"raid{n}" for n in (0, 1, 4, 5, 6, 10)}
#: Deepest device in a device that is looked at.
_DEEPEST = 12


def disks_of_text(text: str, source: str) -> dict[str, Member]:
    """Return the disks of an output of lsblk -J or smartctl -j, by device.

    Raises
    ------
    FormatError
        When it is neither, or malformed.
    """
    return {whole_disk(facts.device): _member(facts) for facts in facts_of_text(text, source)}


def _member(facts: DriveFacts) -> Member:
    device = whole_disk(facts.device)
    return Member(
        device=device,
        model=facts.model or "",
        capacity_bytes=facts.capacity_bytes,
        is_rotational=facts.is_rotational,
        rpm=facts.rpm,
        bus=bus_of(facts.interface or "") or ("NVMe" if device.startswith("nvme") else ""),
    )


def volumes_of_lsblk(text: str, source: str) -> list[Volume]:
    """Return the arrays of md that lsblk -J shows below their disks; without strips and without what is missing.

    Raises
    ------
    FormatError
        When it is malformed.
    """
    known = disks_of_text(text, source)
    document = parse_json(text)
    members: dict[str, list[str]] = {}
    kinds: dict[str, str] = {}
    listed = document.get("blockdevices") if isinstance(document, Mapping) else None
    for disk in listed if isinstance(listed, list) else []:
        for name, kind in _arrays_below(disk, 0):
            disks = members.setdefault(name, [])
            kinds[name] = kind
            own = whole_disk(str(disk.get("name") or disk.get("path") or ""))
            if own not in disks:
                disks.append(own)
    return [
        Volume(
            name=name,
            program="lsblk",
            level=_LEVELS[kinds[name]],
            members=tuple(Member(disk) for disk in disks),
            copies=len(disks) if kinds[name] == "raid1" else None,
            is_md=True,
            notes=("lsblk shows neither the strip nor missing disks and passes: add cat /proc/mdstat",),
        ).with_members(known)
        for name, disks in members.items()
    ]


def _arrays_below(entry: Any, depth: int) -> Iterator[tuple[str, str]]:
    children = entry.get("children") if isinstance(entry, Mapping) else None
    if depth > _DEEPEST or not isinstance(children, list):
        return
    for child in children:
        if not isinstance(child, Mapping):
            continue
        kind, name = str(child.get("type", "")), str(child.get("name", ""))
        if kind in _LEVELS and re.match(r"(/dev/)?md", name):
            yield name.removeprefix("/dev/"), kind
        else:
            yield from _arrays_below(child, depth + 1)
