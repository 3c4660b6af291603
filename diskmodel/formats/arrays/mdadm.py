"""Arrays of Linux md: /proc/mdstat and mdadm --detail."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from diskmodel.formats.arrays.volume import Member, Pass, State, Volume, percent_of, size_bytes
from diskmodel.formats.faults import file_error

_LEVELS = {"linear": "jbod", "stripe": "raid0", "mirror": "raid1"}
_KNOWN = frozenset(("jbod", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10"))
#: md's numbers of the layouts of parity (`include/uapi/linux/raid/md_p.h`).
_ALGORITHMS = {0: "left-asymmetric", 1: "right-asymmetric", 2: "left-symmetric", 3: "right-symmetric"}
_ROTATING = ("raid5", "raid6")
_REDUNDANT = ("raid1", "raid4", "raid5", "raid6", "raid10")

_ARRAY = re.compile(r"(md[^\s:]{0,60}) : (active|inactive|broken)\b(.*)\Z")
_DEVICE = re.compile(r"(\S{1,60})\[(\d{1,5})\]((?:\([A-Z]\)){0,4})")
_STATUS = re.compile(r"\[(\d{1,5})/(\d{1,5})\] \[([U_]{1,4096})\]")
_PROGRESS = re.compile(
    r"\b(recovery|resync|check|repair|reshape)\s*=\s*(?:(\d{1,3}(?:\.\d)?)%|([A-Z]{4,10}))"
    r"(?:.{0,60}?finish=(\d{1,12}(?:\.\d)?)min)?(?:\s+speed=(\d{1,12})K/sec)?"
)
_COPIES = re.compile(r"(\d) (near|far|offset)-copies")
_COPIES_OF_DETAIL = re.compile(r"(near|far|offset)=(\d)")
_NO_RESHAPE = "a reshape is in progress and left out: the array is described as it is after it"


def is_mdstat(text: str) -> bool:
    """Whether a text is /proc/mdstat, or a part of it."""
    return re.search(r"^Personalities :|^md\S{0,60} : (in)?active\b", text, re.MULTILINE) is not None


def read_mdstat(text: str, source: str) -> list[Volume]:
    """Return the active arrays of /proc/mdstat."""
    blocks: list[list[str]] = []
    for line in text.split("\n"):
        if _ARRAY.match(line):
            blocks.append([line])
        elif line.startswith((" ", "\t")) and blocks:
            blocks[-1].append(line.strip())
        elif blocks and line.strip():
            blocks.append([])
    found = [_of_block(block, source) for block in blocks if block]
    volumes = [volume for volume in found if volume is not None]
    if not volumes:
        raise file_error(source, "is /proc/mdstat without an active array", "assemble the array first")
    return volumes


def _of_block(block: list[str], source: str) -> Volume | None:
    head = _ARRAY.match(block[0])
    if head is None or head[2] == "inactive":
        return None
    rest = re.sub(r"^(\s*\([a-z-]{1,30}\))+", "", head[3])
    words = rest.split()
    level = _level(words[0] if words else "", head[1], source)
    devices = [(name, int(number), flags) for name, number, flags in _DEVICE.findall(rest)]
    text = "\n".join(block[1:])
    status = _STATUS.search(text)
    working = [
        device for device in devices if "(S)" not in device[2] and "(F)" not in device[2] and "(J)" not in device[2]
    ]
    n = int(status[1]) if status else len(working)
    up = status[3] if status and len(status[3]) == n else "U" * n
    progress = _PROGRESS.search(text)
    is_recovering = progress is not None and progress[1] == "recovery"
    members, spares = _places(devices, up, is_recovering)
    chunk = re.search(r"\b(\d{1,9})k chunks?\b", text, re.IGNORECASE)
    copies = _COPIES.search(text)
    algorithm = re.search(r"\balgorithm (\d{1,2})\b", text)
    notes = _copies_notes(copies[2] if copies else "near", level)
    if progress is not None and progress[1] == "reshape":
        notes.append(_NO_RESHAPE)
    if any("(W)" in flags for _, _, flags in devices):
        notes.append("members marked write-mostly serve reads here, too")
    shown = Volume(
        name=head[1],
        program="cat /proc/mdstat",
        level=level,
        members=members,
        spares=spares,
        copies=n if level == "raid1" else int(copies[1]) if copies else 2 if level == "raid10" else None,
        arrangement="far" if copies and copies[2] == "far" else "near",
        strip_bytes=int(chunk[1]) * 1024 if chunk and int(chunk[1]) else None,
        capacity_bytes=_blocks(text),
        rotation=_rotation(level, int(algorithm[1]) if algorithm else None, notes),
        running=_running(progress, head[1], source),
        is_md=True,
        notes=tuple(notes),
    )
    return replace(shown, **_consistency(level, text, devices))


def _level(word: str, name: str, source: str) -> str:
    level = _LEVELS.get(word, word)
    if level not in _KNOWN:
        rule = f"has the level {word or '(none)'}, which is not modeled" if word != "container" else "is a container"
        fix = "give an array of RAID 0, 1, 4, 5, 6 or 10, or a linear one"
        raise file_error(source, f"{name} {rule}", fix)
    return level


def _places(
    devices: list[tuple[str, int, str]], up: str, is_recovering: bool
) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    """Return members in their places and spares: those that work are in the order of their numbers."""
    plain = sorted((number, name) for name, number, flags in devices if not set("SFJ") & set(flags))
    failed = [name for name, _, flags in devices if "(F)" in flags]
    spares = [Member(name, "spare") for name, _, flags in devices if "(S)" in flags]
    n_down = up.count("_")
    # what a recovery fills is listed as a member, behind those that work, and its place is down
    n_filled = min(max(len(plain) - up.count("U"), 0), n_down) if is_recovering or n_down else 0
    filled = [name for _, name in plain[len(plain) - n_filled :]] if n_filled else []
    working = iter([name for _, name in plain if name not in filled])
    members: list[Member] = []
    for one in up:
        if one == "U":
            members.append(Member(next(working, "")))
        elif filled:
            members.append(Member(filled.pop(0), "rebuilding"))
        elif failed:
            members.append(Member(failed.pop(0), "failed"))
        else:
            members.append(Member("", "missing"))
    return tuple(members), tuple(spares)


def _blocks(text: str) -> int | None:
    found = re.search(r"^(\d{1,16}) blocks\b", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _copies_notes(kind: str, level: str) -> list[str]:
    if kind == "offset" and level == "raid10":
        return ["copies are arranged as offset, which is not modeled: near is taken"]
    return []


def _rotation(level: str, number: int | None, notes: list[str]) -> str:
    if level not in _ROTATING or number is None:
        return ""
    if number not in _ALGORITHMS:
        notes.append(
            f"its parity is laid out as md's algorithm {number}, which is not modeled: left-symmetric is taken"
        )
    return _ALGORITHMS.get(number, "")


def _running(found: re.Match[str] | None, name: str, source: str) -> Pass | None:
    if found is None or found[1] == "reshape":
        return None
    if found[2] and float(found[2]) > 100:
        raise file_error(source, f"{name}: {found[1]} = {found[2]}% is beyond 100 %", "record /proc/mdstat again")
    action = {"recovery": "recover", "resync": "resync", "check": "check", "repair": "check"}[found[1]]
    return Pass(
        action,  # type: ignore[arg-type]
        float(found[2]) / 100 if found[2] else 0.0,
        int(found[5]) * 1024 if found[5] else None,
        float(found[4]) / 60 if found[4] else None,
    )


def _consistency(level: str, text: str, devices: list[tuple[str, int, str]]) -> dict[str, Any]:
    if level not in _REDUNDANT:
        return {}
    if any("(J)" in flags for _, _, flags in devices):
        return {"consistency": "journal"}
    chunk = re.search(r"^bitmap:.{0,80}?(\d{1,12})(KB|B) chunk", text, re.MULTILINE)
    if chunk:
        return {"consistency": "bitmap", "bitmap_chunk_bytes": int(chunk[1]) * (1024 if chunk[2] == "KB" else 1)}
    return {"consistency": "ppl" if re.search(r"\bppl\b", text) else "resync"}


# ---------------------------------------------------------------- mdadm --detail

_KEY = re.compile(r" {1,30}([A-Z][A-Za-z ]{2,30}?) : (.{0,200})\Z")
_ROW = re.compile(
    r"\s{1,10}(\d{1,5}|-)\s+\d{1,5}\s+\d{1,5}\s+(\d{1,5}|-)\s+(\S.{0,80}?)(?:\s{2,}(/dev/\S{1,80}))?\s*\Z"
)


def is_detail(text: str) -> bool:
    """Whether a text is mdadm --detail."""
    return (
        re.search(r"^ {1,30}Raid Level : \S", text, re.MULTILINE) is not None
        and re.search(r"^ {1,30}(Raid Devices|State|Array Size) : ", text, re.MULTILINE) is not None
    )


def read_detail(text: str, source: str) -> list[Volume]:
    """Return the arrays of outputs of mdadm --detail, one behind the other."""
    blocks: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if re.match(r"/dev/\S{1,80}:\s*\Z", line):
            blocks.append((line.strip().rstrip(":").removeprefix("/dev/"), []))
        elif blocks:
            blocks[-1][1].append(line)
        elif line.strip():
            blocks.append(("md", [line]))
    return [_of_detail(name, lines, source) for name, lines in blocks]


def _of_detail(name: str, lines: list[str], source: str) -> Volume:
    keys = {found[1].strip(): found[2].strip() for line in lines if (found := _KEY.match(line))}
    level = _level(keys.get("Raid Level", ""), name, source)
    raid_devices = keys.get("Raid Devices", "")
    if not raid_devices.isdecimal() or not 1 <= int(raid_devices) <= 10_000:
        raise file_error(source, f"{name} does not show Raid Devices", "give the whole output of mdadm --detail")
    n = int(raid_devices)
    members, spares = _of_rows(lines, n, keys)
    layout = keys.get("Layout", "")
    copies = _COPIES_OF_DETAIL.search(layout)
    notes = _copies_notes(copies[1] if copies else "near", level)
    rotation = layout if layout in _ALGORITHMS.values() and level in _ROTATING else ""
    if layout and level in _ROTATING and not rotation:
        notes.append(f"its parity is laid out as {layout}, which is not modeled: left-symmetric is taken")
    if "Reshape Status" in keys:
        notes.append(_NO_RESHAPE)
    policy = keys.get("Consistency Policy", "")
    known: dict[str, Any] = {"consistency": policy} if policy in ("bitmap", "resync", "journal", "ppl") else {}
    if not known and "Intent Bitmap" in keys:
        known = {"consistency": "bitmap"}
    size = size_bytes(keys.get("Array Size", "").partition(" ")[0] + "K")
    used = size_bytes(keys.get("Used Dev Size", "").partition(" ")[0] + "K")
    shown = Volume(
        name=name,
        program="mdadm --detail",
        level=level,
        members=members,
        spares=spares,
        copies=n if level == "raid1" else int(copies[2]) if copies else 2 if level == "raid10" else None,
        arrangement="far" if copies and copies[1] == "far" else "near",
        strip_bytes=size_bytes(keys.get("Chunk Size", "")),
        capacity_bytes=size or (used * n if used and level == "jbod" else None),
        rotation=rotation,
        running=_running_of_detail(keys),
        is_md=True,
        notes=tuple(notes),
    )
    return replace(shown, **known)


def _of_rows(lines: list[str], n: int, keys: dict[str, str]) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    places: dict[int, Member] = {}
    spares, faulty = [], []
    has_rows = False
    for line in lines:
        found = _ROW.match(line)
        if found is None:
            continue
        has_rows = True
        device, state = (found[4] or "").removeprefix("/dev/"), found[3]
        if found[2] != "-" and int(found[2]) < n:
            kind: State = "missing" if "removed" in state else "rebuilding" if "rebuilding" in state else "working"
            kind = "failed" if "faulty" in state else kind
            places[int(found[2])] = Member(device, kind)
        elif "spare" in state:
            spares.append(Member(device, "spare"))
        elif "faulty" in state:
            faulty.append(device)
    if not has_rows:
        working = keys.get("Active Devices", keys.get("Raid Devices", ""))
        n_up = int(working) if working.isdecimal() else n
        return tuple(Member("", "working" if place < n_up else "missing") for place in range(n)), ()
    members = [places.get(place, Member("", "missing")) for place in range(n)]
    for place, member in enumerate(members):
        if member.state == "missing" and faulty:
            members[place] = Member(faulty.pop(0), "failed")
    return tuple(members), tuple(spares)


def _running_of_detail(keys: dict[str, str]) -> Pass | None:
    for name, action in (("Rebuild", "recover"), ("Resync", "resync"), ("Check", "check")):
        if f"{name} Status" in keys:
            return Pass(action, percent_of(keys[f"{name} Status"]) or 0.0)  # type: ignore[arg-type]
    return None
