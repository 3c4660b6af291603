"""Drives and arrays that somebody measured: what was said of them, the loads, and the figures.

Each is a `[[unit]]` of a file in tests/data/units. `old.toml` there says the same of the measurements that the coverage
page has from elsewhere; `all_cases` returns both.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.workload import Workload
from tests.validation.coverage import evidence
from tests.validation.coverage.evidence import Case
from tests.validation.published import SINGLE
from tests.validation.units.said import Said, Standing

FOLDER = Path(__file__).parents[2] / "data" / "units"
#: What is said of measurements that are kept elsewhere.
OLD = FOLDER / "old.toml"

#: Statistics of a load, and those of its reads or writes alone (`reads_p99`).
TIMES = ("mean", "p50", "p95", "p99", "p999")
OPERATIONS = ("reads", "writes")
STATISTICS = ("iops", *TIMES, *(f"{op}_{name}" for op in OPERATIONS for name in ("iops", *TIMES)))
#: Requests of a run; p99.9 is reported of more of them.
N_REQUESTS, N_FOR_P999 = 8_000, 60_000
#: Units of times in the files, in ms.
_MS = {"_ms": 1.0, "_us": 1e-3}
#: Keys of an array, of a unit or of a load.
_OF_ARRAY = ("drive", "layout", "queue", "host", "controller", "drive_write_cache")
#: Keys of where requests go.
_PLACES = ("span", "offset", "addresses")
#: Keys that say something of a load, and nothing of a figure.
_OF_LOAD = (*_OF_ARRAY, *_PLACES, "reads", "depth", "rate", "size", "what", "not_said", "drive_with", "streams", "mb_s")


@dataclass(frozen=True)
class Unit:
    """A drive or an array that was measured.

    Attributes
    ----------
    name, class_ : str
        The class is a leaf of the tree of classes.
    what, source, text : str
        What it is, where that stands, and the words that were read there.
    model : str
        Units of the same model are specimens of it.
    said : Said
    is_new : bool
        Whether it is in a file of tests/data/units.
    """

    name: str
    class_: str
    what: str
    source: str
    text: str
    model: str
    said: Said
    is_new: bool = True


@dataclass(frozen=True)
class UnitCase(Case):
    """A load on a unit; `measured` may have any of `STATISTICS`.

    Attributes
    ----------
    said : Said
        Of this load.
    model : str
        Of which the unit is a specimen.
    """

    said: Said = field(default_factory=Said)
    model: str = ""

    @property
    def standing(self) -> Standing:
        """Return whether what the source says of this load is complete."""
        return self.said.standing(self.array, self.workload)


@cache
def tables() -> tuple[dict[str, Any], ...]:
    """Return the units of all files, as they are written there."""
    files = sorted(path for path in FOLDER.glob("*.toml") if path != OLD)
    return tuple(unit for path in files for unit in tomllib.loads(path.read_text(encoding="utf-8"))["unit"])


@cache
def new_units() -> dict[str, Unit]:
    """Return the units of the files by their names."""
    found = {table["name"]: _unit(table) for table in tables()}
    if len(found) < len(tables()):
        raise ValueError("two units have the same name")
    return found


@cache
def old_said() -> dict[str, Said]:
    """Return what is said of measurements that are kept elsewhere, by the name of their unit.

    Where loads of a unit belong to several classes, `unit/class` may have an entry of its own.
    """
    data = tomllib.loads(OLD.read_text(encoding="utf-8"))
    return {name: Said(tuple(x.get("not_said", ())), x.get("held_back", "")) for name, x in data.items()}


def new_cases() -> Iterator[UnitCase]:
    """Yield every load of the units of the files."""
    for table in tables():
        yield from cases_of(table)


def cases_of(table: dict[str, Any]) -> Iterator[UnitCase]:
    """Yield every load of one unit, as it is written in a file."""
    unit = _unit(table)
    names: set[str] = set()
    for load in table["loads"]:
        case = _case(unit, table, load)
        if case.name in names:
            raise ValueError(f"{case.name}: two loads have the same name; add what")
        names.add(case.name)
        yield case


def all_cases() -> list[UnitCase]:
    """Return every load of all units, old and new."""
    old = (
        UnitCase(
            c.name, c.class_, c.unit, c.array, c.workload, c.measured, c.n_requests, c.seconds,
            said=_of_old(c), model=c.unit,
        )
        for c in evidence.cases()
    )  # fmt: skip
    return [*old, *new_cases()]


def _of_old(case: Case) -> Said:
    known = old_said()
    return known.get(f"{case.unit}/{case.class_}") or known[case.unit]


def _unit(table: dict[str, Any]) -> Unit:
    words = list(table.get("not_said", ()))
    if table["drive_is"] == "class" and "model" not in words:
        words.append("sheet")
    said = Said(tuple(words), table.get("held_back", ""))
    model = table.get("model", table["name"])
    return Unit(table["name"], table["class"], table["what"], table["source"], table["text"], model, said)


def _case(unit: Unit, table: dict[str, Any], load: dict[str, Any]) -> UnitCase:
    array, workload = _array(table, load), _workload(table, load)
    said = Said((*unit.said.not_said, *load.get("not_said", ())), unit.said.held_back)
    measured = _figures(load)
    if "mb_s" in load:
        measured["iops"] = load["mb_s"] * 1e6 / evidence.size_bytes(workload)
    if not measured:
        raise ValueError(f"{unit.name}: a load without figures")
    name = f"{unit.name}: {_title(load)}"
    n = N_FOR_P999 if any(key.endswith("p999") for key in measured) else N_REQUESTS
    return UnitCase(name, unit.class_, unit.name, array, workload, measured, n, said=said, model=unit.model)


def _array(table: dict[str, Any], load: dict[str, Any]) -> Array:
    fields = {"layout": SINGLE} | {key: source[key] for source in (table, load) for key in _OF_ARRAY if key in source}
    changed = table.get("drive_with", {}) | load.get("drive_with", {})
    if changed:
        fields["drive"] = load_drive(fields["drive"]).to_dict() | changed
    return Array.parse(fields)


def _workload(table: dict[str, Any], load: dict[str, Any]) -> Workload:
    places = {key: source[key] for source in (table, load) for key in _PLACES if key in source}
    if "streams" in load:
        return Workload.parse({"streams": [places | stream for stream in load["streams"]]})
    when = {"rate": load["rate"]} if "rate" in load else {"clients": load["depth"]}
    return Workload.parse({"size": load.get("size", "4 KiB"), "read_ratio": load["reads"]} | when | places)


def _figures(load: dict[str, Any]) -> dict[str, float]:
    """Return the figures of a load: requests per second, ms."""
    found = {}
    for key, value in load.items():
        name, factor = next(((key.removesuffix(end), ms) for end, ms in _MS.items() if key.endswith(end)), (key, 1.0))
        if name in STATISTICS:
            found[name] = float(value) * factor
        elif key not in _OF_LOAD:
            raise ValueError(f"{key}: neither a statistic nor a key of a load")
    return found


def _title(load: dict[str, Any]) -> str:
    """Return what a load is."""
    if "streams" in load:
        return str(load["what"])
    when = str(load["rate"]) if "rate" in load else f"depth {load['depth']}"
    return f"{load.get('size', '4 KiB')} {load['reads']:.0%} reads, {when} {load.get('what', '')}".strip()
