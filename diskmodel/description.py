"""What all descriptions share: validated, immutable, TOML and JSON in and out, every fault told at once.

A description is what a user writes. Its fields say their unit in their name (`strip_bytes`); a file may leave that
ending out when the value carries a unit itself (`strip = "64 KiB"`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import tomlkit
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from diskmodel import units
from diskmodel.errors import DescriptionError, Fault, InputError
from diskmodel.faults import faults_of
from diskmodel.input import open_input
from diskmodel.limits import parse_toml
from diskmodel.output import write_text


class Description(BaseModel):
    """Base of `Drive`, `Layout`, `Controller`, `Host`, `Array`, `Workload` and `Objective`."""

    #: What a file of this kind describes: "array", "drive", "plan" or "workload"; "": no file of its own.
    file_kind: ClassVar[str] = ""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _accept_short_names(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = cls.model_fields
        renamed = {}
        for key, value in data.items():
            full = key if key in fields else _with_suffix(key, fields)
            if full is not None and full != key and not isinstance(value, str | list | tuple | Mapping):
                raise ValueError(f'{key}: the unit is missing; write {key} = "<number> <unit>" or {full} = <number>')
            name = full or key
            if full is not None and _is_switch(value) and not takes_bool(fields[full].annotation):
                raise ValueError(f"{key}: is true or false where a number or a text is required; write that")
            if name in renamed:
                raise ValueError(f"{name} is given twice (as {key} and in another form); keep one of them")
            renamed[name] = value
        return renamed

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str = "") -> Self:
        """The description in `data`.

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
        """The description in a TOML file.

        Raises
        ------
        DescriptionError
            When the file cannot be read, is not TOML, or breaks rules.
        """
        return cls.parse(read_toml(path, cls.file_kind), str(path))

    def to_dict(self) -> dict[str, Any]:
        """Plain data without unset optional fields; `parse` gives the same description back."""
        return self.model_dump(mode="json", exclude_none=True)

    def to_toml(self) -> str:
        """TOML text; `load` gives the same description back."""
        return tomlkit.dumps(readable(self.to_dict()))

    def save(self, path: str | Path) -> None:
        """Write the TOML text to `path` atomically: the file is the old one or the new one, never a part.

        Raises
        ------
        OutputError
            When it may not or cannot be written.
        """
        write_text(path, self.to_toml())


def _is_switch(value: Any) -> bool:
    """Return whether it is true or false, or a list with one of them: Python takes true for 1."""
    return isinstance(value, bool) or (
        isinstance(value, list | tuple) and any(isinstance(item, bool) for item in value)
    )


def takes_bool(annotation: Any) -> bool:
    """Return whether a field of that type may be true or false."""
    return annotation in (bool, Any) or any(takes_bool(part) for part in get_args(annotation))


def _with_suffix(key: str, fields: Mapping[str, Any]) -> str | None:
    return next((key + suffix for suffix in units.SUFFIXES if key + suffix in fields), None)


def readable(data: Any) -> Any:
    """Quantities written with units and without the unit in the key, where nothing is lost by it."""
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


#: Fields by which a file tells what it describes.
_TELLING = {
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
        What it has to describe; a file that plainly describes something else is told as that, not by its fields.

    Raises
    ------
    DescriptionError
        When the file cannot be read, is not TOML, or describes something else.
    """
    data = _read_toml(Path(path))
    if kind and not _TELLING[kind] & data.keys():
        for other, fields in _TELLING.items():
            if fields & data.keys():
                wanted = _with_article(kind)
                told = f"describes {_with_article(other)}, not {wanted}"
                fix = f"name a file that describes {wanted} (this one is for `diskmodel {_COMMAND[other]}`)"
                raise DescriptionError(Fault("file", str(path), told, fix))
    return data


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind == "array" else f"a {kind}"


#: Far beyond what anybody describes; a device or a dump that was named by mistake is not read to its end.
MAX_FILE_BYTES = 16 << 20


def _read_toml(path: Path) -> dict[str, Any]:
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
            Fault("file", str(path), (error.strerror or "cannot be read").lower(), "check the path")
        ) from None
    except UnicodeDecodeError as error:
        seen = f"is not text in UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        raise DescriptionError(Fault("file", str(path), seen, "name a TOML file")) from None
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and thousands of brackets
        raise DescriptionError(Fault("file", str(path), f"is not valid TOML: {error}", "fix the syntax")) from None
