"""Uniformly random places."""

from __future__ import annotations

from typing import ClassVar, Literal

from diskmodel.records import Int64
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class Uniform(AddressPattern):
    """Every place of the region is equally likely, independently of what came before."""

    title: ClassVar[str] = "uniformly random places"
    is_scattered: ClassVar[bool] = True

    pattern: Literal["uniform"] = "uniform"

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        return space.pick(draws.uniform(Kind.ADDRESS, len(lengths)))
