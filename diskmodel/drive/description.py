"""Drives from a file, by a name in the catalogue, or from plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from diskmodel.description import read_toml
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.flash import Flash
from diskmodel.drive.hdd import Hdd
from diskmodel.errors import DescriptionError, Fault
from diskmodel.faults import inner

Drive = Annotated[Hdd | Flash, Field(discriminator="kind")]
"""A drive: its `kind` is "hdd" or "flash"."""


def parse_drive(data: Mapping[str, Any], source: str = "") -> Hdd | Flash:
    """Return the drive described by plain data; its `kind` is "hdd" or "flash".

    Raises
    ------
    DescriptionError
        With every fault.
    """
    kind = data.get("kind")
    if kind == "hdd":
        return Hdd.parse(data, source)
    if kind == "flash":
        return Flash.parse(data, source)
    raise DescriptionError(
        Fault("kind", kind, 'must be "hdd" or "flash"', 'add kind = "hdd" or kind = "flash"'), source
    )


def _named(value: object) -> object:
    if not isinstance(value, str | os.PathLike):
        return value
    try:
        return load_drive(Path(value) if isinstance(value, os.PathLike) else value)
    except DescriptionError as error:
        raise inner(error) from None


#: A drive inside another description: a full description, the path of a profile, or a name in the catalogue.
NamedDrive = Annotated[Drive, BeforeValidator(_named)]


def load_drive(place: str | Path) -> Hdd | Flash:
    """Return the drive in a TOML file, or of that name in the catalogue.

    Parameters
    ----------
    place : str or Path
        A path if it ends in ".toml" or names an existing file; otherwise a name in the catalogue.

    Raises
    ------
    DescriptionError
        When there is no such file or name (the message lists close names), or the description breaks a rule.

    Examples
    --------
    >>> load_drive("generic-15k").rpm
    15000.0
    """
    if isinstance(place, Path) or place.endswith(".toml") or os.path.exists(place):
        return parse_drive(read_toml(place, "drive"), str(place))
    return catalogue()[place]
