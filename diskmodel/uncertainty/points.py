"""Equally likely points in many dimensions that spread evenly over each of them."""

from __future__ import annotations

import math  # noqa: F401 (examples)
from functools import cache
from statistics import NormalDist, stdev

import numpy as np
from numpy.typing import NDArray

from diskmodel.uncertainty.spread import student

Floats = NDArray[np.float64]


def normal_scores(n: int, n_dimensions: int, seed: int) -> Floats:
    """Return `n` points of shape (n, n_dimensions), each column a permutation of the same normal scores.

    Parameters
    ----------
    n : int, at least 2
    n_dimensions : int
    seed : int

    Notes
    -----
    A Latin hypercube: each column has one value in each of `n` equally likely intervals, at its middle. Columns are the
    ranks of normal deviates that were made orthogonal to the columns before them, as far as there are fewer columns
    than points, so that effects of two columns are hardly mistaken for each other (R. L. Iman and W. J. Conover, "A
    distribution-free approach to inducing rank correlation among input variables", 1982). A further column does not
    change those before it.
    """
    normal = NormalDist()
    levels = np.array([normal.inv_cdf((i + 0.5) / n) for i in range(n)])
    rng = np.random.default_rng(seed)
    columns: list[Floats] = []
    basis = [np.full(n, n**-0.5)]
    for _ in range(n_dimensions):
        deviates = rng.standard_normal(n)
        for direction in basis:
            deviates = deviates - (deviates @ direction) * direction
        column = levels[np.argsort(np.argsort(deviates))]
        columns.append(column)
        rest = column.copy()
        for direction in basis:
            rest -= (rest @ direction) * direction
        length = float(np.linalg.norm(rest))
        if len(basis) < n - 2 and length > 1e-6:
            basis.append(rest / length)
    return np.column_stack(columns) if columns else np.empty((n, 0))


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
