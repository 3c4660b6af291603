"""Faults of a description in the project's words: which field, what stood there, what was probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from diskmodel import units
from diskmodel.errors import DescriptionError, Fault

Place = Sequence[int | str]

_INNER = "inner_description"


def faults_of(error: ValidationError, model: type[BaseModel] | None = None) -> list[Fault]:
    """Faults of a pydantic error.

    Parameters
    ----------
    error : ValidationError
    model : type of BaseModel, optional
        What was validated; with it a misspelt field is told with the field that is most like it.
    """
    found: list[Fault] = []
    for item in error.errors(include_url=False):
        found += item["ctx"]["faults"] if item["type"] == _INNER else [_fault(dict(item), model)]
    return found


def inner(error: DescriptionError) -> PydanticCustomError:
    """The faults of a description inside another one, for a validator to raise: they join those of the outer one."""
    head = f"{error.source}: " if error.source else ""
    faults = [Fault(head + fault.field, fault.value, fault.rule, fault.fix) for fault in error.faults]
    return PydanticCustomError(_INNER, "{text}", {"text": str(error), "faults": faults})


def _fault(item: dict[str, Any], model: type[BaseModel] | None) -> Fault:
    place: Place = item["loc"]
    field = ".".join(str(part) for part in place) or "description"
    rule, _, fix = item["msg"].removeprefix("Value error, ").partition("; ")
    value = item.get("input")
    match item["type"]:
        case "missing":
            rule, fix, value = "is missing", "add it", None
        case "extra_forbidden":
            rule, fix = "is not a known field", _meant(place, model) or "remove it or check the spelling"
        case "union_tag_not_found":
            tag = item["ctx"]["discriminator"].strip("'")
            rule, fix = f"does not say its {tag}", f"add {tag} = …"
            if field == "drive":
                fix += ', or write the name of a bundled drive: drive = "generic-15k"'
        case "union_tag_invalid":
            tag = item["ctx"]["discriminator"].strip("'")
            value = item["ctx"]["tag"]
            rule, fix = f"is not a known {tag}", f"use one of {item['ctx']['expected_tags']}"
    if isinstance(value, Mapping | list | BaseModel):
        value = None
    return Fault(field, value, rule[:1].lower() + rule[1:], fix)


def _meant(place: Place, model: type[BaseModel] | None) -> str:
    """The known field most like the unknown one at the end of `place`; "" when none is."""
    names: dict[str, None] = {}
    for owner in _owners([model] if model else [], place[:-1]):
        for name in owner.model_fields:
            short = next((name.removesuffix(end) for end in units.SUFFIXES if name.endswith(end)), name)
            names |= {short: None, name: None}
    near = get_close_matches(str(place[-1]), names, n=1, cutoff=0.7)
    return f"did you mean {near[0]}?" if near else ""


def _owners(models: list[type[BaseModel]], place: Place) -> list[type[BaseModel]]:
    """Models that may lie at `place`; parts that name no field are an index, or the tag of a union."""
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
    """Descriptions that an annotation names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
