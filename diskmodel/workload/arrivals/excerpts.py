"""Times of the excerpts of a trace, one phase after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from diskmodel.records import Int64
from diskmodel.units import PerSecond
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.draws import Draws


class ExcerptTimes(ArrivalLaw):
    """Open stream that arrives as the stream's `excerpts` did, all gaps in proportion, at a mean rate."""

    title: ClassVar[str] = "the times of excerpts of a trace"
    example: ClassVar[Mapping[str, object]] = {"rate": "200/s"}

    kind: Literal["excerpts"] = "excerpts"
    rate_per_s: PerSecond

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests."""
        return self.rate_per_s

    def scaled(self, factor: float) -> ExcerptTimes:
        """The same stream at `factor` times the rate: every gap is shorter by the factor."""
        return self.model_copy(update={"rate_per_s": self.rate_per_s * factor})

    def when(self, n: int, draws: Draws) -> Int64:
        """Absolute issue times, never decreasing; the first is 0; int64, shape (n,), ns."""
        return draws.required_excerpts.when(n, draws, self.rate_per_s)
