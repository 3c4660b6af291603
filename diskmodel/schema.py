"""Records that cross over to compiled code: each field is declared once, in a dataclass, and read from there.

A record's fields are what a dictionary for the kernel holds and what the schema lists. The kernel lists its own in the
same words (`kernel/src/record/schema.rs`), so that a difference between two versions is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

#: What the kernel calls columns of these.
_COLUMNS = {np.int64: "int", np.int32: "int32", np.uint8: "uint8", np.float64: "float", np.bool_: "bool"}
#: What it calls single values.
_VALUES = {int: "int", float: "float", bool: "bool", str: "str"}


class _Beside:
    """Marks a field that only Python reads, or that crosses over in another record."""


class GivenAs(NamedTuple):
    """Marks a field whose value crosses over as `record.of(value)`."""

    record: type


_T = TypeVar("_T")
#: A field of a record that does not cross over as it is.
Beside = Annotated[_T, _Beside]


@cache
def _columns(record: type) -> tuple[tuple[str, Any, Any], ...]:
    """Names of the fields that cross over, their types, and what they are turned into first."""
    found = []
    for name, hint in get_type_hints(record, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        if _Beside not in marks and get_origin(hint) is not ClassVar:
            wanted = next((mark.record for mark in marks if isinstance(mark, GivenAs)), None)
            found.append((name, hint if wanted is None else wanted, wanted))
    return tuple(found)


def to_kernel(record: Any) -> dict[str, Any]:
    """Return a record, and the records in it, as dictionaries that the kernel takes.

    A record of a class with a `kind` is one of several, and says so.
    """
    found: dict[str, Any] = {}
    of: type = type(record)
    for name, _, wanted in _columns(of):
        value = getattr(record, name)
        if wanted is not None:
            value = wanted.of(value)
        kind: type = type(value)
        found[name] = to_kernel(value) if _is_record(kind) else value
    if (tag := getattr(of, "kind", None)) is not None:
        found["kind"] = tag
    return found


@cache
def _is_record(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "_fields")


def schema_of(records: Iterable[type]) -> frozenset[str]:
    """Return a line for each field of these records, and of the records in them: ``Record.field: type``."""
    lines: set[str] = set()
    for record in records:
        _describe(record, lines)
    return frozenset(lines)


def _describe(record: type, lines: set[str]) -> None:
    if (tag := getattr(record, "kind", None)) is not None:
        lines.add(f"{record.__name__}.kind: {tag}")
    for name, kind, _ in _columns(record):
        lines.add(f"{record.__name__}.{name}: {_word(kind, lines)}")


def _word(kind: Any, lines: set[str]) -> str:
    """What the kernel calls a type; the records in it are described, too."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _word(parts[0], lines)
    if hasattr(origin, "__value__"):
        # a name for a type, as NumPy's NDArray is from Python 3.12 on
        return _word(origin.__value__[parts], lines)
    if kind in _VALUES:
        return _VALUES[kind]
    if origin is Literal:
        return "str"
    if origin in (Union, UnionType):
        words = sorted({_word(part, lines) for part in parts if part is not NoneType})
        return "|".join(words) + ("?" if NoneType in parts else "")
    if origin is np.ndarray:
        return f"{_COLUMNS[get_args(parts[1])[0]]}[]"
    if origin in (tuple, list):
        return f"{_word(parts[0], lines)}[]"
    _describe(kind, lines)
    return str(kind.__name__)
