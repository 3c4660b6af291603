"""A plan that is being put together from what was said, with notes of what replaced what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from diskmodel.plan.question.description import Candidates
from diskmodel.units import SUFFIXES, in_digits, pretty_bytes, pretty_ns


@dataclass
class Draft:
    """A plan that is being put together.

    Attributes
    ----------
    tables : dict
        Fields of the plan, its tables as dicts or descriptions.
    source : str
        Where the tables come from, for notes.
    notes : list of str
        What was replaced, or taken because nothing was said.
    origins : dict of str to str
        Where fields and tables come from that are not from `source`.
    """

    tables: dict[str, Any]
    source: str = ""
    notes: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def table(self, *names: str) -> dict[str, Any]:
        """Return a table that can be changed, made from a description where it was one."""
        at = self.tables
        for name in names:  # of none: the plan itself
            at[name] = fields_of(at.get(name))
            at = at[name]
        return at

    def put(self, table: dict[str, Any], name: str, value: Any, option: str) -> None:
        """Set a field, and note which value it replaces."""
        spellings = [name, *(name.removesuffix(end) for end in SUFFIXES if name.endswith(end))]
        old = [table.pop(spelling) for spelling in spellings if spelling in table]
        table[name] = value
        before, now = (_shown(name, old[0]) if old else "", _shown(name, value))
        if before not in ("", now):
            origin = self.origins.get(name, self.source)
            self.notes.append(f"{option}: {now} replaces {before}{f' of {origin}' if origin else ''}")


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a description or a table as a dict of their own."""
    found = dict(value) if isinstance(value, BaseModel | Mapping) else {}
    if isinstance(value, Candidates) and "groups" not in value.model_fields_set:
        del found["groups"]  # as a field it would state how many, where the width of groups is to decide
    return found


def _shown(name: str, value: Any) -> str:
    """Return a value as a note gives it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_shown(name.replace("sizes", "size_bytes"), item) for item in value)
    if isinstance(value, BaseModel):
        return str(getattr(value, "name", "") or _shown("size_bytes", getattr(value, "size_bytes", "")))
    if isinstance(value, Mapping):
        return _shown("size_bytes", value.get("size_bytes", value.get("size", "")))
    if isinstance(value, int | float):
        if name.endswith("_bytes_per_s"):
            return f"{in_digits(value / 1e6)} MB/s"
        if name.endswith("_bytes"):
            return pretty_bytes(int(value))
        if name.endswith("_ns"):
            return pretty_ns(int(value))
        return f"{value:.0%}" if name.endswith("_ratio") else f"{value:,.6g}"
    return "" if value is None else str(value)
