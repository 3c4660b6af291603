"""The array that a manager's record describes, in words and as a description."""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.controller import Controller, load_controller
from diskmodel.controller.catalogue import named as controller_named
from diskmodel.drive import Drive
from diskmodel.errors import printable
from diskmodel.formats.arrays.volume import Volume
from diskmodel.formats.faults import shorten
from diskmodel.layout import LEVELS
from diskmodel.units import pretty_bytes

#: A disk that gives less than this share of its capacity to the array has other partitions.
_WHOLE = 0.97


def volume_words(volume: Volume, drive: str) -> str:
    """Return the array in the words that commands take, as far as words go: "4x DRIVE raid5, strip 512KiB"."""
    parts = [f"{len(volume.members)}x {drive} {volume.level}"]
    if volume.strip_bytes and volume.level not in ("raid1", "jbod"):
        parts.append(f"strip {pretty_bytes(volume.strip_bytes).replace(' ', '')}")
    if controller := _controller_name(volume):
        parts.append(controller)
    if volume.write_back and not controller_has_cache(volume) and volume.cache_bytes:
        parts.append(f"{pretty_bytes(volume.cache_bytes).replace(' ', '')} cache")
    if volume.spares:
        parts.append(f"{len(volume.spares)} hot spare{'s' * (len(volume.spares) > 1)}")
    if volume.drive_cache is not None:
        parts.append(f"drive write cache {'on' if volume.drive_cache else 'off'}")
    return ", ".join(parts)


def not_in_words(volume: Volume) -> list[str]:
    """Return what words cannot say of an array, and a file can."""
    found = []
    if volume.failed:
        found.append("failed disks")
    if volume.running:
        found.append("what is in progress")
    if (volume.groups or 2) != 2:
        found.append("its groups")
    if volume.rotation not in ("", "left-symmetric") or volume.arrangement == "far":
        found.append("how it is laid out")
    if volume.consistency == "resync" or volume.bitmap_chunk_bytes not in (None, 64 << 20):
        found.append("its bitmap")
    if volume.level == "raid10" and (volume.copies or 2) != 2:
        found.append("its copies")
    return found


def volume_array(volume: Volume, drive: Drive) -> Array:
    """Return the array with its failed disks, its spares and the pass that is in progress.

    Raises
    ------
    DescriptionError
        When there is no such array.
    """
    data: dict[str, Any] = {"name": volume.name, "drive": drive, "layout": _layout(volume, drive)}
    if controller := _controller(volume):
        data["controller"] = controller
    if volume.drive_cache is not None:
        data["drive_write_cache"] = volume.drive_cache
    return Array.parse(data, f"{printable(shorten(volume.name))} of {volume.program}")


def controller_name(volume: Volume) -> str | None:
    """Return the catalogue's name of the controller, where the array has it unchanged."""
    name = _controller_name(volume)
    return name if name is not None and _controller(volume) == _given(load_controller(name)) else None


def controller_has_cache(volume: Volume) -> bool:
    """Return whether the controller's own profile has a write cache."""
    name = _controller_name(volume)
    return name is not None and load_controller(name).write_cache is not None


def array_notes(volume: Volume) -> list[str]:
    """Return what the array leaves out of the record, or assumes."""
    notes = list(volume.notes)
    name = _controller_name(volume)
    if volume.controller and name is None:
        notes.append(f"the controller {volume.controller} is not in the catalogue: it costs no time here")
    if volume.write_back and not controller_has_cache(volume) and not volume.cache_bytes:
        rule = "writes end in the controller's cache, whose size is not shown"
        notes.append(f'{rule}: add its memory in words ("1GiB cache") or in the file, or they wait for the disks')
    if volume.write_back is False and controller_has_cache(volume):
        notes.append("its cache is set to write-through: it has no write cache here")
    if volume.read_ahead and not volume.is_md:
        notes.append("the controller reads ahead; how far is not shown, and left out (read_ahead of a controller)")
    if volume.running and volume.running.action != "recover" and _rebuild(volume) is None:
        notes.append("the pass in progress is left out: beside failed disks, or with far copies, it is not modeled")
    if volume.consistency == "journal":
        notes.append("it has a journal, whose drive is left out: name it with --log-device of the other commands")
    return notes


def _controller_name(volume: Volume) -> str | None:
    if volume.is_md:
        return "linux-md"
    whole = controller_named(volume.controller) if volume.controller else None
    if whole is not None:
        return whole
    # "PERC H730 Mini", "Smart Array P408i-a SR Gen10": one of the words is the model
    words = [word for word in volume.controller.split() if any(map(str.isdigit, word)) and not word.startswith("Gen")]
    return next(filter(None, map(controller_named, words)), None)


def _controller(volume: Volume) -> dict[str, Any] | None:
    name = _controller_name(volume)
    fields: dict[str, Any] = {} if name is None else dict(load_controller(name))
    if volume.write_back is False:
        fields["write_cache"] = None
    elif volume.write_back and not controller_has_cache(volume) and volume.cache_bytes:
        fields["write_cache"] = {"size_bytes": volume.cache_bytes}
    return {key: value for key, value in fields.items() if value is not None} or None


def _given(controller: Controller) -> dict[str, Any]:
    return {key: value for key, value in dict(controller).items() if value is not None}


def _layout(volume: Volume, drive: Drive) -> dict[str, Any]:
    level, n = LEVELS[volume.level], len(volume.members)
    fields: dict[str, Any] = {"level": volume.level, "disks": n}
    n_filled = sum(member.state == "rebuilding" for member in volume.members)
    known: dict[str, Any] = {
        "groups": volume.groups,
        "strip_bytes": volume.strip_bytes if volume.level not in ("raid1", "jbod") else None,
        "rotation": volume.rotation if volume.rotation != "left-symmetric" else None,
        "copies": volume.copies if volume.level == "raid10" and volume.copies != 2 else None,
        "arrangement": volume.arrangement if volume.arrangement != "near" else None,
        "failed": list(volume.failed),
        # what a disk is rebuilt onto is a spare until it is done, wherever it came from
        "spares": len(volume.spares) + n_filled,
        "rebuild": _rebuild(volume),
        "member_bytes": _member_bytes(volume, drive),
    }
    if volume.is_md and level.is_redundant:
        if volume.consistency in ("resync", "ppl"):
            known["consistency_policy"] = volume.consistency
        elif volume.bitmap_chunk_bytes:
            known["bitmap"] = {"chunk_bytes": volume.bitmap_chunk_bytes}
    return fields | {name: value for name, value in known.items() if value}


def _rebuild(volume: Volume) -> dict[str, Any] | None:
    filled = [place for place, member in enumerate(volume.members) if member.state == "rebuilding"]
    running = volume.running
    if filled:
        done = running.done_ratio if running and running.action == "recover" else 0.0
        return {"action": "recover", "disk": filled[0], "done_ratio": done}
    if running is None or running.action == "recover" or volume.failed or volume.arrangement == "far":
        return None
    return {"action": running.action, "done_ratio": running.done_ratio}


def _member_bytes(volume: Volume, drive: Drive) -> int | None:
    """Return what each disk gives to the array, where that is less than the whole disk."""
    if not volume.capacity_bytes:
        return None
    level, n = LEVELS[volume.level], len(volume.members)
    groups = volume.groups or level.default_groups or 1
    copies = n if volume.level == "raid1" else (volume.copies or 2) if volume.level in ("raid10", "raid1e") else 1
    n_data = (n - (level.n_parity or 0) * groups) / copies
    size = round(volume.capacity_bytes / n_data) // 4096 * 4096 if n_data > 0 else 0
    return size if 0 < size < _WHOLE * drive.capacity_bytes else None
