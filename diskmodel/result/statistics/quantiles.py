"""Percentiles of a latency distribution and their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.result.statistics.batches import (
    BATCH_COUNTS,
    adjusted_ends,
    batches_of_rounds,
    in_batches,
    independence,
    lag1_correlation,
    least_possible,
    without_phases,
)
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES

#: Fewest observations of a batch beyond its quantile. With fewer, the quantiles of batches are biased and skewed; with
#: more, short runs have no interval.
MIN_BEYOND = 25
#: The same in a series of so many observations: far percentiles are seldom reached, and a long series sees many bursts
#: all the same. In M/M/1 queues busy for 70 and 85 % of the time, intervals of p99.9 then have the truth in 94 and 87 %
#: of series of 100,000, as those of p99 in 97 and 89 % of series of 25,000. By the rule for short ones p99.9 would take
#: 250,000.
LONG_SERIES, MIN_BEYOND_IN_LONG = 25_000, 10
#: Observations up to which all batches are looked at together, in a copy. One by one takes twice as long for the usual
#: run of 30,000; a copy of many millions takes memory.
_COPIED_UP_TO = 1 << 20


def quantiles(values: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """Return the observed values at `levels` in [0, 1]: the least one with that share of all at or below it."""
    observed = np.asarray(values)
    # `np.quantile(…, method="inverted_cdf")`, whose checks take longer than the selection in short series
    at = _places(len(observed), levels)
    found: NDArray[np.float64] = np.partition(observed, sorted(set(at.flat)))[at].astype(np.float64)
    return found


def percentiles(values: ArrayLike) -> dict[str, float]:
    """Return the observed percentiles (`PERCENTILES`) by name."""
    return dict(zip(PERCENTILES, quantiles(values, list(PERCENTILES.values())).tolist(), strict=True))


def _places(n: int, levels: ArrayLike) -> NDArray[np.int64]:
    """Return where the quantiles at `levels` are among `n` values in order."""
    return np.maximum(np.ceil(n * np.asarray(levels, np.float64) - 1), 0).astype(np.int64)


def reported(values: Mapping[str, float], n: int) -> dict[str, float]:
    """Return percentiles by name, nan for those that need more than `n` observations."""
    return {name: value if n >= BY_NAME[name].least_requests else math.nan for name, value in values.items()}


def fewest_for(level: float) -> int:
    """Return the fewest observations from which `quantile_interval` estimates an interval at a level."""
    in_short, in_long = (
        math.ceil(round(min(BATCH_COUNTS) * least / min(level, 1 - level), 6))
        for least in (MIN_BEYOND, MIN_BEYOND_IN_LONG)
    )
    return min(in_short, max(in_long, LONG_SERIES))


def quantile_interval(
    series: ArrayLike, level: float, *, confidence: float = 0.95, n_rounds: int = 0
) -> tuple[float, float]:
    """Estimate the confidence interval of a quantile of a stationary series; nan where there is too little data.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order, warm-up removed.
    level : float in (0, 1)
    n_rounds : int
        Whole rounds of a cycle that the series consists of, as in `mean_interval`; 0: there is none.

    Notes
    -----
    Sectioning: the spread of the quantiles of 20, 15 or 10 batches around the quantile of the whole series, with
    Student's t, adjusted for correlation and skewness as in `mean_interval`. Each batch must have at least 25
    observations on either side of its quantile, each of 10 batches of a series of 25,000 at least 10; with fewer, nan.

    Sectioning is blind where the distribution has a gap at the quantile: p99 of a flash drive is 1 ms while 0.9 % of
    the requests wait for an erase, and 10 ms when 1.1 % do. So the interval also covers the quantiles at both ends of
    the interval of the share of observations beyond the quantile, estimated from the same batches.

    References
    ----------
    S. Asmussen, P. W. Glynn, *Stochastic Simulation*, 2007, III.5. M. K. Nakayama, *Confidence intervals for quantiles
    using sectioning when applying variance-reduction techniques*, ACM TOMACS 24(4), 2014. P. Heidelberger,
    P. A. W. Lewis, *Quantile estimation in dependent sequences*, Operations Research 32(1), 1984 (by the share).
    """
    if not np.size(series):
        return math.nan, math.nan
    observed = float(quantiles(series, level))
    return quantile_intervals(series, {level: observed}, confidence=confidence, n_rounds=n_rounds)[level]


def quantile_intervals(
    series: ArrayLike, observed: Mapping[float, float], *, confidence: float = 0.95, n_rounds: int = 0
) -> dict[float, tuple[float, float]]:
    """Estimate the intervals of several quantiles by their levels, each as `quantile_interval`, which takes longer.

    Parameters
    ----------
    series, confidence, n_rounds
        As in `quantile_interval`.
    observed : mapping of float to float
        Level and quantile of the whole series.
    """
    values = np.asarray(series)
    n_batches = {level: _batches_for(len(values), level, n_rounds) for level in observed}
    each = {
        level: column
        for count in set(n_batches.values()) - {0}
        for level, column in _of_batches(values, count, [at for at, own in n_batches.items() if own == count]).items()
    }
    found = {
        level: _sectioned(in_batches(values, len(column)), values, observed[level], column, confidence, n_rounds)
        for level, column in each.items()
    }
    return _with_shares(values, observed, found)


def quantile_intervals_across(
    runs: Sequence[NDArray[Any]], values: NDArray[Any], observed: Mapping[float, float], *, confidence: float = 0.95
) -> dict[float, tuple[float, float]]:
    """Estimate the intervals of several quantiles of independent runs together (`values`), by their levels.

    As `quantile_intervals`, with a run for each batch: nan where one has fewer than 25 observations beyond a quantile.
    """
    known = [level for level in observed if min(map(len, runs)) * min(level, 1 - level) >= MIN_BEYOND]
    each = np.array([quantiles(run, known) for run in runs])
    found = {
        level: _sectioned(runs, values, observed[level], column, confidence)
        for level, column in zip(known, each.T, strict=True)
    }
    return _with_shares(values, observed, found)


def _with_shares(
    values: NDArray[Any],
    observed: Mapping[float, float],
    found: Mapping[float, tuple[tuple[float, float], tuple[float, float]]],
) -> dict[float, tuple[float, float]]:
    """Return intervals by sections, widened by the quantiles at the ends of the intervals of their levels."""
    if not found:
        return dict.fromkeys(observed, (math.nan, math.nan))
    by_share = quantiles(values, np.clip([shares for _, shares in found.values()], 0, 1)).tolist()
    ends = {
        level: (min(low, share_low), max(high, share_high))
        for (level, ((low, high), _)), (share_low, share_high) in zip(found.items(), by_share, strict=True)
    }
    return {level: ends.get(level, (math.nan, math.nan)) for level in observed}


def _batches_for(n: int, level: float, n_rounds: int) -> int:
    """Return into how many batches `n` observations are cut, each with enough beyond its quantile; 0: too few."""
    counts: Sequence[int] = BATCH_COUNTS
    if _is_phased(n_rounds):
        counts = [n_rounds * n for n in range(batches_of_rounds(n_rounds) // n_rounds, 0, -1)]
    n_beyond = n * min(level, 1 - level)
    return batches_with_enough(counts, n, n_beyond)


def batches_with_enough(counts: Sequence[int], n: int, n_beyond: float) -> int:
    """Return the first number of batches, the largest first, that have enough of `n` observations beyond; else 0."""
    enough = (count for count in counts if n_beyond / count >= MIN_BEYOND)
    if n >= LONG_SERIES and n_beyond / counts[-1] >= MIN_BEYOND_IN_LONG:
        return next(enough, counts[-1])
    return next(enough, 0)


def _is_phased(n_rounds: int) -> bool:
    """Return whether batches are parts of rounds, of which there are too few for one batch each."""
    return 0 < n_rounds <= BATCH_COUNTS[-1]


def _of_batches(values: NDArray[Any], n_batches: int, levels: Sequence[float]) -> dict[float, NDArray[np.float64]]:
    """Return the quantiles of each batch by their levels."""
    batches = in_batches(values, n_batches)
    if len(values) > _COPIED_UP_TO:
        each = np.array([quantiles(batch, levels) for batch in batches])
    else:
        at = _places(batches.shape[1], levels)
        each = np.partition(batches, sorted(set(at.flat)), axis=1)[:, at].astype(np.float64)
    return dict(zip(levels, each.T, strict=True))


def _sectioned(
    batches: Sequence[NDArray[Any]] | NDArray[Any],
    values: NDArray[Any],
    observed: float,
    each: NDArray[np.float64],
    confidence: float,
    n_rounds: int | None = None,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of a quantile by those of its batches, and those of its level by the shares beyond it.

    `n_rounds` None: the batches are independent.
    """
    if isinstance(batches, np.ndarray) and batches.size <= _COPIED_UP_TO:
        shares = np.count_nonzero(batches > observed, axis=1) / batches.shape[1]
    else:
        shares = np.array([np.count_nonzero(batch > observed) / len(batch) for batch in batches])
    share = np.count_nonzero(values > observed) / len(values)
    least, degrees = least_possible(each), 0
    if n_rounds is not None and _is_phased(n_rounds):
        each, degrees = without_phases(each, observed, n_rounds)
        shares, degrees = without_phases(shares, share, n_rounds)
    correlations = [independence(len(part)) if n_rounds is None else lag1_correlation(part) for part in (each, shares)]
    ends = adjusted_ends(observed, each, correlations[0], confidence, least, degrees)
    low, high = adjusted_ends(share, shares, correlations[1], confidence, 0.0, degrees)
    return ends, (1 - high, 1 - low)
