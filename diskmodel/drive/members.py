"""The kinds of drives that arrays are made of, and systems, too: each may be a member of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.cloud.description import CloudVolume
from diskmodel.drive.cloud.tables import CloudTables
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.hdd import Hdd
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.virtual.description import Virtual
from diskmodel.drive.virtual.tables import VirtualTables

#: Descriptions by the `kind` that decides; a kind is added here and in the unions below.
MEMBERS: Mapping[str, Any] = {
    "hdd": Hdd,
    "flash": Flash,
    "virtual": Virtual,
    "cloud": CloudVolume,
}

AnyMember = (
    Hdd
    | Flash
    | Virtual
    | CloudVolume
)  # fmt: skip
#: A drive of an array.
Member = Annotated[AnyMember, Field(discriminator="kind")]

#: Tables of those that the kernel has, too: what crosses its boundary, and its schema, has these alone. What is not
#: among them is simulated by SimPy (`native.covers`).
KernelTables = HddTables | FlashTables | VirtualTables | CloudTables
