"""Drives from a file, or by a name in the catalogue."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from diskmodel.description import read_toml
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.parse import Drive, bought_by_name, bought_in, parse_drive, with_members
from diskmodel.errors import DescriptionError, Fault
from diskmodel.faults import inner
from diskmodel.naming import meant


def _named(value: object) -> object:
    if not isinstance(value, str | os.PathLike):
        return with_members(value, load_drive)
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
        A path if it ends in ".toml" or names an existing file; otherwise a name in the catalogue. What is provisioned
        of a volume of a cloud may follow: "aws-gp3, 6000 IOPS, 500MB/s, 2TB".

    Raises
    ------
    DescriptionError
        When there is no such file or name (the message lists close names), or the description breaks a rule.

    Examples
    --------
    >>> load_drive("generic-15k").rpm
    15000.0
    """
    if isinstance(place, str) and "," in place and not os.path.exists(place):
        name, *more = place.split(",")
        said: dict[str, Any] = {}
        for part in more:
            own = bought_in(part)
            if not own:
                fix = 'write for example "aws-gp3, 6000 IOPS, 500MB/s, 2TB"'
                raise DescriptionError(Fault("drive", place, f"has {part.strip()!r} beside a drive", fix))
            said |= own
        found = provisioned(name.strip(), said)
        return parse_drive(found, place) if isinstance(found, dict) else load_drive(found)
    if isinstance(place, Path) or place.endswith(".toml") or os.path.exists(place):
        return parse_drive(with_members(read_toml(place, "drive"), load_drive), str(place))
    found = provisioned(place, {})
    return parse_drive(found, place) if isinstance(found, dict) else catalogue()[found]


def provisioned(name: str, said: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return a drive's name, or its fields with what words say is bought of it, such as a volume of a cloud.

    Raises
    ------
    DescriptionError
        When nothing of such a drive can be provisioned.
    """
    if os.path.exists(name):
        return name
    plain, own = bought_by_name(name, _is_bought)
    said = own | dict(said)
    if not said:
        return name
    known = catalogue()[plain]
    if not known.is_provisioned:
        rule = f"has {' and '.join(said)} beside {known.name}, as only volumes of a cloud do"
        raise DescriptionError(Fault("drive", name, rule, "remove that, or name a volume such as aws-gp3"))
    return known.provisioned(said)


def _is_bought(name: str) -> bool:
    found = meant(name, catalogue().titles)
    return len(found) == 1 and catalogue()[found[0]].is_provisioned
