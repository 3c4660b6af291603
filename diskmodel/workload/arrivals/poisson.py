"""Independent arrivals at a rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from diskmodel.records import Int64
from diskmodel.units import PerSecond
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.arrivals.profile import Profile
from diskmodel.workload.draws import Draws, Kind, running_sum


class Poisson(ArrivalLaw):
    """Open stream with exponential gaps of mean 1 / `rate_per_s`, its rate optionally following a `profile`."""

    title: ClassVar[str] = "independent arrivals at a rate"
    example: ClassVar[Mapping[str, object]] = {"rate": "200/s"}

    kind: Literal["poisson"] = "poisson"
    rate_per_s: PerSecond
    profile: Profile | None = None

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests."""
        return self.rate_per_s

    @property
    def cycle_ns(self) -> float:
        """Period of the profile; 0 without one."""
        return self.profile.cycle_ns if self.profile else 0.0

    @property
    def peak_ns(self) -> float:
        """Length of the busiest part of the profile; 0 without one."""
        return self.profile.peak_ns if self.profile else 0.0

    def at_peak(self) -> Poisson:
        """Return the stream as it is in the busiest part of its profile."""
        if self.profile is None:
            return self
        return self.scaled(self.profile.peak_ratio).model_copy(update={"profile": None})

    def scaled(self, factor: float) -> Poisson:
        """The same stream at `factor` times the rate."""
        return self.model_copy(update={"rate_per_s": self.rate_per_s * factor})

    def when(self, n: int, draws: Draws) -> Int64:
        """Absolute issue times, never decreasing; int64, shape (n,), ns."""
        time_ns = running_sum(draws.exponential(Kind.ARRIVAL, n), draws) * (1e9 / self.rate_per_s)
        if self.profile is not None:
            time_ns = self.profile.warp(time_ns)
        return np.rint(time_ns).astype(np.int64)
