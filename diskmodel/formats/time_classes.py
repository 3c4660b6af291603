"""Times that a program counts in classes, each from a power of two of nanoseconds to the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

#: Power of two k → how many took from 2^k to 2^(k+1) ns.
Classes = Mapping[int, float]


def mean_ns(classes: Classes) -> float | None:
    """Return the mean; None where nothing was counted.

    Within a class times are taken as spread evenly over their logarithm, so that its mean is 2^k / ln 2.

    Examples
    --------
    >>> round(mean_ns({20: 1.0, 22: 1.0}) / 2**20, 3)
    3.607
    """
    n = sum(classes.values())
    return sum(count * 2.0**power for power, count in classes.items()) / n / math.log(2) if n else None


def quantile_ns(classes: Classes, level: float) -> float | None:
    """Return the time that a share of the requests does not exceed; None where nothing was counted.

    Examples
    --------
    >>> quantile_ns({20: 1.0, 21: 1.0}, 0.5) == 2.0**21
    True
    """
    powers = sorted(power for power, count in classes.items() if count > 0)
    if not powers:
        return None
    # each class begins where those before it end; empty classes between two leave a step
    counts = np.array([classes[power] for power in powers])
    ends = np.cumsum(counts)
    at = min(int(np.searchsorted(ends, level * ends[-1], side="left")), len(powers) - 1)
    part = (level * ends[-1] - (ends[at] - counts[at])) / counts[at]
    return float(2.0 ** (powers[at] + min(max(part, 0.0), 1.0)))


def merged(histograms: Iterable[Classes]) -> dict[int, float]:
    """Return the sum of several, in the order of their times."""
    total: dict[int, float] = {}
    for one in histograms:
        for power, n in one.items():
            total[power] = total.get(power, 0.0) + n
    return dict(sorted(total.items()))
