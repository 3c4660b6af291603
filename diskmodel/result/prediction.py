"""What the uncertainty of a calibrated drive does to a result: intervals that hold for the real drive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from diskmodel.result.latency import milliseconds
from diskmodel.result.show.figures import between
from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.quantiles import LEVELS

if TYPE_CHECKING:
    from diskmodel.result.result import Result

#: Statistics that are predicted; "iops" per second, the others ns.
STATISTICS = ("iops", "mean", *LEVELS)


@dataclass(frozen=True)
class Prediction:
    """Intervals that include the uncertainty of the drive's parameters.

    Attributes
    ----------
    confidence : float
    n_draws : int
        Drives that were drawn from the profile's uncertainty and simulated.
    n_overloaded : int
        Of these, how many the workload overloads.
    n_requests : int
        Of each run.
    wall_s : float
        What the runs cost.
    parameters : tuple of str
        Parameters that were drawn; all others are taken as exact.
    intervals : mapping of str to Interval
        By statistic (`STATISTICS`): the result's own value, and ends that combine the sampling error of its run with
        the spread over the drawn drives.
    """

    confidence: float
    n_draws: int
    n_overloaded: int
    n_requests: int
    wall_s: float
    parameters: tuple[str, ...]
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: milliseconds, IOPS; None for what is unknown."""
        ends: dict[str, float | None] = {}
        for name, interval in self.intervals.items():
            for end, value in (("low", interval.low), ("high", interval.high)):
                if name == "iops":
                    ends[f"iops_{end}"] = value if math.isfinite(value) else None
                else:
                    ends[f"{name}_{end}_ms"] = milliseconds(value) if math.isfinite(value) else None
        return {
            "confidence": self.confidence,
            "draws": self.n_draws,
            "overloaded_draws": self.n_overloaded,
            "requests_per_draw": self.n_requests,
            "wall_s": self.wall_s,
            "parameters": list(self.parameters),
            **ends,
        }


def own_interval(result: Result, statistic: str) -> Interval:
    """Value and interval of a statistic of a run, sampling error only."""
    if statistic == "iops":
        return result.iops
    if statistic == "mean":
        return result.latency.mean
    return Interval(result.latency.quantiles_ns[statistic], *result.latency.ends_ns[statistic])


def combined(own: Interval, reference: float, drawn: Sequence[float], confidence: float) -> Interval:
    """Interval of a statistic that includes the spread over drawn drives.

    Parameters
    ----------
    own : Interval
        Of the result.
    reference : float
        The statistic of the profile as it is, from a run as long as those of the draws.
    drawn : sequence of float
        The same of the drawn drives, with the same requests: what is common to the runs cancels.
    confidence : float

    Notes
    -----
    Logarithms of statistic by reference have root mean square s over k draws; s · t(k) is the half-width for one
    further draw. Their mean is not taken off: draws that lie to one side of the profile say that the truth may, too.
    It is combined with the sampling error's as the root of the sum of squares.
    """
    known = np.array([value for value in drawn if math.isfinite(value) and value > 0])
    if not (own.mean > 0 and reference > 0) or len(known) < 2:
        return own
    deviation = float(np.sqrt(np.mean(np.log(known / reference) ** 2)))
    of_profile = deviation * float(stats.t.ppf(0.5 + confidence / 2, len(known)))
    below = math.inf if own.low <= 0 else math.log(own.mean / own.low) if math.isfinite(own.low) else 0.0
    above = math.log(own.high / own.mean) if math.isfinite(own.high) and own.high > 0 else 0.0
    low = own.mean * math.exp(-math.hypot(below, of_profile))
    high = own.mean * math.exp(math.hypot(above, of_profile))
    return Interval(own.mean, low, high if len(known) == len(drawn) else math.inf, own.n_batches, own.is_correlated)


def prediction_rows(prediction: Prediction) -> list[tuple[str, str, str]]:
    """Lines of a result's table: quantity, what stands behind it, interval."""
    mean, p99, iops = (prediction.intervals[name] for name in ("mean", "p99", "iops"))
    overloaded = f", {prediction.n_overloaded} of them overloaded" if prediction.n_overloaded else ""
    return [
        (
            "with the drive's uncertainty:",
            f"{prediction.n_draws} drives drawn{overloaded}",
            f"{prediction.wall_s:.1f} s",
        ),
        ("  throughput, IOPS", "", between(iops.low, iops.high)),
        ("  latency, mean, ms", "", between(mean.low, mean.high, 1e6)),
        ("  latency, p99, ms", "", between(p99.low, p99.high, 1e6)),
    ]
