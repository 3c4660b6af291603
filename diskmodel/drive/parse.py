"""Drives from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.flash.description import Flash
from diskmodel.drive.hdd import Hdd
from diskmodel.drive.virtual.description import Virtual
from diskmodel.errors import DescriptionError, Fault

Drive = Annotated[Hdd | Flash | Virtual, Field(discriminator="kind")]
"""A drive: `kind` ("hdd", "flash" or "virtual") decides which it is."""

_KINDS: dict[object, type[Hdd] | type[Flash] | type[Virtual]] = {"hdd": Hdd, "flash": Flash, "virtual": Virtual}


def parse_drive(data: Mapping[str, Any], source: str = "") -> Drive:
    """Return the drive in plain data; its `kind` ("hdd", "flash" or "virtual") decides which.

    Raises
    ------
    DescriptionError
        With every fault.
    """
    kind = data.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind].parse(data, source)
    rule = 'must be "hdd", "flash" or "virtual"'
    raise DescriptionError(Fault("kind", kind, rule, "say which kind of drive this is"), source)
