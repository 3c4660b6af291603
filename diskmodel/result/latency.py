"""Latency of a set of requests as a distribution with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.records import Int64
from diskmodel.result.figure import Figure, InMilliseconds, Known
from diskmodel.result.statistics.batches import Interval, independent_interval, mean_interval
from diskmodel.result.statistics.quantiles import (
    percentiles,
    quantile_intervals,
    quantile_intervals_across,
    reported,
)
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES

#: Share of the load that may be slower than all that was observed, up to which the interval of the mean is believed: as
#: of p99. At half, twice as many bursts must be seen; at double, responses 50 times as long would double the mean.
_IN_MEAN = 0.01


@dataclass(frozen=True)
class Latency(Record, InMilliseconds):
    """Response times of `n` requests: `mean`, `p50` … `p999` are figures in milliseconds.

    Attributes
    ----------
    n : int
    run_mean_ns : Interval
        The mean, ns, with the noise of its run.
    quantiles_ns : mapping of name (p50, …, p999) to float, ns
    run_ends_ns : mapping of the same names to (low, high), ns
        Ends of the intervals for the noise of the run; nan where there are too few requests beyond the percentile.
    max_ns : float
    predicted : pair of callables or None
        Return the interval and the middle (ns) of "mean" or a percentile that include everything that is not known;
        None where the noise of the run is all that was asked for.
    """

    n: int
    run_mean_ns: Interval
    quantiles_ns: Mapping[str, float]
    run_ends_ns: Mapping[str, tuple[float, float]]
    max_ns: float
    predicted: Known | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, response_ns: Int64 | NDArray[np.int32], *, confidence: float = 0.95, n_rounds: int = 0) -> Latency:
        """Latency of responses (int64 or int32, shape (n,), ns) in the order of their completion."""
        if len(response_ns) == 0:
            return cls.unknown(0)
        observed = percentiles(response_ns)
        ends = quantile_intervals(response_ns, _by_level(observed), confidence=confidence, n_rounds=n_rounds)
        return cls(
            n=len(response_ns),
            run_mean_ns=mean_interval(response_ns, confidence=confidence, n_rounds=n_rounds),
            quantiles_ns=observed,
            run_ends_ns={name: ends[level] for name, level in PERCENTILES.items()},
            max_ns=float(response_ns.max()),
        )

    @classmethod
    def across(cls, responses_ns: Sequence[Int64 | NDArray[np.int32]], *, confidence: float = 0.95) -> Latency:
        """Latency of the responses of independent runs: all together, with intervals from the spread over the runs."""
        together = np.concatenate(responses_ns)
        if not all(len(one) for one in responses_ns):
            return cls.unknown(len(together))
        observed = percentiles(together)
        ends = quantile_intervals_across(responses_ns, together, _by_level(observed), confidence=confidence)
        return cls(
            n=len(together),
            run_mean_ns=independent_interval([one.mean() for one in responses_ns], confidence),
            quantiles_ns=observed,
            run_ends_ns={name: ends[level] for name, level in PERCENTILES.items()},
            max_ns=float(together.max()),
        )

    @classmethod
    def mean_alone(cls, response_ns: Int64 | NDArray[np.int32]) -> Latency:
        """Only the mean of responses, without an interval, which takes a tenth of the time."""
        found = cls.unknown(len(response_ns))
        value = float(response_ns.mean()) if len(response_ns) else math.nan
        return replace(found, run_mean_ns=Interval(value, math.nan, math.nan))

    def may_be_above(self, share: float) -> Latency:
        """Return this latency without upper ends where `share` of the load may be slower than all that was observed.

        Percentiles with less than that beyond them have none, nor has the mean where that is more than a hundredth.
        """
        if not share:
            return self
        mean = self.run_mean_ns
        if share > _IN_MEAN:
            mean = Interval(mean.value, mean.low, math.nan)
        ends = {
            name: (low, high if share <= round(1 - PERCENTILES[name], 6) else math.nan)
            for name, (low, high) in self.run_ends_ns.items()
        }
        return replace(self, run_mean_ns=mean, run_ends_ns=ends)

    @classmethod
    def unknown(cls, n: int) -> Latency:
        """No estimate at all: every figure is nan."""
        nothing = dict.fromkeys(PERCENTILES, math.nan)
        ends = dict.fromkeys(PERCENTILES, (math.nan, math.nan))
        return cls(n, Interval(math.nan, math.nan, math.nan), nothing, ends, math.nan)

    @property
    def mean_ns(self) -> float:
        """Mean response, ns."""
        return self.run_mean_ns.value

    @property
    def half_widths_ns(self) -> Mapping[str, float]:
        """Half of each percentile's interval for the noise of the run, ns; nan where unknown."""
        return {name: (high - low) / 2 for name, (low, high) in self.run_ends_ns.items()}

    def figure(self, name: str) -> Figure:
        """Return "mean" or a percentile ("p99"), ms, with everything that is not known in its interval.

        nan where unknown. The ends are found when they are first looked at, because they take simulations.
        """
        own = self.run_interval(name)
        value = own if name == "mean" else Interval(self.reported_ns[name], own.low, own.high)
        if self.predicted is None:
            return Figure.of(value, "ms", 1e6)
        return Figure.predicted(value, name, "ms", 1e6, self.predicted)

    def interval_of(self, name: str) -> Interval:
        """Return "mean" or a percentile ("p99"), ns, with everything that is not known in its interval."""
        return self.run_interval(name) if self.predicted is None else self.predicted[0](name)

    def run_interval(self, name: str) -> Interval:
        """Return "mean" or a percentile ("p99"), ns, with the interval for the noise of its run alone."""
        return self.run_mean_ns if name == "mean" else Interval(self.quantiles_ns[name], *self.run_ends_ns[name])

    def relative_half_width(self, name: str) -> float:
        """Return the half-width of `run_interval` as a share of its value; nan where unknown."""
        if name == "mean":
            return self.run_mean_ns.relative
        value, half_width = self.quantiles_ns[name], self.half_widths_ns[name]
        return half_width / value if value else math.inf

    @property
    def reported_ns(self) -> Mapping[str, float]:
        """Return the percentiles, nan where there are too few requests to report one: p99.9 needs 10,000."""
        return reported(self.quantiles_ns, self.n)

    def json_fields(self) -> Mapping[str, Any]:
        """Return milliseconds by name; nan for what is unknown, or what so few requests cannot show."""
        values = {"mean": self.run_mean_ns.value, **self.reported_ns, "max": self.max_ns}
        return {name: value / 1e6 for name, value in values.items()}

    @property
    def in_ms(self) -> dict[str, float]:
        """Return mean_ms, p50_ms, …, max_ms and the ends of their intervals, p99_low_ms; nan where unknown."""
        return {f"{name}_ms": value for name, value in self.json_fields().items()} | self.ends_ms

    @property
    def ends_ms(self) -> dict[str, float]:
        """Ends of the intervals in milliseconds: mean_low_ms, mean_high_ms, p50_low_ms, …; nan where unknown."""
        return _ends_ms(self.interval_of)

    @property
    def run_ends_ms(self) -> dict[str, float]:
        """The same of the noise of the run alone."""
        return _ends_ms(self.run_interval)


def _ends_ms(interval_of: Callable[[str], Interval]) -> dict[str, float]:
    intervals = {name: interval_of(name) for name in BY_NAME}
    return {
        f"{name}_{end}_ms": getattr(interval, end) / 1e6
        for name, interval in intervals.items()
        for end in ("low", "high")
    }


def _by_level(observed: Mapping[str, float]) -> dict[float, float]:
    return {PERCENTILES[name]: value for name, value in observed.items()}
