"""On-off bursts: a Poisson stream whose rate switches between two values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from diskmodel.records import Int64
from diskmodel.units import Pause, PerSecond, PerSecondOrZero
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.arrivals.poisson import Poisson
from diskmodel.workload.arrivals.profile import Profile
from diskmodel.workload.draws import Draws, Float64, Kind, running_sum

#: On times for each request, on average. Where many pass between two requests, the stream is a Poisson stream, and each
#: on and off time takes 48 bytes: a million requests take 480 MB at 10.
MAX_CYCLES = 10


class Bursts(ArrivalLaw):
    """Open stream that is on and off for exponentially distributed times.

    A two-state Markov-modulated Poisson process, started in its steady state.

    References
    ----------
    W. Fischer, K. Meier-Hellstern, *The Markov-modulated Poisson process (MMPP) cookbook*, Performance Evaluation 18,
    1993.
    """

    title: ClassVar[str] = "a rate that is on and off by turns"
    example: ClassVar[Mapping[str, object]] = {"on_rate": "400/s", "mean_on": "2 s", "mean_off": "6 s"}

    kind: Literal["bursts"] = "bursts"
    on_rate_per_s: PerSecond
    off_rate_per_s: PerSecondOrZero = 0.0
    mean_on_ns: Pause
    mean_off_ns: Pause
    profile: Profile | None = None

    @model_validator(mode="after")
    def _durations(self) -> Bursts:
        if self.mean_on_ns == 0 or self.mean_off_ns == 0:
            raise ValueError('mean_on_ns and mean_off_ns must be more than 0; write for example "2 s"')
        cycles = 1e9 / ((self.mean_on_ns + self.mean_off_ns) * self.expected_rate_per_s)
        if cycles > MAX_CYCLES:
            raise ValueError(
                f"mean_on_ns, mean_off_ns: {cycles:.3g} bursts begin and end for each request, more than {MAX_CYCLES}; "
                "make them longer, or use poisson at the mean rate, which is the same then"
            )
        return self

    @property
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests over on and off times."""
        on, off = self.mean_on_ns, self.mean_off_ns
        return (self.on_rate_per_s * on + self.off_rate_per_s * off) / (on + off)

    @property
    def cycle_ns(self) -> float:
        """Mean time from the beginning of one burst to the next, or the period of the profile where that is longer."""
        return max(self.mean_on_ns + self.mean_off_ns, self.profile.cycle_ns if self.profile else 0.0)

    @property
    def has_random_cycles(self) -> bool:
        """True: times on and off are drawn."""
        return True

    @property
    def peak_ns(self) -> float:
        """Mean time at the higher of the rates, or the length of the busiest part of the profile if that is longer."""
        own_ns = self.mean_on_ns if self.on_rate_per_s >= self.off_rate_per_s else self.mean_off_ns
        return max(own_ns, self.profile.peak_ns if self.profile else 0.0)

    @property
    def peak_share(self) -> float:
        """Share of the requests that come while the higher of the rates lasts; 1 with a profile."""
        if self.profile is not None:
            return 1.0
        on, off = self.on_rate_per_s * self.mean_on_ns, self.off_rate_per_s * self.mean_off_ns
        return (on if self.on_rate_per_s >= self.off_rate_per_s else off) / (on + off)

    def at_peak(self) -> ArrivalLaw:
        """Return the busiest part of the profile; without one, bursts that never end."""
        if self.profile is not None:
            return self.scaled(self.profile.peak_ratio).model_copy(update={"profile": None})
        return Poisson(rate_per_s=max(self.on_rate_per_s, self.off_rate_per_s))

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
        unit = running_sum(draws.exponential(Kind.ARRIVAL, n), draws)
        phases = self._phases(float(unit[-1]) if n else 0.0, draws)
        at = np.searchsorted(phases.done_before, unit, side="right") - 1
        time_ns = phases.start_ns[at] + (unit - phases.done_before[at]) / phases.rate[at]
        phases.forget_before(int(at[-1]) if n else 0)
        if self.profile is not None:
            time_ns = self.profile.warp(time_ns)
        return np.rint(time_ns).astype(np.int64)

    def _phases(self, needed: float, draws: Draws) -> _Phases:
        """Phases until `needed` arrivals are due, beginning with the one that the last arrival fell into."""
        share_on = self.mean_on_ns / (self.mean_on_ns + self.mean_off_ns)
        phases: _Phases | None = draws.memory.get(Kind.BURST)
        if phases is None:
            phases = _Phases(starts_on=bool(draws.uniform(Kind.PHASE, 1)[0] < share_on))
            phases.generator = draws.generator(Kind.BURST)
            draws.memory[Kind.BURST] = phases
        mean_ns = np.array([self.mean_on_ns, self.mean_off_ns], dtype=np.float64)
        rate = np.array([self.on_rate_per_s, self.off_rate_per_s]) / 1e9
        if not phases.starts_on:
            mean_ns, rate = mean_ns[::-1], rate[::-1]
        while phases.next_done <= needed:
            phases.draw_more(int((needed - phases.next_done) / float(mean_ns @ rate)) + 16, mean_ns, rate)
        return phases


class _Phases:
    """On and off times in turn: start, expected arrivals before the start, and rate per ns of each."""

    generator: np.random.Generator

    def __init__(self, *, starts_on: bool) -> None:
        self.starts_on = starts_on
        self.start_ns = self.done_before = self.rate = np.zeros(0)
        self.next_start_ns = self.next_done = 0.0

    def draw_more(self, n_pairs: int, mean_ns: Float64, rate: Float64) -> None:
        length = (self.generator.standard_exponential((n_pairs, 2)) * mean_ns).reshape(-1)
        rates = np.tile(rate, n_pairs)
        start_ns = np.cumsum(np.concatenate([[self.next_start_ns], length]))
        done_before = np.cumsum(np.concatenate([[self.next_done], length * rates]))
        self.next_start_ns, self.next_done = float(start_ns[-1]), float(done_before[-1])
        self.start_ns = np.concatenate([self.start_ns, start_ns[:-1]])
        self.done_before = np.concatenate([self.done_before, done_before[:-1]])
        self.rate = np.concatenate([self.rate, rates])

    def forget_before(self, at: int) -> None:
        """Drop the phases before number `at`."""
        self.start_ns, self.done_before, self.rate = self.start_ns[at:], self.done_before[at:], self.rate[at:]
