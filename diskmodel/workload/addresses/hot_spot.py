"""A hot spot: much of the traffic goes to little of the space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from diskmodel.records import Int64
from diskmodel.units import Ratio
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class HotSpot(AddressPattern):
    """A share `access_ratio` of the requests goes to a share `space_ratio` of the region, uniformly inside and outside.

    The hot part begins at the fraction `start_ratio` of the region.
    """

    title: ClassVar[str] = "much of the traffic goes to little of the space"
    example: ClassVar[Mapping[str, object]] = {"access_ratio": 0.8, "space_ratio": 0.2}
    is_scattered: ClassVar[bool] = True

    pattern: Literal["hot_spot"] = "hot_spot"
    access_ratio: Ratio
    space_ratio: Ratio
    start_ratio: Ratio = 0.0

    @model_validator(mode="after")
    def _fits(self) -> HotSpot:
        if not 0 < self.space_ratio < 1:
            raise ValueError("space_ratio must be between 0 and 1, both excluded; write for example 0.2")
        if self.start_ratio + self.space_ratio > 1:
            raise ValueError("start_ratio + space_ratio must be at most 1; lower one of them")
        return self

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        n = len(lengths)
        n_hot = min(max(round(space.n_places * self.space_ratio), 1), space.n_places)
        first_hot = min(round(space.n_places * self.start_ratio), space.n_places - n_hot)
        n_cold = space.n_places - n_hot
        place = draws.uniform(Kind.ADDRESS, n)
        is_hot = draws.uniform(Kind.REGION, n) < self.access_ratio
        if n_cold == 0:
            return space.pick(place)
        hot = np.minimum((place * n_hot).astype(np.int64), n_hot - 1) + first_hot
        cold = np.minimum((place * n_cold).astype(np.int64), n_cold - 1)
        cold += np.where(cold >= first_hot, n_hot, 0)
        return space.at_places(np.where(is_hot, hot, cold))
