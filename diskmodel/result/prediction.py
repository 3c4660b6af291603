"""Intervals that include everything that is not known, so that they apply to the real array."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from statistics import NormalDist, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.doubt import bad_end
from diskmodel.result.statistics.registry import BY_NAME

Floats = NDArray[np.float64]

#: Statistics that are predicted; "iops" per second, the others ns.
STATISTICS = ("iops", *BY_NAME)
#: Mean utilization of the disks, which a prediction of a result has beside them; a ratio.
UTILIZATION = "utilization"
#: Statistics that are no times.
_NO_TIMES = ("iops", UTILIZATION)
#: Part of the systems between the two ends of a middle: the bad one of ten is beyond one of them.
MIDDLE = 0.8
#: Gap between the means of two kinds of draws, in sums of their standard deviations, from which they lie apart. At
#: half, two normal samples of eight do now and then; at double, waits of 10 ms are no kind beside ones of 1 ms.
_APART = 2.0
#: Draws that end together at a limit, and how close they are, in standard deviations of all: the fewer, the closer. At
#: double of these distances, one of a hundred normal samples of 16 seems limited; at half, the noise of runs hides some
#: limits.
_AT_A_LIMIT = ((4, 0.1), (3, 0.02), (2, 0.002))
#: F of a parabola that chance exceeds in 5 % of 16 draws. At half, sources are named that have no effect; at double,
#: those of a tenth of the width are missed.
_CHANCE = 3.8
#: Part of the variance below which what is left is rounding.
_NOTHING = 1e-9
#: The noise of the run, among the sources of an interval's width.
RUN = "run"


@dataclass(frozen=True)
class Prediction(Record):
    """Intervals that include what is not known of the drive, the array and the load.

    Attributes
    ----------
    confidence : float
    n_draws : int
        Equally likely truths that were simulated.
    n_overloaded : int
        Of these, how many the workload overloads.
    n_requests : int
        Of each run.
    wall_s : float
        What the runs cost.
    main : "iops" or "mean"
        The statistic that `sources` and `half_width_ratio` describe: the rate where it is a result, else the latency.
    sources : mapping of str to float
        By what is not known, and "run": its share of the interval's width, squared. The shares add up to 1.
    origins : mapping of str to str
        Where the spread of each comes from.
    if_measured_ratio : float
        Half-width of the main statistic's interval, as a part of it, if one such drive had been measured; nan where
        this one has been, or nothing would change.
    intervals : mapping of str to Interval
        By statistic (`STATISTICS`, `UTILIZATION`): the result's own value, and ends that combine the noise of its run
        with the spread over the truths.
    middles : mapping of str to Interval
        By statistic: what it lies between in eight of ten systems. The end that hurts is the bad one of ten.
    subsets : mapping of str to mapping of str to Interval
        The intervals of latencies by the name of some of the requests (`Result.subsets`).
    subset_middles : mapping of str to mapping of str to Interval
        The middles of the same.
    """

    confidence: float
    n_draws: int
    n_overloaded: int
    n_requests: int
    wall_s: float
    main: str
    sources: Mapping[str, float]
    origins: Mapping[str, str]
    if_measured_ratio: float
    intervals: Mapping[str, Interval]
    middles: Mapping[str, Interval] = field(default_factory=dict)
    subsets: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    subset_middles: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)

    @property
    def overload_chance(self) -> float:
        """Chance that the workload overloads the array: the part of the draws that it does."""
        return self.n_overloaded / self.n_draws

    @property
    def worse_ratio(self) -> float:
        """By which part of the main statistic the bad one of ten is worse; infinite where it is overloaded."""
        middle = self.middles[self.main]
        return abs(bad_end(self.main, middle) / middle.value - 1) if middle.value else math.nan

    @property
    def half_width_ratio(self) -> float:
        """Half-width of the main statistic's interval as a part of its value."""
        return half_width_ratio(self.intervals[self.main])

    def json_fields(self) -> Mapping[str, Any]:
        """Return how the intervals were made, and their ends in milliseconds and IOPS."""
        ends: dict[str, float] = {}
        for intervals, names in ((self.intervals, ("low", "high")), (self.middles, ("p10", "p90"))):
            for name, interval in intervals.items():
                unit, divisor = ("", 1.0) if name in _NO_TIMES else ("_ms", 1e6)
                for end, value in zip(names, (interval.low, interval.high), strict=True):
                    ends[f"{name}_{end}{unit}"] = value / divisor
        return {
            "confidence": self.confidence,
            "draws": self.n_draws,
            "overloaded_draws": self.n_overloaded,
            "requests_per_draw": self.n_requests,
            "wall_s": self.wall_s,
            **ends,
            "sources_of": self.main,
            "half_width_ratio": self.half_width_ratio,
            "sources": self.sources,
            "origins": self.origins,
            "if_measured_ratio": self.if_measured_ratio,
        }


def middle_of(interval: Interval, confidence: float) -> Interval:
    """Return the middle 80 % of an interval of normal errors, each side by itself.

    Parameters
    ----------
    interval : Interval
    confidence : float
        Of the interval.
    """
    normal = NormalDist()
    part = normal.inv_cdf(0.5 + MIDDLE / 2) / normal.inv_cdf(0.5 + confidence / 2)
    low = interval.value - (interval.value - interval.low) * part
    high = interval.value + (interval.high - interval.value) * part
    return Interval(interval.value, low, high, interval.n_batches, interval.is_correlated)


def half_width_ratio(interval: Interval) -> float:
    """Return half the width of an interval as a part of its value; 0 of a value that is always 0."""
    width = interval.high - interval.low
    if not interval.value:
        return math.nan if width else 0.0
    return width / 2 / interval.value


def combined(
    own: Interval,
    reference: float,
    drawn: Sequence[float],
    confidence: float,
    factor: float | None = None,
    groups: Sequence[int] = (),
) -> Interval:
    """Interval of a statistic that includes the spread over drawn truths.

    Parameters
    ----------
    own : Interval
        Of the result.
    reference : float
        The statistic of the array as it is described, from a run as long as those of the draws.
    drawn : sequence of float
        The same of the drawn truths, with the same requests: what is common to the runs cancels. nan: overloaded.
    confidence : float
    factor : float, optional
        Half-width as a multiple of the standard deviation of the draws; default: the normal quantile.
    groups : sequence of int, optional
        Of which kind each draw is.

    Notes
    -----
    Kinds that lie apart are no normal distribution: the interval then goes from the lower end of the lowest to the
    upper end of the highest.

    Logarithms of statistic by reference have mean m and standard deviation s over the draws, and the truth lies within
    m ± z · s, with a quantile z of their distribution: draws are in every part of their distribution alike
    (`diskmodel.uncertainty.points`), so that s is not that of a random sample, which would take Student's t. The noise
    of the run is combined with that as the root of the sum of squares. The interval always contains the result.

    Where draws meet a limit, as the rate that a volume was sold with, the standard deviation says little of either
    side: the interval ends at the quantiles of the draws, of which none goes beyond the limit.
    """
    values = np.array(drawn, float)
    are_known = np.isfinite(values) & (values > 0)
    known = values[are_known]
    if not (own.value > 0 and reference > 0) or len(known) < 2:
        return own
    logs = np.log(known / reference)
    parts = _apart(logs, np.array(groups or [0] * len(values))[are_known])
    run_below = _distance_below(own)
    run_above = math.log(own.high / own.value) if math.isfinite(own.high) and own.high > 0 else 0.0
    ends = [_distances(part, confidence, factor) for part in parts]
    low = own.value * math.exp(min(0.0, *(middle - math.hypot(run_below, below) for middle, below, _ in ends)))
    high = own.value * math.exp(max(0.0, *(middle + math.hypot(run_above, above) for middle, _, above in ends)))
    return Interval(own.value, low, high if len(known) == len(drawn) else math.inf, own.n_batches, own.is_correlated)


def _apart(logs: Floats, groups: NDArray[np.int64]) -> list[Floats]:
    """Return draws of kinds that lie apart by themselves, and others together."""
    kinds = sorted((logs[groups == kind] for kind in sorted(set(groups.tolist()))), key=np.mean)
    parts = kinds[:1]
    for kind in kinds[1:]:
        if _lie_apart(parts[-1], kind):
            parts.append(kind)
        else:
            parts[-1] = np.concatenate((parts[-1], kind))
    return parts


def _lie_apart(low: Floats, high: Floats) -> bool:
    """Return whether draws of two kinds are no single distribution; of one draw alone that cannot be seen."""
    if min(len(low), len(high)) < 2:
        return False
    return float(high.mean() - low.mean()) > _APART * float(low.std(ddof=1) + high.std(ddof=1))


def middle_around(
    own: Interval,
    reference: float,
    drawn: Sequence[float],
    confidence: float,
    factor: float | None = None,
    groups: Sequence[int] = (),
) -> Interval:
    """Return what a statistic lies between in eight of ten systems.

    Where more than one draw of ten is overloaded (nan) the upper end of a latency is infinite.

    Parameters
    ----------
    own : Interval
        Of the result, with the interval of its run.
    reference, drawn
        As of `combined`.
    confidence : float
        Of the run's interval.
    factor, groups
        As of `combined`, of the middle.
    """
    kinds = groups or [0] * len(drawn)
    stable = [(value, kind) for value, kind in zip(drawn, kinds, strict=True) if not math.isnan(value)]
    if len(drawn) - len(stable) <= (1 - MIDDLE) / 2 * len(drawn):
        drawn, kinds = [value for value, _ in stable], [kind for _, kind in stable]
    return combined(middle_of(own, confidence), reference, drawn, MIDDLE, factor, kinds)


def _distances(logs: Floats, confidence: float, factor: float | None) -> tuple[float, float, float]:
    """Return the middle of logarithms and how far their interval goes to either side of it."""
    if not (_is_limited(logs) or _is_limited(-logs)):
        half = _half_width(logs, confidence, factor)
        return float(logs.mean()), half, half
    middle = median(logs.tolist())
    return middle, middle - _lower_quantile(logs, confidence), -_lower_quantile(-logs, confidence) - middle


def _lower_quantile(logs: Floats, confidence: float) -> float:
    """Return the lower end of the part `confidence` of draws that are in every part of their distribution alike.

    Between two draws it lies on a line over their normal scores, and beyond the last one on the line through the last
    two.
    """
    normal, ordered = NormalDist(), np.sort(logs)
    scores = [normal.inv_cdf((i + 0.5) / len(logs)) for i in range(len(logs))]
    score = normal.inv_cdf(0.5 - confidence / 2)
    beyond = min(score - scores[0], 0.0) * (ordered[1] - ordered[0]) / (scores[1] - scores[0])
    return float(np.interp(score, scores, ordered) + beyond)


def _is_limited(logs: Floats) -> bool:
    """Return whether the largest draws end together, as those of no distribution without a limit do."""
    ordered, deviation = np.sort(logs), float(logs.std(ddof=1))
    return any(
        n <= len(logs) and float(ordered[-1] - ordered[-n]) < together * deviation for n, together in _AT_A_LIMIT
    )


def _distance_below(own: Interval) -> float:
    """Return the distance of the lower end as a logarithm.

    Of an interval that reaches 0, its half-width relative to the value, which is the same for small ones: no response
    takes no time.
    """
    if not math.isfinite(own.low):
        return 0.0
    return math.log(own.value / own.low) if own.low > 0 else (own.value - own.low) / own.value


def _half_width(logs: Floats, confidence: float, factor: float | None = None) -> float:
    """Return the half-width of the interval of logarithms, around their mean."""
    return float(logs.std(ddof=1)) * (factor or NormalDist().inv_cdf(0.5 + confidence / 2))


def sources_of(
    own: Interval, logs: Sequence[float], scores: Mapping[str, Floats], rest: str | None, confidence: float
) -> dict[str, float]:
    """Return the share of each unknown, and of the run, in the squared width of an interval.

    Parameters
    ----------
    own : Interval
        With the noise of the run alone.
    logs : sequence of float, length n
        Logarithms of the statistic by that of the description, of the drawn truths; nan: overloaded.
    scores : mapping of str to ndarray, shape (n,)
        By unknown: the normal scores behind the draws, uncorrelated with each other.
    rest : str, optional
        An unknown of many parameters, which no single score describes: it has what the others leave.
    confidence : float

    Returns
    -------
    mapping of str to float
        Adds up to 1.

    Notes
    -----
    Unknowns are taken in turn, the one that explains most of what is left first, each by a parabola of its scores,
    until none explains more than chance would (an F test at 5 %). What is then left, of unknowns together, is divided
    in the same proportions, unless it is `rest`.
    """
    values = np.array(logs)
    known = np.isfinite(values)
    shares = dict.fromkeys(scores, 0.0)
    of_draws = 0.0
    if known.sum() >= 2 and np.ptp(values[known]) > 0:
        of_draws = _half_width(values[known], confidence) ** 2
        shares |= _explained(values[known], {name: scores[name][known] for name in scores if name != rest})
        total = sum(shares.values())
        if rest is not None:
            shares[rest] = 1.0 - total
        elif total:
            shares = {name: value / total for name, value in shares.items()}
        else:  # nothing explains anything: all alike
            shares = dict.fromkeys(shares, 1 / len(shares))
    of_run = _log_half_width(own) ** 2
    whole = of_run + of_draws
    if not whole:
        return {RUN: 1.0}
    found = {name: value * of_draws / whole for name, value in shares.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1])) | {RUN: max(1.0 - sum(found.values()), 0.0)}


def _explained(values: Floats, columns: Mapping[str, Floats]) -> dict[str, float]:
    """Return the parts of the variance of values that columns explain, without what chance would."""
    left = values - values.mean()
    whole = float(left @ left)
    found: dict[str, float] = {}
    while len(found) < len(columns):
        fits = {name: _parabola(left, column) for name, column in columns.items() if name not in found}
        best = min(fits, key=lambda name: float(fits[name] @ fits[name]))
        before, after = float(left @ left), float(fits[best] @ fits[best])
        freedom = len(values) - 3 - 2 * len(found)
        if freedom < 1 or before - after <= _CHANCE / freedom * 2 * after or before < _NOTHING * whole:
            break
        found[best] = (before - after) / whole
        left = fits[best]
    return found


def _parabola(values: Floats, column: Floats) -> Floats:
    """Return what a parabola of a column does not explain of values whose mean is 0."""
    basis = np.column_stack([np.ones_like(column), column, column**2])
    known, *_ = np.linalg.lstsq(basis, values, rcond=None)
    return np.asarray(values - basis @ known)


def _log_half_width(own: Interval) -> float:
    """Return half the width of an interval's logarithm; 0 where it has no ends."""
    if not (own.value > 0 and own.low > 0 and math.isfinite(own.high)):
        return 0.0
    return math.log(own.high / own.low) / 2
