"""The array in files of the programs that manage it: record, words and description at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, Fault, FormatError
from diskmodel.formats import hardware, pools
from diskmodel.formats.arrays import KINDS, read_arrays
from diskmodel.formats.arrays.as_array import array_notes, controller_name, not_in_words, volume_array, volume_words
from diskmodel.formats.arrays.blocks import disks_of_text, volumes_of_lsblk
from diskmodel.formats.arrays.drives import FoundDrive, drive_of
from diskmodel.formats.arrays.volume import Member, Volume
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.opening import read_document
from diskmodel.formats.pools.array import pool_array, pool_words, short_fields
from diskmodel.formats.pools.status import Pool
from diskmodel.loading import dataclass
from diskmodel.units import listed, nominal_bytes, pretty_bytes

#: Kinds of files that show an array, or the drives of one.
DESCRIBING = (*KINDS, "zpool-status", "zpool-list", *hardware.KINDS)


@dataclass(frozen=True)
class Described:
    """What files show of an array.

    Attributes
    ----------
    title : str
        What it is, in a line.
    facts, notes : tuple of str
        What else was found, and what was assumed or left out.
    word_notes : tuple of str
        What the words leave out that the array has.
    words : str
        In the words that commands take, with DRIVE where the drive is not known.
    record : dict
        For JSON.
    array : Array or None
        None where no file shows the drive, and none was named.
    """

    title: str
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    words: str
    record: dict[str, Any]
    array: Array | None
    drive: str = ""
    controller: str | None = None
    word_notes: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any] | None:
        """Return the fields of the array's file; None without an array."""
        if self.array is None:
            return None
        short = short_fields(self.array, self.drive)
        if self.controller is not None:
            short["controller"] = self.controller
        if not self.drive:
            short["drive"] = self.array.drive.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        return short


def read_described(files: Iterable[Path | str], name: str | None = None, drive: str | None = None) -> Described:
    """Return the array that files show.

    Parameters
    ----------
    files : iterable of Path or str
        Of one program, and of lsblk or smartctl for its drives.
    name : str, optional
        Which array, where they show several.
    drive : str, optional
        Instead of the one that they show.

    Raises
    ------
    FormatError
        When a file shows no array, or is malformed.
    DescriptionError
        When there are several and none is named, or there is no such array.
    """
    found: dict[str, Callable[[], Described]] = {}
    volumes: list[Volume] = []
    of_lsblk: list[Volume] = []
    disks: dict[str, Member] = {}
    notes: list[str] = []
    for path in files:
        kind = detect_evidence(path)
        if kind not in DESCRIBING:
            fix = "give output of mdstat, mdadm --detail, storcli, MegaCli, ssacli, arcconf, zpool status or lsblk -J"
            raise FormatError(Fault("file", kind, "shows no array", fix), str(path))
        text = read_document(path).replace("\r\n", "\n")
        if kind in KINDS:
            volumes += read_arrays(text, str(path), kind)
        elif kind in pools.READERS:
            for pool in pools.READERS[kind](text, str(path)):
                found[pool.name] = lambda pool=pool: _of_pool(pool, drive)  # type: ignore[misc]
        else:
            disks |= disks_of_text(text, str(path))
            of_lsblk += volumes_of_lsblk(text, str(path)) if kind == "lsblk" else []
    shown = {volume.name for volume in volumes}
    for volume in [*volumes, *(one for one in of_lsblk if one.name not in shown)]:
        if volume.name in found:
            notes.append(f"{volume.name} is shown twice: what {volume.program} shows of it is not used")
            continue
        found[volume.name] = lambda volume=volume: _of_volume(volume.with_members(disks), drive)  # type: ignore[misc]
    one = found[_chosen(list(found), name)]()
    return replace(one, notes=(*one.notes, *notes))


def _chosen(names: list[str], name: str | None) -> str:
    if not names:
        fix = "add what manages the array: cat /proc/mdstat, mdadm --detail, storcli, ssacli or zpool status"
        raise DescriptionError(Fault("FILE", None, "show drives, and no array", fix))
    if name is None and len(names) > 1:
        shown = ", ".join(names[:20])
        raise DescriptionError(Fault("--name", None, "is required: there are several arrays", f"one of {shown}"))
    if name is not None and name not in names:
        raise DescriptionError(
            Fault("--name", name, "is in none of the files", f"it is one of {', '.join(names[:20])}")
        )
    return name or names[0]


def _of_volume(volume: Volume, drive: str | None) -> Described:
    found = drive_of(volume.members) if drive is None else FoundDrive(load_drive(drive), drive, True)
    notes = [*array_notes(volume), *(found.notes if found else ())]
    words = volume_words(volume, found.name if found else "DRIVE")
    if not found:
        notes.append("no file shows what the disks are")
    of_words = []
    if found and not found.is_exact:
        size = nominal_bytes(load_drive(found.name).capacity_bytes)
        of_words.append(f"in words the disks have the capacity of {found.name}, {size}")
    if rest := not_in_words(volume):
        of_words.append(f"words leave out {listed(rest)}: the file has them")
    record = {"array_shown": {**asdict(volume), "notes": None, "failed": list(volume.failed)}}
    record["array_shown"].pop("notes")
    title = f"{volume.name}: {len(volume.members)} disks in {volume.level}, of {volume.program}"
    array = None if found is None else volume_array(volume, found.drive)
    exact = found.name if found and found.is_exact else ""
    return Described(
        title=title,
        facts=tuple(_facts(volume)),
        notes=tuple(notes),
        words=words,
        record=record,
        array=array,
        drive=exact,
        controller=controller_name(volume),
        word_notes=tuple(of_words),
    )


def _facts(volume: Volume) -> list[str]:
    parts = []
    if volume.strip_bytes:
        parts.append(f"strip {pretty_bytes(volume.strip_bytes)}")
    if volume.capacity_bytes:
        parts.append(f"{nominal_bytes(volume.capacity_bytes)} usable")
    if volume.groups:
        parts.append(f"{volume.groups} groups")
    if volume.consistency:
        parts.append({"resync": "no bitmap"}.get(volume.consistency, volume.consistency))
    if volume.write_back is not None:
        cache = f" of {pretty_bytes(volume.cache_bytes)}" if volume.cache_bytes and volume.write_back else ""
        parts.append(f"write-back cache{cache}" if volume.write_back else "write-through")
    if volume.drive_cache is not None:
        parts.append(f"drives' caches {'on' if volume.drive_cache else 'off'}")
    found = [", ".join(parts)] if parts else []
    if volume.controller:
        found.append(f"controller: {volume.controller}")
    models: dict[str, int] = {}
    for member in volume.members:
        models[_disk(member)] = models.get(_disk(member), 0) + 1
    found += [f"disks: {', '.join(f'{n} × {what}' for what, n in models.items() if what)}"] if any(models) else []
    down = [(place, member) for place, member in enumerate(volume.members) if member.is_failed]
    if down:
        listed_down = (f"{member.device or 'disk'} {member.state} (place {place})" for place, member in down[:6])
        found.append(f"failed: {', '.join(listed_down)}{' …' if len(down) > 6 else ''}")
    if volume.spares:
        found.append(f"spares: {', '.join(member.device for member in volume.spares[:6])}")
    return found + ([str(volume.running)] if volume.running else [])


def _disk(member: Member) -> str:
    size = nominal_bytes(member.capacity_bytes) if member.capacity_bytes else ""
    return " ".join(filter(None, [member.model, size, member.bus]))


def _of_pool(pool: Pool, drive: str | None) -> Described:
    scan = [str(pool.scan)] if pool.scan is not None else []
    down = [disk.name for disk in pool.disks if disk.is_failed]
    facts = ([f"failed: {', '.join(down[:6])}"] if down else []) + scan
    others = [group for group, vdevs in pool.others.items() if vdevs and group != "spares"]
    notes = list(pool.notes)
    if others:
        notes.append(f"its {listed(others)} are left out: `diskmodel pool` takes their drives, and the size of records")
    array = None if drive is None else pool_array(pool, load_drive(drive), {}, {})
    record = {
        "array_shown": {
            "name": pool.name,
            "program": "zpool",
            "vdevs": [{"kind": vdev.kind, "disks": [disk.name for disk in vdev.disks]} for vdev in pool.vdevs],
            "failed": [place for place, disk in enumerate(pool.disks) if disk.is_failed],
        }
    }
    title = f"{pool.name}: {pool.in_words()}, {pool.state or 'state unknown'}"
    return Described(title, tuple(facts), tuple(notes), pool_words(pool, drive or "DRIVE"), record, array, drive or "")
