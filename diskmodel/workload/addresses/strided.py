"""Places at a constant distance, as when one column of a matrix or one member of a record array is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from diskmodel.records import Int64
from diskmodel.units import Bytes
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws
from diskmodel.workload.space import Space


class Strided(AddressPattern):
    """Request i starts at i · `stride_bytes`; at the end of the region it begins again from the front.

    A run begins `begin_ratio` of the region behind its front.
    """

    title: ClassVar[str] = "places at a constant distance"
    example: ClassVar[Mapping[str, object]] = {"stride": "1 MiB"}

    pattern: Literal["strided"] = "strided"
    stride_bytes: Bytes
    begin_ratio: float | None = Field(default=None, ge=0, lt=1)

    @field_validator("stride_bytes")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value == 0:
            raise ValueError('must be more than 0; write for example "1 MiB"')
        return value

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region, moved down to the alignment; int64, shape (n,)."""
        n_steps = (space.span_bytes - space.largest_bytes) // self.stride_bytes + 1
        # of a place that is given, whole rounds came before
        n_begun = draws.n_before if self.begin_ratio is None else int(self.begin_ratio * n_steps)
        step = n_begun + draws.first_row + np.arange(len(lengths), dtype=np.int64)
        return space.align_down(step % n_steps * self.stride_bytes)

    @property
    def is_in_order(self) -> bool:
        """Whether the description leaves open where a run begins."""
        return self.begin_ratio is None

    @property
    def goes_through(self) -> bool:
        """It always does."""
        return True

    def at_the_end(self, n: int, step_bytes: float, space: Space) -> Strided:
        """Return the pattern begun so late that the last of `n` requests is the last of the region."""
        if not self.is_in_order:
            return self
        gone_ratio = n * self.stride_bytes / space.span_bytes
        return self.model_copy(update={"begin_ratio": max(1 - gone_ratio, 0.0)})
