"""Drives from plain data: the list of all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.cloud.description import CloudVolume
from diskmodel.drive.cluster.description import ClusterPool
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.hdd import Hdd
from diskmodel.drive.virtual.description import Virtual
from diskmodel.errors import DescriptionError, Fault

#: Descriptions of all kinds, by the `kind` that decides; a kind is added here and in the union below.
KINDS: Mapping[str, Any] = {
    "hdd": Hdd,
    "flash": Flash,
    "virtual": Virtual,
    "cloud": CloudVolume,
    "cluster": ClusterPool,
}

Drive = Annotated[
    Hdd
    | Flash
    | Virtual
    | CloudVolume
    | ClusterPool,
    Field(discriminator="kind"),
]  # fmt: skip
"""A drive: `kind` (a key of `KINDS`) decides which it is."""


def parse_drive(data: Mapping[str, Any], source: str = "") -> Drive:
    """Return the drive in plain data; its `kind` (a key of `KINDS`) decides which.

    Raises
    ------
    DescriptionError
        With every fault.
    """
    kind = data.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        drive: Drive = KINDS[kind].parse(data, source)
        return drive
    *others, last = (f'"{name}"' for name in KINDS)
    rule = f"must be {', '.join(others)} or {last}"
    raise DescriptionError(Fault("kind", kind, rule, "say which kind of drive this is"), source)
