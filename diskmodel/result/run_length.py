"""How long a run must be: until the intervals are as narrow as asked."""

from __future__ import annotations

import math

from diskmodel.result.result import Result

_SMALLEST_STEP, _LARGEST_STEP = 1.5, 8.0
_MARGIN = 1.1
_CONFIRM_BELOW = 20_000


def needs_more(result: Result) -> bool:
    """Whether a longer run is worth it: it has not converged, and is not plainly overloaded.

    A verdict of instability from fewer than 20 000 requests is confirmed by a longer run before it is believed.
    """
    if not result.is_stable:
        return result.n_requests < _CONFIRM_BELOW
    return not result.is_converged


def suggest_n(result: Result) -> int:
    """Rows for the next run, between 1.5 and 8 times those of this one.

    Half-widths shrink as one over the square root of the length; 10 % is added for luck.
    """
    widths = [result.latency.mean.relative]
    if result.percentile is not None:
        widths.append(result.latency.relative_half_width(result.percentile))
    if not result.is_stable or not result.is_settled or any(math.isnan(width) for width in widths):
        factor = 4.0
    else:
        factor = _MARGIN * (max(widths) / result.precision) ** 2
    return math.ceil(result.n_requests * min(max(factor, _SMALLEST_STEP), _LARGEST_STEP))
