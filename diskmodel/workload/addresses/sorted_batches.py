"""Random places, sorted in batches: what a database's checkpoint or a sorted write-back issues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from diskmodel.records import Int64
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class SortedBatches(AddressPattern):
    """Uniformly random places, every `n_batch` consecutive ones in ascending order."""

    title: ClassVar[str] = "random places, sorted in batches"
    example: ClassVar[Mapping[str, object]] = {"n_batch": 32}

    pattern: Literal["sorted"] = "sorted"
    n_batch: int = Field(ge=1, le=1 << 24)

    @property
    def n_together(self) -> int:
        """Requests of a batch."""
        return self.n_batch

    @property
    def n_course(self) -> float:
        """Requests of a batch: it begins at the front of the region."""
        return self.n_batch

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        n = len(lengths)
        n_batches = -(-n // self.n_batch)
        # whole batches are drawn, so that the last one does not depend on where the workload is cut
        places = space.pick(draws.uniform(Kind.ADDRESS, n_batches * self.n_batch))
        return np.sort(places.reshape(n_batches, self.n_batch), axis=1).reshape(-1)[:n]
