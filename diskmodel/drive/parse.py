"""Drives from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.flash import Flash
from diskmodel.drive.hdd import Hdd
from diskmodel.errors import DescriptionError, Fault

Drive = Annotated[Hdd | Flash, Field(discriminator="kind")]
"""A drive: `kind` ("hdd" or "flash") decides which of the two it is."""


def parse_drive(data: Mapping[str, Any], source: str = "") -> Hdd | Flash:
    """Return the drive in plain data; its `kind` ("hdd" or "flash") decides which.

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
