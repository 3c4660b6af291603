"""Where the requests of a stream go: one pattern, one file.

To add a pattern: a `Description` with a literal `pattern` field and `starts(lengths, space, draws)`, and its name in
`Addresses` below.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from diskmodel.workload.addresses.hot_spot import HotSpot
from diskmodel.workload.addresses.sequential import Sequential
from diskmodel.workload.addresses.sorted_batches import SortedBatches
from diskmodel.workload.addresses.strided import Strided
from diskmodel.workload.addresses.uniform import Uniform
from diskmodel.workload.addresses.zipf import Zipf
from diskmodel.workload.addresses.zoned import Zone, Zoned


def _from_name(value: object) -> object:
    return {"pattern": value} if isinstance(value, str) else value


_Pattern = Annotated[
    Uniform | Sequential | Zipf | HotSpot | Strided | SortedBatches | Zoned,
    Field(discriminator="pattern"),
]

#: Any pattern; a file may give just its name where every option has a default.
Addresses = Annotated[_Pattern, BeforeValidator(_from_name)]

__all__ = ["Addresses", "HotSpot", "Sequential", "SortedBatches", "Strided", "Uniform", "Zipf", "Zone", "Zoned"]
