"""Places at a constant distance, as when one column of a matrix or one member of a record array is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import field_validator

from diskmodel.records import Int64
from diskmodel.units import Bytes
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws
from diskmodel.workload.space import Space


class Strided(AddressPattern):
    """Request i starts at i · `stride_bytes`; at the end of the region it begins again from the front."""

    title: ClassVar[str] = "places at a constant distance"
    example: ClassVar[Mapping[str, object]] = {"stride": "1 MiB"}

    pattern: Literal["strided"] = "strided"
    stride_bytes: Bytes

    @field_validator("stride_bytes")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value == 0:
            raise ValueError('must be more than 0; write for example "1 MiB"')
        return value

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region, moved down to the alignment; int64, shape (n,)."""
        n_steps = (space.span_bytes - space.largest_bytes) // self.stride_bytes + 1
        step = draws.n_before + draws.first_row + np.arange(len(lengths), dtype=np.int64)
        return space.align_down(step % n_steps * self.stride_bytes)
