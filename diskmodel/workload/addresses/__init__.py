"""Where the requests of a stream go: one pattern, one file. The registry of patterns is `PATTERNS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import BeforeValidator, Field

from diskmodel.workload.addresses.apart import begins_apart, is_near, starts_of
from diskmodel.workload.addresses.excerpts import ExcerptPlaces
from diskmodel.workload.addresses.hot_spot import HotSpot
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.addresses.reuse_walk import ReuseWalk
from diskmodel.workload.addresses.sequential import Sequential
from diskmodel.workload.addresses.sorted_batches import SortedBatches
from diskmodel.workload.addresses.strided import Strided
from diskmodel.workload.addresses.uniform import Uniform
from diskmodel.workload.addresses.zipf import Zipf
from diskmodel.workload.addresses.zone_write import ZoneWrite
from diskmodel.workload.addresses.zoned import Zone, Zoned

#: Every address pattern by its name.
PATTERNS: dict[str, type[AddressPattern]] = {
    pattern.model_fields["pattern"].default: pattern
    for pattern in (
        Uniform,
        Sequential,
        Zipf,
        HotSpot,
        ReuseWalk,
        Strided,
        SortedBatches,
        Zoned,
        ZoneWrite,
        ExcerptPlaces,
    )
}


def _from_name(value: object) -> object:
    return {"pattern": value} if isinstance(value, str) else value


if TYPE_CHECKING:
    _Pattern = AddressPattern
else:
    _Pattern = Annotated[Union[tuple(PATTERNS.values())], Field(discriminator="pattern")]  # noqa: UP007

#: Any pattern; a file may give just its name where every option has a default.
Addresses = Annotated[_Pattern, BeforeValidator(_from_name)]

__all__ = [
    "PATTERNS",
    "AddressPattern",
    "Addresses",
    "ExcerptPlaces",
    "HotSpot",
    "ReuseWalk",
    "Sequential",
    "SortedBatches",
    "Strided",
    "Uniform",
    "Zipf",
    "Zone",
    "ZoneWrite",
    "Zoned",
    "begins_apart",
    "is_near",
    "starts_of",
]
