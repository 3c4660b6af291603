"""How far apart two response-time distributions are: the demerit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass


@dataclass(frozen=True)
class Demerit:
    """Root mean square horizontal distance of two distribution curves: in ns, and as a share of the measured mean."""

    demerit_ns: float
    ratio: float


def demerit(measured_ns: ArrayLike, predicted_ns: ArrayLike) -> Demerit:
    """Demerit of predicted against measured response times; the two may differ in number and order.

    Raises
    ------
    DescriptionError
        When one of them is empty.

    Notes
    -----
    sqrt of the integral over p in [0, 1] of (Q_measured(p) - Q_predicted(p))^2, Q the quantile functions; exact for
    the two step functions.

    References
    ----------
    C. Ruemmler, J. Wilkes, *An introduction to disk drive modeling*, IEEE Computer 27(3), 1994.

    Examples
    --------
    >>> demerit([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    Demerit(demerit_ns=1.0, ratio=0.5)
    """
    measured = np.sort(np.asarray(measured_ns, dtype=np.float64))
    predicted = np.sort(np.asarray(predicted_ns, dtype=np.float64))
    n, m = len(measured), len(predicted)
    if n == 0 or m == 0:
        name = "measured_ns" if n == 0 else "predicted_ns"
        raise DescriptionError(Fault(name, None, "has no response times", "give at least one"))
    # steps of both curves in units of 1 / (n m), so that equal levels meet exactly
    edges = np.union1d(np.arange(n + 1, dtype=np.int64) * m, np.arange(m + 1, dtype=np.int64) * n)
    left, width = edges[:-1], np.diff(edges)
    gap = measured[left // m] - predicted[left // n]
    distance = float(np.sqrt(np.sum(gap * gap * width) / (n * m)))
    mean = float(measured.mean())
    return Demerit(distance, distance / mean if mean else float("inf"))
