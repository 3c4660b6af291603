"""Intervals that include the uncertainty of a calibrated drive, so that they apply to the real drive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskmodel.plain import Record
from diskmodel.result.statistics.batches import Interval, student_t
from diskmodel.result.statistics.registry import BY_NAME

#: Statistics that are predicted; "iops" per second, the others ns.
STATISTICS = ("iops", *BY_NAME)


@dataclass(frozen=True)
class Prediction(Record):
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

    def json_fields(self) -> Mapping[str, Any]:
        """Return how the intervals were made, and their ends in milliseconds and IOPS."""
        ends: dict[str, float] = {}
        for name, interval in self.intervals.items():
            unit, divisor = ("", 1.0) if name == "iops" else ("_ms", 1e6)
            ends |= {f"{name}_{end}{unit}": getattr(interval, end) / divisor for end in ("low", "high")}
        return {
            "confidence": self.confidence,
            "draws": self.n_draws,
            "overloaded_draws": self.n_overloaded,
            "requests_per_draw": self.n_requests,
            "wall_s": self.wall_s,
            "parameters": self.parameters,
            **ends,
        }


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
    if not (own.value > 0 and reference > 0) or len(known) < 2:
        return own
    deviation = float(np.sqrt(np.mean(np.log(known / reference) ** 2)))
    of_profile = deviation * student_t(0.5 + confidence / 2, len(known))
    below = math.inf if own.low <= 0 else math.log(own.value / own.low) if math.isfinite(own.low) else 0.0
    above = math.log(own.high / own.value) if math.isfinite(own.high) and own.high > 0 else 0.0
    low = own.value * math.exp(-math.hypot(below, of_profile))
    high = own.value * math.exp(math.hypot(above, of_profile))
    return Interval(own.value, low, high if len(known) == len(drawn) else math.inf, own.n_batches, own.is_correlated)
