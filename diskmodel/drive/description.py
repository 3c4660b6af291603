"""Drives by description: a file, a name in the catalogue, or plain data."""

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
"""A drive: `kind` ("hdd" or "flash") decides which of the two it is."""


def parse_drive(data: Mapping[str, Any], source: str = "") -> Hdd | Flash:
    """The drive in plain data; its `kind` ("hdd" or "flash") decides which.

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
    raise DescriptionError(Fault("kind", kind, 'must be "hdd" or "flash"', "say which kind of drive this is"), source)


def _named(value: object) -> object:
    if not isinstance(value, str | os.PathLike):
        return value
    try:
        return load_drive(Path(value) if isinstance(value, os.PathLike) else value)
    except DescriptionError as error:
        raise inner(error) from None


#: A drive in a description: described there, or a profile or a name of the catalogue.
NamedDrive = Annotated[Drive, BeforeValidator(_named)]


def load_drive(place: str | Path) -> Hdd | Flash:
    """The drive in a TOML file, or of that name in the catalogue.

    Parameters
    ----------
    place : str or Path
        What ends in ".toml" or names an existing file is a file; anything else is a catalogue name.

    Raises
    ------
    DescriptionError
        When there is no such file or name (close names are listed) or the description breaks rules.

    Examples
    --------
    >>> load_drive("generic-15k").rpm
    15000.0
    """
    if isinstance(place, Path) or place.endswith(".toml") or os.path.exists(place):
        return parse_drive(read_toml(place, "drive"), str(place))
    return catalogue()[place]
