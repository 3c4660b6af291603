"""Faults of a description in our own words: the field, its value, the rule it breaks and the fix.

Pydantic finds the faults; its own sentences ("Input should be a valid integer, unable to parse string as an integer")
are written for programmers, so each of its error types has a rule and a fix here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from diskmodel import units
from diskmodel.errors import DescriptionError, Fault

Place = Sequence[int | str]

_INNER = "inner_description"


def faults_of(error: ValidationError, model: type[BaseModel] | None = None) -> list[Fault]:
    """Return the faults of a pydantic error.

    Parameters
    ----------
    error : ValidationError
    model : type of BaseModel, optional
        What was validated; with it the fault of a misspelled field suggests the closest known one.
    """
    found: list[Fault] = []
    for item in error.errors(include_url=False):
        found += item["ctx"]["faults"] if item["type"] == _INNER else [_fault(dict(item), model)]
    return found


def inner(error: DescriptionError) -> PydanticCustomError:
    """Return an error for a validator to raise, so that the faults of a nested description join the outer ones."""
    head = f"{error.source}: " if error.source else ""
    faults = [Fault(head + fault.field, fault.value, fault.rule, fault.fix) for fault in error.faults]
    return PydanticCustomError(_INNER, "{text}", {"text": str(error), "faults": faults})


def _fault(item: dict[str, Any], model: type[BaseModel] | None) -> Fault:
    place: Place = item["loc"]
    field = ".".join(str(part) for part in place) or "description"
    rule, _, fix = item["msg"].removeprefix("Value error, ").partition("; ")
    value = item.get("input")
    if item["type"] in _RULES:
        rule, fix = _RULES[item["type"]](_Limits(str(place[-1]) if place else "", item.get("ctx", {})))
    match item["type"]:
        case "missing":
            rule, fix, value = "is missing", f"add a line {place[-1]} = …", None
        case "extra_forbidden":
            rule, fix = "is not a known field", _meant(place, model) or "remove it or check the spelling"
        case "literal_error":
            rule, fix = "is not one of the choices", _choice(str(value), item["ctx"]["expected"], "use")
        case "greater_than_equal" if 0 < item["ctx"]["ge"] <= _ALMOST_ZERO and not _is_positive(value):
            rule = "must be above 0"
        case "less_than_equal" if field.endswith("_ratio") and str(value).endswith("%") and item["ctx"]["le"] == 1:
            rule = "must be at most 100%"
        case "less_than_equal" if field.endswith("_ratio") and 1 < (percent := _as_float(value)) <= 100:
            fix = f"write {percent / 100:g} or {percent:g}%"
        case "union_tag_not_found":
            tag = item["ctx"]["discriminator"].strip("'")
            rule, fix = f"has no {tag}", f"add {tag} = …"
            if field == "drive":
                fix += ', or write the name of a bundled drive: drive = "generic-15k"'
        case "union_tag_invalid":
            tag = item["ctx"]["discriminator"].strip("'")
            value = item["ctx"]["tag"]
            rule, fix = f"is not a known {tag}", _choice(str(value), item["ctx"]["expected_tags"], "use one of")
        case "value_error" if (named := _NAMED.fullmatch(rule)) is not None:
            # a check of several fields together names the field that is at fault
            field = ".".join([*(str(part) for part in place), named["field"]])
            rule, value = named["rule"], _number(named["value"])
    if isinstance(value, Mapping | list | BaseModel):
        value = None
    return Fault(field, value, rule[:1].lower() + rule[1:], fix)


_NAMED = re.compile(r"(?P<field>[a-z][a-z0-9_.]*)(?:=(?P<value>\S+))?: (?P<rule>.+)", re.DOTALL)


def _number(text: str | None) -> object:
    """The value in a message: a number where it is one, otherwise its text; None for none."""
    if text is None:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


#: A lower limit that only keeps 0 and less out is this small at most: the smallest rate and weight are 1e-9.
_ALMOST_ZERO = 1e-6


def _is_positive(value: object) -> bool:
    """Whether a number, or the one that a text begins with, is above 0."""
    found = re.match(r"\s*([+-]?[0-9.]+)", str(value))
    return found is not None and _as_float(found[1]) > 0


def _as_float(value: object) -> float:
    """The number that was given, or written as text; nan for anything else."""
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return math.nan


class _Limits:
    """The limits of a check that failed, written in the unit of the field."""

    def __init__(self, field: str, context: Mapping[str, Any]) -> None:
        self._context = context
        self._pretty = next((pretty for suffix, pretty in _PRETTY.items() if field.endswith(suffix)), None)
        #: A wrong unit is the usual cause of a quantity that is far out of range.
        self.check_unit = ", or check its unit" if self._pretty else ""

    def __getitem__(self, name: str) -> str:
        value = self._context[name]
        if self._pretty is not None and isinstance(value, int | float) and value > 0:
            return self._pretty(value)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def count(self, name: str) -> str:
        """A limit on a number of entries."""
        n = self._context[name]
        return f"{n} entry" if n == 1 else f"{n} entries"


_PRETTY: dict[str, Callable[[Any], str]] = {
    "_bytes_per_s": units.pretty_rate,
    "_bytes": units.pretty_bytes,
    "_ns": units.pretty_ns,
}


def _same(rule: str, fix: str) -> Callable[[_Limits], tuple[str, str]]:
    """A rule and a fix without a limit in them."""
    return lambda limits: (rule, fix)


_WHOLE = _same("must be a whole number", "write digits only, without quotes")
_NUMBER = _same("must be a number", "write it without quotes")
_FLAG = _same("must be true or false", "write true or false, without quotes")
_LIST = _same("must be a list", "write it in brackets: [a, b, …]")
_TABLE = _same("must be a table", "write { name = value, … }, or a [section] of its own")

#: Rule and fix by pydantic's error type. tests/trust/test_error_catalogue.py fails when one is missing.
_RULES: dict[str, Callable[[_Limits], tuple[str, str]]] = {
    "greater_than": lambda limits: (f"must be above {limits['gt']}", f"raise it{limits.check_unit}"),
    "greater_than_equal": lambda limits: (f"must be at least {limits['ge']}", f"raise it{limits.check_unit}"),
    "less_than": lambda limits: (f"must be below {limits['lt']}", f"lower it{limits.check_unit}"),
    "less_than_equal": lambda limits: (f"must be at most {limits['le']}", f"lower it{limits.check_unit}"),
    "finite_number": _same("must be a finite number", "write a number other than inf and nan"),
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _same("has too many digits", "check the number"),
    "int_from_float": lambda limits: ("must be a whole number", f"round it{limits.check_unit}"),
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _FLAG,
    "bool_parsing": _FLAG,
    "string_type": _same("must be text", "put it in quotes"),
    "string_unicode": _same("must be text in UTF-8", "write other characters"),
    "string_too_short": lambda limits: (f"must have at least {limits['min_length']} characters", "lengthen it"),
    "string_too_long": lambda limits: (f"must have at most {limits['max_length']} characters", "shorten it"),
    "too_short": lambda limits: (f"must have at least {limits.count('min_length')}", "add what is missing"),
    "too_long": lambda limits: (f"must have at most {limits.count('max_length')}", "shorten the list"),
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _TABLE,
    "mapping_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "none_required": _same("must be left out", "remove it"),
}


def _choice(value: str, expected: str, verb: str) -> str:
    """Return the fix of a word that is not among the choices, which pydantic lists as "'a', 'b' or 'c'"."""
    near = get_close_matches(value.lower(), re.findall(r"'([^']*)'", expected), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'? The choices are {expected}" if near else f"{verb} {expected}"


def _meant(place: Place, model: type[BaseModel] | None) -> str:
    """Suggest the known field closest to the unknown one at the end of `place`; "" when none is close."""
    names: dict[str, None] = {}
    for owner in _owners([model] if model else [], place[:-1]):
        for name in owner.model_fields:
            names |= {_short(name): None, name: None}
    near = get_close_matches(str(place[-1]), names, n=1, cutoff=0.7)
    if near:
        return f"did you mean {near[0]}?"
    elsewhere = _tables_with(str(place[-1]), model) if model else []
    return f"did you mean {elsewhere[0]}?" if len(elsewhere) == 1 else ""


def _short(name: str) -> str:
    """A field's name without its unit, as files may write it: size for size_bytes."""
    return next((name.removesuffix(end) for end in units.SUFFIXES if name.endswith(end)), name)


def _tables_with(name: str, model: type[BaseModel]) -> list[str]:
    """Full names of the fields of this name in the tables of a description, those of the outermost tables only."""
    tables: list[tuple[str, type[BaseModel]]] = [("", model)]
    seen = {model}
    while tables:
        if found := [
            f"{path}{name}" for path, owner in tables for field in owner.model_fields if name in (field, _short(field))
        ]:
            return list(dict.fromkeys(found))
        inside = [
            (f"{path}{field}.", nested)
            for path, owner in tables
            for field, info in owner.model_fields.items()
            for nested in _models_in(info.annotation)
        ]
        tables = [(path, nested) for path, nested in inside if nested not in seen]
        seen.update(nested for _, nested in tables)
    return []


def _owners(models: list[type[BaseModel]], place: Place) -> list[type[BaseModel]]:
    """Models that may be at `place`; a part that names no field is an index, or the tag of a union."""
    for part in place:
        found = [
            nested
            for model in models
            if part in model.model_fields
            for nested in _models_in(model.model_fields[str(part)].annotation)
        ]
        models = found or models
    return models


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Descriptions named in an annotation, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
