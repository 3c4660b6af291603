"""Uniformly random places."""

from __future__ import annotations

from typing import Literal

from diskmodel.description import Description
from diskmodel.records import Int64
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class Uniform(Description):
    """Every place of the region is equally likely, independently of what came before."""

    pattern: Literal["uniform"] = "uniform"

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        return space.pick(draws.uniform(Kind.ADDRESS, len(lengths)))
