"""Virtual drives of MegaCli (`-LDInfo -Lall -aALL`, `-LdPdInfo -aALL`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskmodel.formats.arrays.volume import Member, State, Volume, bus_of, in_places, size_bytes
from diskmodel.formats.faults import file_error

_STATES: tuple[tuple[str, State], ...] = (
    ("online", "working"),
    ("rebuild", "rebuilding"),
    ("hotspare", "spare"),
    ("copyback", "working"),
)
_KEY = re.compile(r"\s{0,20}([A-Za-z][^:]{0,50}?)\s{0,30}:\s{0,3}(.{0,300})\Z")
_RAID = re.compile(r"Primary-(\d{1,2}),\s{0,3}Secondary-(\d)")


@dataclass
class _Drive:
    keys: dict[str, str] = field(default_factory=dict)


@dataclass
class _Found:
    name: str
    adapter: str
    keys: dict[str, str] = field(default_factory=dict)
    drives: list[_Drive] = field(default_factory=list)


def is_megacli(text: str) -> bool:
    """Whether a text is output of MegaCli about virtual drives."""
    pattern = r"^Adapter \d{1,3} -- Virtual Drive|^(CacheCade )?Virtual (Drive|Disk): \d{1,4} \(Target Id"
    return re.search(pattern, text, re.MULTILINE) is not None


def read_megacli(text: str, source: str) -> list[Volume]:
    """Return the virtual drives of all adapters."""
    found: list[_Found] = []
    adapter, product = "0", ""
    for line in text.split("\n"):
        if started := re.match(r"Adapter #?(\d{1,3})\b", line):
            adapter = started[1]
        if volume := re.match(r"Virtual (?:Drive|Disk): (\d{1,4})\b", line):
            found.append(_Found(f"VD {volume[1]}", adapter))
        elif re.match(r"\s{0,8}PD: \d{1,4} Information", line) and found:
            found[-1].drives.append(_Drive())
        elif key := _KEY.match(line):
            name, value = key[1].strip(), key[2].strip()
            if name in ("Product Name", "Adapter Name"):
                product = value
            elif (
                found
                and name == "Enclosure Device ID"
                and not (found[-1].drives and "Enclosure Device ID" not in found[-1].drives[-1].keys)
            ):
                found[-1].drives.append(_Drive({name: value}))
            elif found:
                keys = found[-1].drives[-1].keys if found[-1].drives else found[-1].keys
                keys.setdefault(name, value)
    if not found:
        raise file_error(source, "is output of MegaCli without a virtual drive", "give that of -LdPdInfo -aALL")
    return [_volume(one, product, source) for one in found]


def _volume(found: _Found, product: str, source: str) -> Volume:
    keys = found.keys
    raid = _RAID.search(keys.get("RAID Level", ""))
    counts = {name: _number(keys.get(name, "")) for name in ("Number Of Drives", "Number Of Drives per span")}
    spans = _number(keys.get("Span Depth", "")) or _number(keys.get("Number of Spans", "")) or 1
    n = counts["Number Of Drives"] or (counts["Number Of Drives per span"] or 0) * spans
    if raid is None or raid[1] not in ("0", "1", "5", "6"):
        rule = f"{found.name} has the level {keys.get('RAID Level', '(none)')!r}, which is not modeled"
        raise file_error(source, rule, "describe it in words")
    if "Number Of Drives per span" in keys and counts["Number Of Drives"] is None:
        n = (counts["Number Of Drives per span"] or 0) * spans
    elif spans > 1 and counts["Number Of Drives"] and len(found.drives) == counts["Number Of Drives"] * spans:
        n = counts["Number Of Drives"] * spans
    members = [_member(drive.keys) for drive in found.drives]
    spares = tuple(member for member in members if member.state == "spare")
    used = [member for member in members if member.state != "spare"]
    if not used and not n:
        raise file_error(source, f"shows no drives of {found.name}", "give the output of -LdPdInfo -aALL")
    if not used:
        used = [Member("") for _ in range(n)]
    policy = keys.get("Current Cache Policy", keys.get("Default Cache Policy", ""))
    level = f"raid{raid[1]}{'0' if spans > 1 or raid[2] == '3' else ''}".replace("raid00", "raid0")
    level = "raid10" if level == "raid1" and max(n, len(used)) > 2 else level
    return Volume(
        name=found.name,
        program="MegaCli",
        level=level,
        members=in_places(used, n),
        spares=spares,
        groups=spans if level in ("raid50", "raid60") else None,
        strip_bytes=size_bytes(keys.get("Strip Size", keys.get("Stripe Size", ""))),
        capacity_bytes=size_bytes(keys.get("Size", "")),
        controller=product,
        cache_bytes=size_bytes(keys.get("Memory Size", "")),
        write_back=None if not policy else policy.startswith("WriteBack"),
        read_ahead=None if not policy else "ReadAheadNone" not in policy,
        drive_cache=_switch(keys),
    )


def _number(text: str) -> int | None:
    found = re.match(r"(\d{1,4})\b", text)
    return int(found[1]) if found else None


def _switch(keys: Mapping[str, str]) -> bool | None:
    text = keys.get("Disk Cache Policy", "").lower()
    return True if text.startswith("enabled") else False if text.startswith("disabled") else None


def _member(keys: Mapping[str, str]) -> Member:
    place = ":".join(keys[name] for name in ("Enclosure Device ID", "Slot Number") if name in keys)
    said = keys.get("Firmware state", "").lower()
    state: State = next((kind for word, kind in _STATES if said.startswith(word)), "failed" if said else "working")
    medium = keys.get("Media Type", "").lower()
    return Member(
        device=place,
        state=state,
        model=_model(keys.get("Inquiry Data", "")),
        capacity_bytes=size_bytes(keys.get("Raw Size", "")),
        is_rotational=True if "hard disk" in medium else False if "solid state" in medium else None,
        bus=bus_of(keys.get("PD Type", "")),
    )


def _model(inquiry: str) -> str:
    """Return the model in an answer to an inquiry, without the serial number before or behind it."""
    words = inquiry.split()
    if len(words) > 1 and words[0] in (
        "SEAGATE",
        "TOSHIBA",
        "HGST",
        "HITACHI",
        "WD",
        "HP",
        "IBM",
        "FUJITSU",
        "SAMSUNG",
    ):
        return f"{words[0]} {words[1][:16]}"
    likely = [
        word for word in words if re.fullmatch(r"(ST|WD|MZ|HU|MG|MB|EG|INTEL|SSDS|MTFD|TOSHIBA)[A-Z0-9-]{4,}", word)
    ]
    return likely[-1] if likely else " ".join(words[1:2])
