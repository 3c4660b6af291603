"""Controllers by name, one TOML file each, with what was measured of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any

from pydantic import BeforeValidator

from diskmodel.controller.description import Controller
from diskmodel.errors import DescriptionError, Fault, choose_from
from diskmodel.faults import inner


@dataclass(frozen=True)
class Profile:
    """A controller, and what it rests on.

    Attributes
    ----------
    controller : Controller
    source : str
        Of its evidence.
    year : int
        In which such controllers were new.
    evidence : mapping of str to any
        Measured rates that a simulation with the profile comes to.
    text : str
        The profile as it is written.
    """

    controller: Controller
    source: str
    year: int
    evidence: Mapping[str, Any]
    text: str


@cache
def profiles() -> Mapping[str, Profile]:
    """Return all profiles by name, sorted."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): _read(file) for file in files if file.name.endswith(".toml")}


def _read(file: Any) -> Profile:
    text = file.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    controller = Controller.parse({"name": data["name"], **data["controller"]}, file.name)
    return Profile(controller, data["source"], data["year"], data.get("evidence", {}), text)


def load_controller(name: str) -> Controller:
    """Return the controller of that name.

    Raises
    ------
    DescriptionError
        When there is none; the message lists the names.

    Examples
    --------
    >>> load_controller("perc-h330").volume_depth
    5
    """
    return profile_of(name).controller


def profile_of(name: str) -> Profile:
    """Return the profile of that name.

    Raises
    ------
    DescriptionError
        When there is none; the message lists the names.
    """
    known = profiles()
    if name not in known:
        rule = "is not a controller in the catalogue"
        raise DescriptionError(Fault("controller", name, rule, choose_from(name, known)))
    return known[name]


def _named(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return load_controller(value)
    except DescriptionError as error:
        raise inner(error) from None


#: A controller inside another description: a full description, or a name in the catalogue.
NamedController = Annotated[Controller, BeforeValidator(_named)]
