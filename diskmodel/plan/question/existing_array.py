"""An array that exists as the start of a plan: what its candidates take over, and what they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diskmodel.array import Array
from diskmodel.layout import Layout
from diskmodel.layout.levels import KINDS
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.common_layout import CommonLayout
from diskmodel.plan.question.description import PlanDescription
from diskmodel.units import SUFFIXES, listed, pretty_bytes, pretty_ns

#: Tables of an array that a plan has as well, for all of its candidates.
SHARED = ("controller", "queue", "host", "spindles", "drive_write_cache", "drive_fua", "used_ratio")
#: What a plan looks for itself, or has as alternatives that the answer lists.
SEARCHED = ("name", "drive", "layout.level", "layout.disks")


def common_layout(layout: Layout) -> CommonLayout:
    """Return what candidates of other levels and sizes can have of a layout."""
    changed = layout.model_fields_set & CommonLayout.model_fields.keys()
    fields = {name: getattr(layout, name) for name in changed}
    if layout.kind.keeps_copies and layout.n_copies != 2:
        fields["copies"] = layout.n_copies
    return CommonLayout(**fields)


def left_out(array: Array, plan: PlanDescription, replaced: tuple[str, ...] = ()) -> list[str]:
    """Return a line for what no candidate has of an array, and one for what only some levels have.

    Parameters
    ----------
    array : Array
    plan : PlanDescription
        The plan that began with the array.
    replaced : tuple of str
        Tables that options replace, which have notes of their own.
    """
    stated = dict(_leaves(array.model_dump(exclude_defaults=True)))
    stated = {path: value for path, value in stated.items() if not _is_below(path, (*SEARCHED, *replaced))}
    having: dict[str, set[str]] = {path: set() for path in stated}
    levels: list[str] = []
    for case in cases(plan):
        fields = _candidate(case)
        if fields is None:
            continue
        levels.append(case.family.level)
        for path, value in stated.items():
            if fields.get(path) == value:
                having[path].add(case.family.level)
    groups: dict[tuple[str, ...], list[str]] = {}
    for path, found in having.items():
        if found != set(levels):
            groups.setdefault(tuple(dict.fromkeys(name for name in levels if name in found)), []).append(path)
    lines = []
    for names, lacking in groups.items():
        tables = tuple(path for path in lacking if stated[path] is True)
        paths = [path for path in lacking if path in tables or not _is_below(path, tables)]
        if names:
            lines.append(f"--array: only {listed(names)} {'have' if len(names) > 1 else 'has'} its {listed(paths)}")
        else:
            lines.append(f"--array: no candidate has its {listed([_in_words(p, stated[p]) for p in paths])}")
    return lines


def _candidate(case: Case) -> dict[str, Any] | None:
    """Return the fields of a candidate of a family, with the rebuild that it would have; None: there is none."""
    if not case.counts:
        return None
    candidate = case.array(case.counts[0]).model_dump()
    candidate["layout"]["rebuild"] = case.rebuild().model_dump()
    kind = KINDS[case.family.level]
    if kind.copies_are_disks:
        candidate["layout"]["copies"] = case.counts[0]
    return dict(_leaves(candidate))


def _leaves(fields: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value with the path of its field."""
    for name, value in fields.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping) and not _is_below(path, SEARCHED):
            # a table without changes is there nevertheless
            yield path, True
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _is_below(path: str, tables: tuple[str, ...]) -> bool:
    return any(path == table or path.startswith(f"{table}.") for table in tables)


def _in_words(path: str, value: Any) -> str:
    """Return a field and its value as a file has them."""
    if isinstance(value, int) and not isinstance(value, bool):
        for ending, shown in (("_bytes", pretty_bytes), ("_ns", pretty_ns)):
            if path.endswith(ending):
                return f"{path.removesuffix(ending)} = {shown(value)}"
    if value is True:
        return path
    short = next((path.removesuffix(end) for end in SUFFIXES if path.endswith(end)), path)
    return f"{short} = {list(value) if isinstance(value, tuple) else value}"
