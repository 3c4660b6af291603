"""Zones of the region, each with a share of the requests of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from diskmodel.description import Description
from diskmodel.records import Int64
from diskmodel.units import Ratio
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class Zone(Description):
    """A share `space_ratio` of the region that gets a share `access_ratio` of the requests."""

    access_ratio: Ratio
    space_ratio: Ratio


class Zoned(AddressPattern):
    """Zones one after the other from the start of the region, uniformly random within each.

    Shares of requests add up to 1, as do shares of space unless some of the region is never used.
    """

    title: ClassVar[str] = "zones, each with its share of requests"
    example: ClassVar[Mapping[str, object]] = {
        "zones": [{"access_ratio": 0.7, "space_ratio": 0.1}, {"access_ratio": 0.3, "space_ratio": 0.9}]
    }
    is_scattered: ClassVar[bool] = True

    pattern: Literal["zoned"] = "zoned"
    zones: tuple[Zone, ...] = Field(min_length=1, max_length=1024)

    @field_validator("zones")
    @classmethod
    def _fit(cls, zones: tuple[Zone, ...]) -> tuple[Zone, ...]:
        if not math.isclose(sum(zone.access_ratio for zone in zones), 1.0, abs_tol=0.01):
            raise ValueError("access_ratio of all zones must add up to 1; correct one of them")
        if sum(zone.space_ratio for zone in zones) > 1.01:
            raise ValueError("space_ratio of all zones must add up to at most 1; lower one of them")
        if any(zone.access_ratio > 0 and zone.space_ratio == 0 for zone in zones):
            raise ValueError("a zone with requests must have space; raise its space_ratio")
        return zones

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """Return the first byte of each request, relative to the region; int64, shape (n,)."""
        n = len(lengths)
        access = np.cumsum([zone.access_ratio for zone in self.zones])
        edges = np.minimum(np.concatenate([[0.0], np.cumsum([zone.space_ratio for zone in self.zones])]), 1.0)
        chosen = np.searchsorted(access[:-1] / access[-1], draws.uniform(Kind.REGION, n), side="right")
        place = edges[chosen] + draws.uniform(Kind.ADDRESS, n) * (edges[chosen + 1] - edges[chosen])
        return space.at_places((place * space.n_places).astype(np.int64))
