"""Controllers by name, one TOML file each, with what was measured of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from diskmodel.controller.description import Controller
from diskmodel.controller.files import texts
from diskmodel.errors import DescriptionError, Fault, choose_from
from diskmodel.faults import inner
from diskmodel.naming import meant, several, words_of

#: What a machine's limits are written as.
_IOPS = re.compile(r"(?<!\d)(?P<rate>\d[\d,.]*\s*k?)\s*(?:iops|io/s)", re.IGNORECASE)
_LINK = re.compile(r"(?<!\d)\d[\d,.]*\s*[kMGT]?i?[Bb](?:it)?/s")


class Profile(NamedTuple):
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
    return {name: _read(name, text) for name, text in texts().items()}


def _read(name: str, text: str) -> Profile:
    data = tomllib.loads(text)
    controller = Controller.parse({"name": data["name"], **data["controller"]}, f"{name}.toml")
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
    """Return the profile of that name, or of a part of it that no other has: "h730".

    Raises
    ------
    DescriptionError
        When there is none, or several; the message lists names.
    """
    known = profiles()
    return known[name if name in known else _name_of(name)]


def named(text: str) -> str | None:
    """Return the name of the only controller that a text means; None where it means none, or several."""
    found = _meant(text)
    return found[0] if len(found) == 1 else None


def _meant(text: str) -> list[str]:
    """Return the controllers whose names have all words of a text, with a number among them: "H730", "PERC h330"."""
    if text in profiles():
        return [text]
    # the letter behind a P408i-a says what slot it fits
    plain = " ".join(word for word in words_of(text) if len(word) > 1)
    return meant(plain, dict.fromkeys(profiles(), "")) if any(map(str.isdigit, plain)) else []


def _name_of(text: str) -> str:
    found = _meant(text)
    if len(found) > 1:
        raise DescriptionError(Fault("controller", text, "fits several controllers in the catalogue", several(found)))
    if not found:
        rule = "is not a controller in the catalogue"
        raise DescriptionError(Fault("controller", text, rule, choose_from(text, profiles())))
    return found[0]


def machine_of(text: str) -> dict[str, str]:
    """Return the fields of what a machine lets its volumes do together; nothing where a text is no such limits.

    Examples
    --------
    >>> machine_of("40000 IOPS, 1187 MB/s"), machine_of("18750 IOPS"), machine_of("perc-h730")
    ({'most_iops': '40000/s', 'link': '1187 MB/s'}, {'most_iops': '18750/s'}, {})
    """
    found = {}
    if rate := _IOPS.search(text):
        found["most_iops"] = f"{rate['rate'].replace(' ', '').replace(',', '')}/s"
    rest = _IOPS.sub(" ", text, count=1)
    if link := _LINK.search(rest):
        found["link"] = link[0].replace(",", "")
    rest = _LINK.sub(" ", rest, count=1)
    return {} if set(rest.split()) - {",", "and"} else found


def _named(value: object) -> object:
    if not isinstance(value, str):
        return value
    if limits := machine_of(value):
        return {"name": f"a machine with {value.strip()}", **limits}
    try:
        return load_controller(value)
    except DescriptionError as error:
        raise inner(error) from None


#: A controller inside another description: a full description, or a name in the catalogue.
NamedController = Annotated[Controller, BeforeValidator(_named)]
