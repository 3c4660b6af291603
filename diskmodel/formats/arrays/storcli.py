"""Virtual drives of storcli and perccli, as text or JSON (`/c0 show all`, `/c0/vall show all`, `… J`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from diskmodel.formats.arrays.volume import Member, State, Volume, bus_of, in_places, size_bytes
from diskmodel.formats.faults import file_error
from diskmodel.limits import parse_json

_MISSING = "give the output of /c0 show all and of /c0/vall show all, which list the drives of each"
_STATES: Mapping[str, State] = {
    "Onln": "working", "Optl": "working", "Conf": "working", "Cpybck": "working", "CBShld": "working",
    "Rbld": "rebuilding", "Offln": "failed", "UBad": "failed", "Failed": "failed", "Msng": "missing",
}  # fmt: skip
_SPARES = ("GHS", "DHS")


@dataclass
class _Controller:
    """Rows by the columns' names, and what is set of each virtual drive."""

    volumes: list[Mapping[str, str]] = field(default_factory=list)
    drives: list[Mapping[str, str]] = field(default_factory=list)
    topology: list[Mapping[str, str]] = field(default_factory=list)
    of_volume: dict[str, list[Mapping[str, str]]] = field(default_factory=dict)
    properties: dict[str, dict[str, str]] = field(default_factory=dict)


def is_storcli(text: str) -> bool:
    """Whether a text is output of storcli or perccli."""
    if text.lstrip().startswith("{"):
        return re.search(r'"CLI Version"|"Command Status"', text) is not None and '"Controllers"' in text
    pattern = r"^CLI Version = [\s\S]{0,2000}^(Controller|Status) = |^(VD LIST|Virtual Drives|PD LIST|DG/VD) ?[:=]"
    return re.search(pattern, text, re.MULTILINE) is not None or _VOLUMES.search(text) is not None


_VOLUMES = re.compile(r"^DG/VD +TYPE +State ", re.MULTILINE)
_SECTION = re.compile(r"(?:/c\d{1,3})?(/?[A-Za-z][^=|]{0,60}?) ?:\s*\Z")
_PROPERTY = re.compile(r"([A-Za-z][^=]{0,60}?) = (.{0,200})\Z")


def read_storcli(text: str, source: str) -> list[Volume]:
    """Return the virtual drives of all controllers."""
    of_all = list(_of_json(text, source) if text.lstrip().startswith("{") else _of_text(text))
    found = [_volume(row, controller, source) for controller in of_all for row in controller.volumes]
    if not found:
        raise file_error(source, "is output of storcli or perccli without a virtual drive", _MISSING)
    return found


def _of_text(text: str) -> Iterator[_Controller]:
    lines = text.split("\n")
    now, section = _Controller(), ""
    # a table is its columns between two rules, its rows, and a third rule
    columns: list[str] = []
    n_rules = 0
    for number, line in enumerate(lines):
        if re.match(r"Controller = \d", line) and now.volumes:
            yield now
            now = _Controller()
        if re.match(r"-{10,}\s*\Z", line):
            n_rules = (n_rules + 1) % 3
            columns = lines[number - 1].split() if n_rules == 2 else []
            continue
        if columns and line.strip():
            _file_row(now, section, _cells(line, columns))
            continue
        if found := _PROPERTY.match(line.strip()):
            name = section or "controller"
            now.properties.setdefault(name, {}).setdefault(found[1].strip(), found[2].strip())
        elif titled := _SECTION.match(line.strip()):
            section = titled[0].strip().rstrip(":").strip()
            n_rules, columns = 0, []
    yield now


def _cells(line: str, columns: list[str]) -> dict[str, str]:
    """Return a row by its columns: a size is two words, and a model may be several, or cut."""
    values: list[str] = []
    for word in line.split():
        if values and re.fullmatch(r"[KMGTP]?B", word) and re.fullmatch(r"[\d.]+", values[-1]):
            values[-1] += f" {word}"
        else:
            values.append(word)
    extra = len(values) - len(columns)
    name = next((place for place, column in enumerate(columns) if column in ("Model", "Name")), None)
    if extra > 0 and name is not None:
        values[name : name + extra + 1] = [" ".join(values[name : name + extra + 1])]
    return dict(zip(columns, values, strict=False))


def _file_row(controller: _Controller, section: str, row: Mapping[str, str]) -> None:
    if "DG/VD" in row:
        controller.volumes.append(row)
    elif "EID:Slt" in row:
        if of_volume := re.search(r"PDs for VD (\d{1,4})", section):
            controller.of_volume.setdefault(of_volume[1], []).append(row)
        else:
            controller.drives.append(row)
    elif "Arr" in row and "Row" in row:
        controller.topology.append(row)


def _of_json(text: str, source: str) -> Iterator[_Controller]:
    try:
        document = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise file_error(source, f"is not valid JSON: {error}", "was it cut short?") from None
    listed = document.get("Controllers") if isinstance(document, Mapping) else None
    for one in listed if isinstance(listed, list) else []:
        data = one.get("Response Data") if isinstance(one, Mapping) else None
        if not isinstance(data, Mapping):
            continue
        now = _Controller()
        _walk(now, "controller", data)
        yield now


def _walk(controller: _Controller, title: str, data: Mapping[str, object]) -> None:
    for name, value in data.items():
        if isinstance(value, Mapping):
            _walk(controller, str(name), value)
        elif isinstance(value, list):
            for row in value:
                if isinstance(row, Mapping):
                    cells = {str(key): str(cell).strip() for key, cell in row.items()}
                    _file_row(controller, str(name), cells)
        else:
            controller.properties.setdefault(title, {}).setdefault(str(name), str(value).strip())


def _volume(row: Mapping[str, str], controller: _Controller, source: str) -> Volume:
    group, _, number = row["DG/VD"].partition("/")
    name = f"VD {number}" if number else f"VD {group}"
    level, spans = _level(row.get("TYPE", ""), name, source)
    own = controller.properties.get(f"VD{number} Properties", {})
    rows = _rows_of(controller, group, number)
    spans = _spans(controller, group, own) or spans
    members = _members(controller, group, rows)
    if not members:
        raise file_error(source, f"lists no drive of {name}", _MISSING)
    per_span = own.get("Number of Drives Per Span", "")
    expected = int(per_span) * max(spans or 1, 1) if per_span.isdecimal() and int(per_span) < 1000 else 0
    of_all = {key: value for part in controller.properties.values() for key, value in part.items()}
    cache = row.get("Cache", "")
    found = Volume(
        name=name,
        program="storcli or perccli",
        level="raid10" if level == "raid1" and (spans or 1) > 1 else level,
        members=in_places(members, expected),
        spares=_spares(controller, group),
        groups=spans if level in ("raid50", "raid60") else None,
        strip_bytes=size_bytes(own.get("Strip Size", "")),
        capacity_bytes=size_bytes(row.get("Size", "")),
        controller=of_all.get("Product Name", of_all.get("Model", "")),
        cache_bytes=size_bytes(of_all.get("On Board Memory Size", "")),
        write_back=True if "WB" in cache else False if "WT" in cache else None,
        read_ahead=None if not cache else not cache.startswith("NR"),
        drive_cache=_switch(own.get("Disk Cache Policy", "")),
    )
    return found


def _level(text: str, name: str, source: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(?:c?RAID|R)(\d{1,2})", text, re.IGNORECASE)
    if found is None or found[1] not in ("0", "1", "5", "6", "00", "10", "50", "60"):
        raise file_error(
            source, f"{name} has the type {text or '(none)'}, which is not modeled", "describe it in words"
        )
    return f"raid{'0' if found[1] == '00' else found[1]}", None


def _rows_of(controller: _Controller, group: str, number: str) -> list[Mapping[str, str]]:
    listed = controller.of_volume.get(number) or [row for row in controller.drives if row.get("DG") == group]
    return list(listed)


def _spans(controller: _Controller, group: str, own: Mapping[str, str]) -> int | None:
    depth = own.get("Span Depth", "")
    if depth.isdecimal() and 1 <= int(depth) <= 64:
        return int(depth)
    arrays = {row.get("Arr") for row in controller.topology if row.get("DG") == group} - {"-", None}
    return len(arrays) or None


def _members(controller: _Controller, group: str, rows: list[Mapping[str, str]]) -> list[Member]:
    by_place = {row.get("EID:Slt", ""): row for row in [*controller.drives, *rows]}
    drives = [row for row in controller.topology if row.get("DG") == group and row.get("Type") == "DRIVE"]
    if drives:
        return [_member(row.get("EID:Slot", ""), by_place.get(row.get("EID:Slot", ""), row), row) for row in drives]
    return [_member(row.get("EID:Slt", ""), row, row) for row in rows if row.get("State") not in _SPARES]


def _member(device: str, row: Mapping[str, str], stated: Mapping[str, str]) -> Member:
    medium = row.get("Med", "")
    return Member(
        device="" if device == "-" else device,
        state=_STATES.get(stated.get("State", ""), "failed"),
        model=row.get("Model", "").strip("- "),
        capacity_bytes=size_bytes(row.get("Size", "")),
        is_rotational={"HDD": True, "SSD": False}.get(medium),
        bus=bus_of(row.get("Intf", "")),
    )


def _spares(controller: _Controller, group: str) -> tuple[Member, ...]:
    found = {}
    for row in controller.drives:
        state = row.get("State")
        if state == "GHS" or (state == "DHS" and row.get("DG") in (group, "-", "F")):
            member = _member(row["EID:Slt"], row, row)
            found[member.device] = Member(
                member.device, "spare", member.model, member.capacity_bytes, member.is_rotational, None, member.bus
            )
    return tuple(found.values())


def _switch(text: str) -> bool | None:
    lowered = text.lower()
    return True if lowered.startswith("enabled") else False if lowered.startswith("disabled") else None
