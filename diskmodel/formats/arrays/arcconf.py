"""Logical devices of arcconf (`getconfig 1`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskmodel.formats.arrays.volume import Member, State, Volume, bus_of, in_places, size_bytes
from diskmodel.formats.faults import file_error

_LOGICAL = re.compile(r"Logical [Dd]evice [Nn]umber (\d{1,4})\s*\Z")
_DEVICE = re.compile(r"\s{1,12}Device #(\d{1,4})\s*\Z")
_KEY = re.compile(r"\s{1,20}([A-Z][^:]{1,60}?)\s{0,60}:\s{1,3}(.{0,200})\Z")
_PLACE = re.compile(r"Enclosure[: ]\s?(\d{1,4}),\s?Slot[: ]\s?(\d{1,4})")
_LEVELS = {
    "0": "raid0", "1": "raid1", "10": "raid10", "1e": "raid1e", "5": "raid5", "50": "raid50", "6": "raid6",
    "60": "raid60", "simple_volume": "jbod", "volume": "jbod", "6_reed-solomon": "raid6",
}  # fmt: skip


@dataclass
class _Part:
    name: str
    keys: dict[str, str] = field(default_factory=dict)
    segments: list[tuple[str, str]] = field(default_factory=list)


def is_arcconf(text: str) -> bool:
    """Whether a text is output of arcconf."""
    return re.search(r"^Controllers found: \d|^Logical [Dd]evice [Nn]umber \d", text, re.MULTILINE) is not None


def read_arcconf(text: str, source: str) -> list[Volume]:
    """Return the logical devices of a controller."""
    volumes: list[_Part] = []
    drives: list[_Part] = []
    controller = _Part("controller")
    now = controller
    for line in text.split("\n"):
        if logical := _LOGICAL.match(line):
            now = _Part(logical[1])
            volumes.append(now)
        elif device := _DEVICE.match(line):
            now = _Part(device[1])
            drives.append(now)
        elif re.match(r"\s{1,12}Device is an? ", line):
            now.keys["kind"] = line.strip()
        elif key := _KEY.match(line):
            if re.match(r"(Group \d{1,4}, )?Segment \d{1,4}\Z", key[1]):
                now.segments.append((key[1], key[2].strip()))
            else:
                now.keys.setdefault(key[1].strip(), key[2].strip())
    if not volumes:
        fix = "give the whole output of: arcconf getconfig 1"
        raise file_error(source, "is output of arcconf without a logical device", fix)
    disks = [drive for drive in drives if "enclosure" not in drive.keys.get("kind", "").lower()]
    return [_volume(one, controller.keys, disks, source) for one in volumes]


def _volume(one: _Part, of_controller: Mapping[str, str], drives: list[_Part], source: str) -> Volume:
    name = f"Logical device {one.name}"
    said = one.keys.get("RAID level", "").lower().split(" ")[0]
    level = _LEVELS.get(said)
    if level is None:
        rule = f"{name} has the level {said or '(none)'}, which is not modeled"
        raise file_error(source, rule, "describe it in words")
    members = [_of_segment(text, drives) for _, text in one.segments]
    if not members and len(drives) and not one.segments:
        members = [_member(drive) for drive in drives if _state(drive) in ("working", "rebuilding", "failed")]
    if not members:
        raise file_error(source, f"lists no disk of {name}", "give the whole output of: arcconf getconfig 1")
    groups = {title.partition(",")[0] for title, _ in one.segments if title.startswith("Group")}
    write, read = _cache(one.keys, "write"), _cache(one.keys, "read")
    return Volume(
        name=name,
        program="arcconf",
        level=level,
        members=in_places(members, len(members)),
        spares=tuple(_member(drive) for drive in drives if _state(drive) == "spare"),
        groups=len(groups) if level in ("raid50", "raid60") and groups else None,
        strip_bytes=size_bytes(one.keys.get("Stripe-unit size", one.keys.get("Strip Size", ""))),
        capacity_bytes=size_bytes(one.keys.get("Size", "")),
        controller=of_controller.get("Controller Model", ""),
        cache_bytes=size_bytes(of_controller.get("Installed memory", of_controller.get("Cache Memory", ""))),
        write_back=None if not write else "through" not in write and not write.startswith(("disabled", "off")),
        read_ahead=None if not read else read.startswith(("enabled", "on")),
        drive_cache=_drive_cache(drives),
    )


def _cache(keys: Mapping[str, str], kind: str) -> str:
    """Return the state of a cache, or how it is set where the state is not shown."""
    lowered = {key.lower(): value.lower() for key, value in keys.items()}
    names = (f"{kind}-cache {word}" for word in ("status", "mode", "setting"))
    return next((lowered[name] for name in names if name in lowered), "")


def _of_segment(text: str, drives: list[_Part]) -> Member:
    word = text.partition(" ")[0].lower()
    place = _PLACE.search(text)
    serial = text.split()[-1] if text.split() else ""
    for drive in drives:
        at = _PLACE.search(drive.keys.get("Reported Location", ""))
        is_there = place is not None and at is not None and place.groups() == at.groups()
        if is_there or (place is None and serial and drive.keys.get("Serial number", "") == serial):
            found = _member(drive)
            break
    else:
        found = Member(f"{place[1]}:{place[2]}" if place else "")
    state: State = "working"
    if word.startswith("missing"):
        state = "missing"
    elif word.startswith("rebuild"):
        state = "rebuilding"
    elif word.startswith(("fail", "inconsistent", "offline")):
        state = "failed"
    return Member(found.device, state, found.model, found.capacity_bytes, found.is_rotational, found.rpm, found.bus)


def _state(drive: _Part) -> State | None:
    text = drive.keys.get("State", "").lower()
    if "spare" in text:
        return "spare"
    for word, state in (("rebuild", "rebuilding"), ("online", "working"), ("optimal", "working"), ("fail", "failed")):
        if text.startswith(word):
            return state  # type: ignore[return-value]
    return None


def _member(drive: _Part) -> Member:
    keys = drive.keys
    rpm = re.match(r"(\d{3,6})\b", keys.get("Rotational Speed", ""))
    ssd = keys.get("SSD", "").lower()
    place = _PLACE.search(keys.get("Reported Location", ""))
    return Member(
        device=f"{place[1]}:{place[2]}" if place else drive.name,
        state=_state(drive) or "working",
        model=keys.get("Model", ""),
        capacity_bytes=size_bytes(keys.get("Size", keys.get("Total Size", ""))),
        is_rotational=False if ssd == "yes" else True if ssd == "no" or rpm else None,
        rpm=int(rpm[1]) if rpm else None,
        bus=bus_of(keys.get("Transfer Speed", keys.get("Interface Type", ""))),
    )


def _drive_cache(drives: list[_Part]) -> bool | None:
    """Return whether the drives' own caches are on; None where they differ or do not say."""
    said = {drive.keys["Write Cache"].lower().startswith("enabled") for drive in drives if "Write Cache" in drive.keys}
    return said.pop() if len(said) == 1 else None
