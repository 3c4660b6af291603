"""Drives from a file, or by a name in the catalogue."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from diskmodel.description import read_toml
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.errors import DescriptionError
from diskmodel.faults import inner


def _named(value: object) -> object:
    if not isinstance(value, str | os.PathLike):
        return value
    try:
        return load_drive(Path(value) if isinstance(value, os.PathLike) else value)
    except DescriptionError as error:
        raise inner(error) from None


#: A drive inside another description: a full description, the path of a profile, or a name in the catalogue.
NamedDrive = Annotated[Drive, BeforeValidator(_named)]


def load_drive(place: str | Path) -> Drive:
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
