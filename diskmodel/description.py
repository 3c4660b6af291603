"""The base of all descriptions: validated, immutable, read from and written to TOML and JSON, all faults at once.

A description is what a user writes. Each quantity has its unit in its name (`strip_bytes`); a file may leave that
ending out when the value itself has a unit (`strip = "64 KiB"`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from inspect import get_annotations
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from diskmodel import units
from diskmodel.errors import DescriptionError, Fault, InputError, html_text, visible_toml
from diskmodel.faults import faults_of
from diskmodel.input import how_to_find, open_input
from diskmodel.limits import parse_toml
from diskmodel.output import write_text

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass as _Constructor
else:

    class _Constructor(type(BaseModel)):
        """Makes `Array(...)` raise the same errors as `Array.parse(...)`, and take positional arguments.

        A metaclass and not `__init__`: pydantic calls an `__init__` of ours for nested descriptions, too, and the place
        of a fault inside the outer one would be lost.
        """

        def __call__(cls, *args: Any, **fields: Any) -> Any:
            return cls.parse(cls._from_call(args, fields))


#: How a sentence begins that names fields without an effect.
WITHOUT_EFFECT = "without effect here: "


def without_effect(found: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return a sentence that names fields without an effect, each with who would read it; none without any."""
    named = [f"{path} (only {who})" for path, who in found]
    return (f"{WITHOUT_EFFECT}{units.listed(named)}",) if named else ()


class Reader(NamedTuple):
    """Who reads a field that others ignore.

    Attributes
    ----------
    who : str
        In words, behind "only".
    does : callable
        Whether it is read in the outermost description, which it is called with.
    """

    who: str
    does: Callable[[Any], bool]


#: Made once: `list | tuple` is made anew for each value that is looked at.
_LISTS = (list, tuple)


class Description(BaseModel, metaclass=_Constructor):
    """Base of `Drive`, `Layout`, `Controller`, `Host`, `Array`, `Workload` and `Objective`."""

    #: The kind of file: "array", "drive", "plan" or "workload"; "" for a part of another description.
    file_kind: ClassVar[str] = ""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, defer_build=True)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        _evaluate(cls)

    @classmethod
    def _from_call(cls, args: tuple[Any, ...], fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that a call with these arguments describes."""
        if args:
            raise TypeError(f"{cls.__name__} takes no positional arguments; name each field")
        return fields

    @model_validator(mode="before")
    @classmethod
    def _accept_short_names(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = cls.model_fields
        renamed = {}
        for key, value in data.items():
            full = key if key in fields else _with_suffix(key, fields)
            if full is not None and full != key and _is_without_unit(value):
                raise ValueError(f"{key}={value!r}: has no unit; write for example {_in_both_ways(key, full, value)}")
            name = full or key
            if full is not None and _is_switch(value) and not takes_bool(fields[full].annotation):
                raise ValueError(f"{key}: is true or false where a number or a text is required; write that")
            if name in renamed:
                raise ValueError(f"{name}: is given twice, as {key} and in another form; keep one of them")
            renamed[name] = value
        return renamed

    @classmethod
    def full_name(cls, key: str) -> str | None:
        """Return the field that `key` names, its unit written out or left out; None where there is none."""
        return key if key in cls.model_fields else _with_suffix(key, cls.model_fields)

    @classmethod
    def has_field(cls, key: str) -> bool:
        """Return whether `key` is a field of this description, its unit written out or left out."""
        return cls.full_name(key) is not None

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str = "") -> Self:
        """Return the description in `data`.

        Raises
        ------
        DescriptionError
            With every fault: field, value, rule and fix.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise DescriptionError(faults_of(error, cls), source) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the description in a TOML file.

        Raises
        ------
        DescriptionError
            When the file cannot be read, is not TOML, or breaks a rule.
        """
        return cls.parse(read_toml(path, cls.file_kind), str(path))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values of some fields, which are not checked (`parse` checks).

        Raises
        ------
        DescriptionError
            When `update` has a key that is no field, which pydantic would ignore.
        """
        for key in update or ():
            if key not in type(self).model_fields:
                table = next((name for name in type(self).model_fields if hasattr(getattr(self, name), key)), None)
                fix = f"it is a field of {table}: copy that with it first" if table else "use the name of a field"
                raise DescriptionError(Fault(key, None, f"is not a field of {type(self).__name__}", fix))
        return super().model_copy(update=update, deep=deep)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Return what is shown of a description: the fields that differ from their defaults."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            known = fields.get(name or "")
            if known is None or known.is_required() or value != known.get_default(call_default_factory=False):
                yield name, value

    def __str__(self) -> str:
        return repr(self)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return who reads each field that is not read everywhere."""
        return {}

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields that were given and have no effect in `whole`, each with who would read it.

        `whole` is the outermost description, or the same with what is assumed of it.
        """
        readers = self.readers()
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if isinstance(value, Description):
                yield from value.unread(whole, f"{path}{name}.")
            is_given = name in self.model_fields_set and value != field.get_default(call_default_factory=True)
            if is_given and name in readers and not readers[name].does(whole):
                yield path + name, readers[name].who

    def unread_messages(self, described: Self) -> tuple[str, ...]:
        """Return what `described` says, of which this is the same with what is assumed, and nothing reads."""
        return without_effect(described.unread(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without unset optional fields; `parse` restores the description from it."""
        return self.model_dump(mode="json", exclude_none=True)

    def to_toml(self) -> str:
        """Return TOML text; `load` restores the description from it."""
        return toml_text(self.to_dict())

    def save(self, path: str | Path) -> None:
        """Write the TOML text to `path` atomically: a reader sees the old file or the new one, never a part.

        Raises
        ------
        OutputError
            When it may not or cannot be written.
        """
        write_text(path, self.to_toml())


def _evaluate(described: type) -> None:
    """Replace the types of fields, which are text until then, by what they mean; what is not known yet stays text.

    pydantic does the same, but compiles each text anew: most are in many descriptions.
    """
    names, types = getattr(sys.modules.get(described.__module__), "__dict__", {}), get_annotations(described)
    for name, words in types.items():
        if isinstance(words, str):
            with suppress(NameError):
                types[name] = eval(_compiled(words), names)
    described.__annotations__ = types


@cache
def _compiled(words: str) -> CodeType:
    return compile(words, "<type of a field>", "eval")


def _is_without_unit(value: Any) -> bool:
    """Return whether it is a single value that has to have a unit, as 0 has not."""
    is_plain = not isinstance(value, str | list | tuple | Mapping) and not _is_switch(value)
    is_zero = isinstance(value, int | float) and not isinstance(value, bool) and value == 0
    return is_plain and not is_zero


def _is_switch(value: Any) -> bool:
    """Return whether it is true or false, or a list with one of them: Python takes true for 1."""
    return bool in map(type, value) if isinstance(value, _LISTS) else isinstance(value, bool)


def takes_bool(annotation: Any) -> bool:
    """Return whether a field of that type may be true or false."""
    return annotation in (bool, Any) or any(takes_bool(part) for part in get_args(annotation))


#: Values of fields without the ending that gives their unit, and of those with it.
_EXAMPLES = {
    "_bytes_per_s": ("100 MB/s", "100_000_000"),
    "_bytes": ("64 KiB", "65_536"),
    "_ns": ("10 ms", "10_000_000"),
    "_per_s": ("200/s", "200"),
    "_ppm": ("20 ppm", "20"),
}


def _in_both_ways(key: str, full: str, value: Any) -> str:
    """Return how to write a quantity: with its unit, or with the full name of its field."""
    suffix = next(suffix for suffix in units.SUFFIXES if full == key + suffix)
    if suffix == "_ratio":
        return f'{key} = "{100 * value:g}%" or {full} = {value:g}'
    text, number = ("20 TB", "20e12") if key.endswith("capacity") else _EXAMPLES[suffix]
    return f'{key} = "{text}" or {full} = {number}'


def _with_suffix(key: str, fields: Mapping[str, Any]) -> str | None:
    return next((key + suffix for suffix in units.SUFFIXES if key + suffix in fields), None)


def toml_text(data: dict[str, Any]) -> str:
    """Return `data` as TOML, with units in the values, wherever that loses no precision."""
    import tomlkit

    return visible_toml(tomlkit.dumps(readable(data)))


def readable(data: Any) -> Any:
    """Return `data` with units moved from the keys into the values, wherever that loses no precision."""
    if isinstance(data, list):
        return [readable(item) for item in data]
    if not isinstance(data, dict):
        return data
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            if key.endswith("_bytes_per_s"):
                key, value = key.removesuffix("_bytes_per_s"), units.pretty_rate(value)
            elif key.endswith("_bytes"):
                key, value = key.removesuffix("_bytes"), units.pretty_bytes(int(value))
            elif key.endswith("_ns"):
                key, value = key.removesuffix("_ns"), units.pretty_ns(int(value))
        found[key] = readable(value)
    # scalars first: in TOML whatever follows a table belongs to it
    tables = {
        k: v for k, v in found.items() if isinstance(v, dict) or (isinstance(v, list) and v and isinstance(v[0], dict))
    }
    return {k: v for k, v in found.items() if k not in tables} | tables


#: Fields that only one kind of file has.
_TYPICAL_FIELDS = {
    "plan": {"objective", "candidates"},
    "array": {"layout"},
    "drive": {"kind", "capacity", "capacity_bytes"},
    "workload": {"streams", "clients", "queue_depth", "rate", "rate_per_s", "arrival", "read_ratio"},
}
_COMMAND = {"plan": "plan", "array": "simulate", "drive": "drives", "workload": "simulate --workload"}


def read_toml(path: str | Path, kind: str = "") -> dict[str, Any]:
    """Data of a TOML file.

    Parameters
    ----------
    path : str or Path
    kind : str, optional
        The kind of description expected. A file of another kind gets one fault that says so, instead of one for each
        field.

    Raises
    ------
    DescriptionError
        When the file cannot be read, is not TOML, or describes something else.
    """
    data = _read_toml(Path(path))
    if kind and not _TYPICAL_FIELDS[kind] & data.keys():
        for other, fields in _TYPICAL_FIELDS.items():
            if fields & data.keys():
                expected = _with_article(kind)
                rule = f"describes {_with_article(other)}, not {expected}"
                fix = f"name a file that describes {expected} (this one is for `diskmodel {_COMMAND[other]}`)"
                raise DescriptionError(Fault("file", str(path), rule, fix))
    return data


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind == "array" else f"a {kind}"


#: Largest description file, bytes. A profile with 4096 waking times takes 40 KiB; without a limit, naming a device or a
#: dump by mistake would read all of it into memory.
MAX_FILE_BYTES = 16 << 20


def _read_toml(path: Path) -> dict[str, Any]:
    data = b""
    try:
        with open_input(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ValueError(f"it is longer than {MAX_FILE_BYTES} bytes")
        return parse_toml(data.decode("utf-8-sig"))
    except InputError as error:
        raise DescriptionError(error.faults) from None
    except OSError as error:
        raise DescriptionError(
            Fault("file", str(path), (error.strerror or "cannot be read").lower(), how_to_find(path))
        ) from None
    except UnicodeDecodeError as error:
        rule = f"is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
        raise DescriptionError(Fault("file", str(path), rule, "name a TOML file")) from None
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and thousands of brackets
        raise DescriptionError(Fault("file", str(path), f"is not valid TOML: {error}", _toml_fix(data))) from None


def _toml_fix(data: bytes) -> str:
    """Return what to do about a file that is not TOML."""
    if b"\r" in data and b"\n" not in data:
        return "end its lines with LF or CR LF: it has CR alone, as old Macs wrote"
    return "fix the syntax"


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return labels and values as a small HTML table with a caption, for notebooks."""
    rows = "".join(f"<tr><th>{html_text(label)}</th><td>{html_text(value)}</td></tr>" for label, value in facts)
    return f"<table><caption>{html_text(title)}</caption><tbody>{rows}</tbody></table>"
