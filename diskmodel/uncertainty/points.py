"""Equally likely points in many dimensions that spread evenly over each of them."""

from __future__ import annotations

import math  # noqa: F401 (examples)
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist, stdev

import numpy as np
from numpy.typing import NDArray

from diskmodel.uncertainty.spread import student

Floats = NDArray[np.float64]

#: Orders of which the one is taken that goes least with the columns before, when there are as many as points: with 8
#: points and 8 columns no two then have a correlation above 0.5. With a quarter as many it would be 0.6.
_TRIED = 64


def normal_scores(n: int, n_dimensions: int, seed: int | Sequence[int], beside: Floats | None = None) -> Floats:
    """Return `n` points of shape (n, n_dimensions), each column a permutation of the same normal scores.

    Parameters
    ----------
    n : int, at least 2
    n_dimensions : int
    seed : int or sequence of int
    beside : ndarray of float64, shape (n, any), optional
        Columns of other such points, with which these shall not go together either.

    Notes
    -----
    A Latin hypercube: each column has one value in each of `n` equally likely intervals, at its middle. Columns are the
    ranks of normal deviates that were made orthogonal to the columns before them, as long as there are fewer columns
    than points, so that effects of two columns are hardly mistaken for each other (R. L. Iman and W. J. Conover, "A
    distribution-free approach to inducing rank correlation among input variables", 1982). Of further columns no one can
    be orthogonal to all; what is left of one would be almost the same for each of them, so each is the one of
    some random orders whose largest correlation with those before is the smallest. A further column does not change
    those before it.
    """
    normal = NormalDist()
    levels = np.array([normal.inv_cdf((i + 0.5) / n) for i in range(n)])
    rng = np.random.default_rng(seed)
    before = np.empty((n, 0)) if beside is None else beside
    columns = np.empty((n, before.shape[1] + n_dimensions))
    columns[:, : before.shape[1]] = before
    for at in range(before.shape[1], columns.shape[1]):
        is_apart = at < n - 1
        deviates = rng.standard_normal((1 if is_apart else _TRIED, n))
        if is_apart:
            basis, _ = np.linalg.qr(np.column_stack([np.ones(n), columns[:, :at]]))
            deviates -= deviates @ basis @ basis.T
        tried = levels[deviates.argsort(axis=1).argsort(axis=1)]
        columns[:, at] = tried[np.abs(tried @ columns[:, :at]).max(axis=1, initial=0.0).argmin()]
    return columns[:, before.shape[1] :]


@cache
def half_width_factor(n: int, dof: float, confidence: float) -> float:
    """Return the half-width of an interval of Student's t, as a multiple of the standard deviation of `n` draws of it.

    Draws stop at the middles of the outermost of `n` intervals, and the tails beyond them are heavy: 1.96 standard
    deviations of 16 draws with 4 degrees of freedom would be an eighth too short for 95 %.

    Examples
    --------
    >>> round(half_width_factor(1000, math.inf, 0.95), 2)
    1.96
    >>> round(half_width_factor(16, 4.0, 0.95), 2)
    2.21
    """
    normal = NormalDist()
    draws = [student(normal.inv_cdf((i + 0.5) / n), dof) for i in range(n)]
    return student(normal.inv_cdf(0.5 + confidence / 2), dof) / stdev(draws)
