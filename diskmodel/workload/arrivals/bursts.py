"""On-off bursts: a Poisson stream whose rate switches between two values."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.records import Int64
from diskmodel.units import Nanoseconds, PerSecond
from diskmodel.workload.arrivals.profile import Profile
from diskmodel.workload.draws import Draws, Float64, Kind


class Bursts(Description):
    """Open stream that is on and off for exponentially distributed times.

    A two-state Markov-modulated Poisson process, started in its steady state.

    References
    ----------
    W. Fischer, K. Meier-Hellstern, *The Markov-modulated Poisson process (MMPP) cookbook*, Performance Evaluation 18,
    1993.
    """

    kind: Literal["bursts"] = "bursts"
    on_rate_per_s: PerSecond
    off_rate_per_s: float = Field(default=0.0, ge=0)
    mean_on_ns: Nanoseconds
    mean_off_ns: Nanoseconds
    profile: Profile | None = None

    @model_validator(mode="after")
    def _durations(self) -> Bursts:
        if self.mean_on_ns == 0 or self.mean_off_ns == 0:
            raise ValueError('mean_on_ns and mean_off_ns must be more than 0; write for example "2 s"')
        return self

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests over on and off times."""
        on, off = self.mean_on_ns, self.mean_off_ns
        return (self.on_rate_per_s * on + self.off_rate_per_s * off) / (on + off)

    def scaled(self, factor: float) -> Bursts:
        """The same stream at `factor` times both rates; the durations stay."""
        return self.model_copy(
            update={
                "on_rate_per_s": self.on_rate_per_s * factor,
                "off_rate_per_s": self.off_rate_per_s * factor,
            }
        )

    def when(self, n: int, draws: Draws) -> Int64:
        """Absolute issue times, never decreasing; int64, shape (n,), ns."""
        # arrivals of a unit-rate Poisson stream, seen through the inverse of the integrated rate
        unit = np.cumsum(draws.exponential(Kind.ARRIVAL, n))
        start_ns, done_before, rate = self._phases(float(unit[-1]) if n else 0.0, draws)
        phase = np.searchsorted(done_before, unit, side="right") - 1
        time_ns = start_ns[phase] + (unit - done_before[phase]) / rate[phase]
        if self.profile is not None:
            time_ns = self.profile.warp(time_ns)
        return np.rint(time_ns).astype(np.int64)

    def _phases(self, needed: float, draws: Draws) -> tuple[Float64, Float64, Float64]:
        """Start, expected arrivals before the start, and rate per ns of each phase, until `needed` arrivals are due."""
        share_on = self.mean_on_ns / (self.mean_on_ns + self.mean_off_ns)
        starts_on = bool(draws.uniform(Kind.PHASE, 1)[0] < share_on)
        mean_ns = np.array([self.mean_on_ns, self.mean_off_ns], dtype=np.float64)
        rate = np.array([self.on_rate_per_s, self.off_rate_per_s]) / 1e9
        if not starts_on:
            mean_ns, rate = mean_ns[::-1], rate[::-1]
        generator = draws.generator(Kind.BURST)
        per_pair = float(mean_ns @ rate)
        durations: list[Float64] = []
        due = 0.0
        while due <= needed:
            n_pairs = int((needed - due) / per_pair) + 16
            chunk = generator.standard_exponential((n_pairs, 2)) * mean_ns
            durations.append(chunk)
            due += float((chunk @ rate).sum())
        length = np.concatenate(durations).reshape(-1)
        rates = np.tile(rate, len(length) // 2)
        start_ns = np.concatenate([[0.0], np.cumsum(length)[:-1]])
        done_before = np.concatenate([[0.0], np.cumsum(length * rates)[:-1]])
        return start_ns, done_before, rates
