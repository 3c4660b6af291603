"""Logical drives of ssacli and hpssacli (`ctrl slot=0 show config [detail]`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from diskmodel.formats.arrays.volume import Member, Pass, State, Volume, bus_of, percent_of, size_bytes
from diskmodel.formats.faults import file_error

_CONTROLLER = re.compile(
    r"((?:HPE? )?Smart (?:Array|HBA) .{1,40}?|HPE? (?:NVMe|SR|MR)\S{0,10} .{1,40}?) in Slot \S{1,10}"
)
_ARRAY = re.compile(r"\s{0,12}(?:[Aa]rray:?) ([A-Z]{1,3})\b(.{0,80})\Z")
_LOGICAL = re.compile(r"\s{1,16}logicaldrive (\d{1,4}) \(([^,()]{1,30}), RAID ([^,()]{1,20}), ([^()]{1,80})\)")
_LOGICAL_OF_DETAIL = re.compile(r"\s{1,16}Logical Drive: (\d{1,4})\s*\Z")
_PHYSICAL = re.compile(r"\s{1,16}physicaldrive ([\w:-]{1,20})(?: \((.{1,200})\))?\s*\Z")
_KEY = re.compile(r"\s{1,20}([A-Z][A-Za-z0-9/ ]{1,40}): {1,4}(.{0,120})\Z")
_LEVELS = {
    "0": "raid0", "1": "raid1", "1+0": "raid10", "10": "raid10", "1adm": "raid1", "1(adm)": "raid1", "5": "raid5",
    "50": "raid50", "5+0": "raid50", "6": "raid6", "adg": "raid6", "6(adg)": "raid6", "60": "raid60", "6+0": "raid60",
}  # fmt: skip


@dataclass
class _Volume:
    name: str
    level: str = ""
    size: str = ""
    keys: dict[str, str] = field(default_factory=dict)


@dataclass
class _Array:
    name: str
    volumes: list[_Volume] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)


def is_ssacli(text: str) -> bool:
    """Whether a text is output of ssacli or hpssacli."""
    pattern = r"^(Smart|HPE?) .{0,80}\bin Slot \d|^ {1,16}logicaldrive \d{1,4} \("
    return re.search(pattern, text, re.MULTILINE) is not None


def read_ssacli(text: str, source: str) -> list[Volume]:
    """Return the logical drives of all controllers."""
    found: list[Volume] = []
    controller, keys = "", dict[str, str]()
    array: _Array | None = None
    place: dict[str, str] = keys
    for line in text.split("\n"):
        if started := _CONTROLLER.match(line):
            found += _volumes(array, controller, keys, source)
            controller, keys, array = started[1].strip(), {}, None
            place = keys
        elif named := _ARRAY.match(line):
            found += _volumes(array, controller, keys, source)
            array, place = _Array(named[1]), {}
        elif re.match(r"\s{0,12}(Unassigned|SEP |Enclosure )", line):
            found += _volumes(array, controller, keys, source)
            array, place = None, {}
        elif array is not None and (logical := _LOGICAL.match(line)):
            array.volumes.append(_Volume(logical[1], logical[3], logical[2], {"Status": logical[4]}))
        elif array is not None and (logical := _LOGICAL_OF_DETAIL.match(line)):
            array.volumes.append(_Volume(logical[1]))
            place = array.volumes[-1].keys
        elif array is not None and (drive := _PHYSICAL.match(line)):
            if drive[2] is not None and not _is_mention(line, array, drive[1]):
                array.members.append(_of_line(drive[1], drive[2]))
            elif drive[2] is None:
                array.members.append(Member(drive[1]))
                place = {}
                _pending(array, place)
        elif key := _KEY.match(line):
            place.setdefault(key[1].strip(), key[2].strip())
            if array is not None and place.get("_is_drive"):
                array.members[-1] = _of_keys(array.members[-1].device, place)
    found += _volumes(array, controller, keys, source)
    if not found:
        fix = "give the output of: ssacli ctrl all show config detail"
        raise file_error(source, "is output of ssacli without a logical drive", fix)
    return found


def _pending(array: _Array, place: dict[str, str]) -> None:
    place["_is_drive"] = "yes"


def _is_mention(line: str, array: _Array, device: str) -> bool:
    """Whether a drive is named again, as a part of a mirror group in the details of a logical drive."""
    return any(member.device == device for member in array.members)


def _of_line(device: str, text: str) -> Member:
    parts = [part.strip() for part in text.split(",")]
    kind = next((part for part in parts if re.search(r"\b(HDD|SSD)\b|^(SAS|SATA|NVMe)$", part)), "")
    size = next((size_bytes(part, decimal=True) for part in parts if re.fullmatch(r"[\d.]+ [KMGTP]B", part)), None)
    words = " ".join(parts[1:]).lower()
    state: State = "working"
    if "spare" in words:
        state = "spare"
    elif "rebuild" in words:
        state = "rebuilding"
    elif "fail" in words.replace("predictive failure", ""):
        state = "failed"
    is_rotational = True if "HDD" in kind else False if "SSD" in kind or "Solid State" in kind else None
    return Member(device, state, "", size, is_rotational, None, bus_of(kind))


def _of_keys(device: str, keys: dict[str, str]) -> Member:
    status, kind = keys.get("Status", "").lower(), keys.get("Drive Type", "").lower()
    state: State = "spare" if "spare" in kind else "working"
    if "rebuild" in status:
        state = "rebuilding"
    elif "fail" in status.replace("predictive failure", ""):
        state = "failed"
    rpm = re.match(r"(\d{3,6})\b", keys.get("Rotational Speed", ""))
    interface = keys.get("Interface Type", "")
    is_rotational = True if rpm else False if "solid state" in interface.lower() or "nvm" in interface.lower() else None
    model = " ".join(keys.get("Model", "").split())
    size = size_bytes(keys.get("Size", ""), decimal=True)
    return Member(device, state, model, size, is_rotational, int(rpm[1]) if rpm else None, bus_of(interface))


def _volumes(array: _Array | None, controller: str, keys: dict[str, str], source: str) -> list[Volume]:
    if array is None:
        return []
    return [_volume(one, array, controller, keys, source) for one in array.volumes]


def _volume(one: _Volume, array: _Array, controller: str, keys: dict[str, str], source: str) -> Volume:
    name = f"logicaldrive {one.name}"
    said = (one.level or one.keys.get("Fault Tolerance", "")).removeprefix("RAID").lower().replace(" ", "")
    level = _LEVELS.get(said)
    if level is None:
        rule = f"{name} has the level {said or '(none)'}, which is not modeled"
        raise file_error(source, rule, "describe it in words")
    members = [member for member in array.members if member.state != "spare"]
    spares = tuple(member for member in array.members if member.state == "spare")
    status = one.keys.get("Status", "")
    running = None
    if "recover" in status.lower() and "complete" in status.lower():
        running = Pass("recover", percent_of(status) or 0.0)
        if not any(member.is_failed for member in members) and members:
            members[-1] = replace(members[-1], state="rebuilding")
    caching = one.keys.get("Caching", "").lower()
    notes = []
    if len(array.volumes) > 1:
        notes.append(
            f"array {array.name} holds {len(array.volumes)} logical drives on the same disks: the others are left out"
        )
    ratio = re.search(r"(\d{1,3})% Read", keys.get("Cache Ratio", ""))
    size = size_bytes(keys.get("Total Cache Size", ""))
    groups = re.match(r"(\d{1,3})\b", one.keys.get("Number of Parity Groups", one.keys.get("Parity Groups", "")))
    return Volume(
        name=name,
        program="ssacli",
        level=level,
        members=tuple(members),
        spares=spares,
        groups=int(groups[1]) if groups and level in ("raid50", "raid60") else None,
        copies=3 if "adm" in said else None,
        strip_bytes=size_bytes(one.keys.get("Strip Size", "")),
        capacity_bytes=size_bytes(one.size or one.keys.get("Size", "")),
        running=running,
        controller=controller,
        cache_bytes=round(size * (1 - int(ratio[1]) / 100)) >> 20 << 20 if size and ratio else size,
        write_back=True if caching.startswith("enabled") else False if caching.startswith("disabled") else None,
        drive_cache=_switch(keys.get("Drive Write Cache", "")),
        notes=tuple(notes),
    )


def _switch(text: str) -> bool | None:
    lowered = text.lower()
    return True if lowered.startswith("enabled") else False if lowered.startswith("disabled") else None
