"""Percentiles of a latency distribution and their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.result.statistics.batches import (
    adjusted_ends,
    batches_of_rounds,
    lag1_correlation,
    least_possible,
    without_phases,
)

#: Percentiles that are reported, by name.
LEVELS = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}

#: Fewest observations from which on a percentile is reported: ten beyond it. With fewer, p99.9 is one of the largest
#: few observations: with half as many, its standard error is 45 % in terms of rank instead of 32 %; twice as many would
#: hide it from runs of usual length. Nearer percentiles have their intervals instead.
MIN_REPORTED = {"p999": 10_000}

#: Numbers of batches to try, from many to few.
BATCH_COUNTS = (20, 15, 10)
#: Fewest observations of a batch beyond its quantile. With fewer, the quantiles of batches are biased and skewed; with
#: more, short runs have no interval.
MIN_BEYOND = 25


def quantiles(values: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """Return the observed values at `levels` in [0, 1]: the least one with that share of all at or below it."""
    observed = np.asarray(values)
    # `np.quantile(…, method="inverted_cdf")`, whose checks take longer than the selection in short series
    at = np.clip(np.ceil(len(observed) * np.asarray(levels, np.float64) - 1), 0, None).astype(np.int64)
    found: NDArray[np.float64] = np.partition(observed, np.unique(at))[at].astype(np.float64)
    return found


def reported(values: Mapping[str, float], n: int) -> dict[str, float]:
    """Return percentiles by name, nan for those that need more than `n` observations."""
    return {name: value if n >= MIN_REPORTED.get(name, 1) else math.nan for name, value in values.items()}


def fewest_for(level: float) -> int:
    """Return the fewest observations from which `quantile_interval` estimates an interval at a level."""
    return math.ceil(round(min(BATCH_COUNTS) * MIN_BEYOND / min(level, 1 - level), 6))


def quantile_interval(
    series: ArrayLike, level: float, *, confidence: float = 0.95, observed: float | None = None, n_rounds: int = 0
) -> tuple[float, float]:
    """Estimate the confidence interval of a quantile of a stationary series; nan where there is too little data.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order, warm-up removed.
    level : float in (0, 1)
    observed : float, optional
        The quantile of the whole series, where it is known already.
    n_rounds : int
        Whole rounds of a cycle that the series consists of, as in `mean_interval`; 0: there is none.

    Notes
    -----
    Sectioning: the spread of the quantiles of 20, 15 or 10 batches around the quantile of the whole series, with
    Student's t, adjusted for correlation and skewness as in `mean_interval`. Each batch must have at least 25
    observations on either side of its quantile; with fewer, nan.

    Sectioning is blind where the distribution has a gap at the quantile: p99 of a flash drive is 1 ms while 0.9 % of
    the requests wait for an erase, and 10 ms when 1.1 % do. So the interval also covers the quantiles at both ends of
    the interval of the share of observations beyond the quantile, estimated from the same batches.

    References
    ----------
    S. Asmussen, P. W. Glynn, *Stochastic Simulation*, 2007, III.5. M. K. Nakayama, *Confidence intervals for quantiles
    using sectioning when applying variance-reduction techniques*, ACM TOMACS 24(4), 2014. P. Heidelberger,
    P. A. W. Lewis, *Quantile estimation in dependent sequences*, Operations Research 32(1), 1984 (by the share).
    """
    values = np.asarray(series)
    beyond = len(values) * min(level, 1 - level)
    is_phased = 0 < n_rounds <= BATCH_COUNTS[-1]
    counts = (
        [n_rounds * n for n in range(batches_of_rounds(n_rounds) // n_rounds, 0, -1)] if is_phased else BATCH_COUNTS
    )
    n_batches = next((count for count in counts if beyond / count >= MIN_BEYOND), 0)
    if n_batches == 0:
        return math.nan, math.nan
    size = len(values) // n_batches
    batches = values[len(values) - size * n_batches :].reshape(n_batches, size)
    # one by one, so that never the whole series is copied
    each = np.array([float(quantiles(batch, level)) for batch in batches])
    whole = float(quantiles(values, level)) if observed is None else observed
    shares = np.array([np.count_nonzero(batch > whole) / size for batch in batches])
    share = np.count_nonzero(values > whole) / len(values)
    least, degrees = least_possible(each), 0
    if is_phased:
        each, degrees = without_phases(each, whole, n_rounds)
        shares, degrees = without_phases(shares, share, n_rounds)
    low, high = adjusted_ends(whole, each, lag1_correlation(each), confidence, least, degrees)
    share_ends = adjusted_ends(share, shares, lag1_correlation(shares), confidence, 0.0, degrees)
    by_share = quantiles(values, np.clip(1 - np.array(share_ends[::-1]), 0, 1))
    return min(low, float(by_share[0])), max(high, float(by_share[1]))
