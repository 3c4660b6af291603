"""Given gaps between arrivals, repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from diskmodel.records import Int64
from diskmodel.units import Pause
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.draws import Draws


class Given(ArrivalLaw):
    """Open stream with these times between arrivals, in this order, again and again. One value: a constant rate."""

    title: ClassVar[str] = "given gaps, repeated"
    example: ClassVar[Mapping[str, object]] = {"inter_arrival_ns": ["5 ms"]}

    kind: Literal["given"] = "given"
    inter_arrival_ns: tuple[Pause, ...] = Field(min_length=1)

    @field_validator("inter_arrival_ns")
    @classmethod
    def _time_passes(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if sum(value) == 0:
            raise ValueError('must not be all 0; write for example ["5 ms"]')
        return value

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests."""
        return len(self.inter_arrival_ns) * 1e9 / sum(self.inter_arrival_ns)

    @property
    def cycle_ns(self) -> float:
        """Time of all gaps; 0 where they are the same."""
        return float(sum(self.inter_arrival_ns)) if len(set(self.inter_arrival_ns)) > 1 else 0.0

    def scaled(self, factor: float) -> Given:
        """The same stream with its gaps divided by `factor`, rounded; 1 ns where all of them would be 0."""
        gaps = tuple(round(gap / factor) for gap in self.inter_arrival_ns)
        return self.model_copy(update={"inter_arrival_ns": gaps if any(gaps) else (1,)})

    def when(self, n: int, draws: Draws) -> Int64:
        """Absolute issue times, never decreasing; the first is one gap after 0; int64, shape (n,), ns."""
        gaps = np.asarray(self.inter_arrival_ns, dtype=np.int64)
        whole, done = divmod(draws.first_row, len(gaps))
        before = whole * int(gaps.sum()) + int(gaps[:done].sum())
        return before + np.cumsum(np.resize(np.roll(gaps, -done), n))
