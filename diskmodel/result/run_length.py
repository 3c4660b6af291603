"""Length of a run: until the intervals are as narrow as requested."""

from __future__ import annotations

import math

from diskmodel.result.build import unseen_requests
from diskmodel.result.result import Result
from diskmodel.result.statistics.window import (
    UNKNOWN_CYCLE,
    cycle_of,
    enough_cycles,
    enough_for,
    sees_too_few_cycles,
    unseen_share,
)

#: Bounds of the next run's length over this one's. Smaller steps repeat the simulation more often; larger ones trust
#: the estimate of a short run, which may be far too long.
_SMALLEST_STEP, _LARGEST_STEP = 1.5, 8.0
#: Added length, because the half-width of the next run varies. Without it about half of the runs would have to repeat.
_MARGIN = 1.1
#: Share of bursts that may fill a cache, although none did, from which p99 and the mean are not known.
_SEEN = 0.01
#: Requests below which a verdict of overload is confirmed by a longer run.
_CONFIRM_BELOW = 20_000


def needs_more(result: Result, precision: float | None = None) -> bool:
    """Return whether a longer run is worth it: it has not converged, and is not plainly overloaded.

    A verdict of instability from fewer than 20 000 requests is confirmed by a longer run before it is believed.

    Parameters
    ----------
    result : Result
    precision : float, optional
        Relative half-width; default: the one the result was made with.
    """
    if not result.is_stable:
        return result.n_requests < _CONFIRM_BELOW
    if precision is None or precision == result.precision:
        return not result.is_converged
    is_narrow = _widest(result) <= precision and not result.latency.run_mean_ns.is_correlated
    return not (result.is_settled and is_narrow)


def suggest_n(result: Result, precision: float | None = None) -> int:
    """Return the rows of the next run, between 1.5 and 8 times those of this one.

    Half-widths shrink as one over the square root of the length; 10 % is added because the half-width of a run varies.
    """
    widest = _widest(result)
    if result.run.round_requests and not result.window.n_rounds:
        return max(enough_for(result.run.round_requests), result.n_requests + 1)
    cycle = cycle_of(result.requests, result.run.cleaning_requests)
    if cycle < UNKNOWN_CYCLE and sees_too_few_cycles(result.n_requests, cycle):
        return max(enough_cycles(cycle), result.n_requests + 1)
    if enough := overflow_requests(result):
        return enough
    if not result.is_stable or not result.is_settled or math.isnan(widest):
        factor = 4.0
    else:
        factor = _MARGIN * (widest / (precision or result.precision)) ** 2
    return math.ceil(result.n_requests * min(max(factor, _SMALLEST_STEP), _LARGEST_STEP))


def overflow_requests(result: Result) -> int:
    """Return the length of a run that knows p99 where no burst filled a cache in this one (rule Z11); 0: it knows."""
    unseen = unseen_share(result.requests, result.run, result.n_measured, result.window.start_ns)
    enough = unseen_requests(result.requests)
    return enough if unseen > _SEEN and result.n_requests < enough else 0


def _widest(result: Result) -> float:
    """Return the widest relative half-width of the requested intervals; nan where one is unknown."""
    mean = result.latency.run_mean_ns.relative
    if result.percentile is None or math.isnan(mean):
        return mean
    other = result.latency.relative_half_width(result.percentile)
    return other if math.isnan(other) else max(mean, other)
