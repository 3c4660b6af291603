"""Approximate interval of a percentile, for runs that are too short for sectioning."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from diskmodel.result.statistics import lag1_correlation
from diskmodel.result.statistics.quantiles import quantiles

#: Batches whose means give the variance; more would be shorter than the correlation of the responses in a short run.
_N_BATCHES = 10
#: Values beyond the quantile that an interval requires; with fewer the largest value determines it.
_MIN_BEYOND = 10
_STUDENT_T = 2.262  # 95 %, both sides, nine degrees of freedom


def quick_quantile_interval(series: ArrayLike, level: float) -> tuple[float, float]:
    """Return the ends of an approximate 95 % interval of a quantile; nan where fewer than ten values lie beyond it.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order, warm-up removed.
    level : float in (0, 1)

    Notes
    -----
    The share of values above the observed quantile is a mean of zeros and ones. Its standard error comes from ten
    batches, widened for the correlation between batches, and is at least that of independent values. The ends of the
    interval are the quantiles at the level minus and plus that error. Where the upper level exceeds 1, the upper end
    is the largest value, which is too low.

    References
    ----------
    S. Asmussen, P. W. Glynn, *Stochastic Simulation*, 2007, III.4a.
    """
    values = np.asarray(series)
    n = len(values)
    if n * min(level, 1 - level) < _MIN_BEYOND:
        return math.nan, math.nan
    above = values > float(quantiles(values, level))
    size = n // _N_BATCHES
    means = above[n - size * _N_BATCHES :].reshape(_N_BATCHES, size).mean(axis=1)
    left = min(max(lag1_correlation(means) + 1 / _N_BATCHES, 0.0), 0.9)
    variance = float(means.var(ddof=1)) / _N_BATCHES * (1 + left) / (1 - left)
    error = _STUDENT_T * math.sqrt(max(variance, level * (1 - level) / n))
    low, high = quantiles(values, [max(level - error, 0.0), min(level + error, 1.0)])
    return float(low), float(high)
