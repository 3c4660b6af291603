"""How well figures fit: a robust likelihood, and the chance of so large a deviation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats
from scipy.special import gammaln

Floats = NDArray[np.float64]


def log_likelihood(deviation: Floats, scale: Floats, dof: float) -> float:
    """Return the logarithm of the density of a multivariate Student's t.

    Parameters
    ----------
    deviation : float64, shape (n,)
    scale : float64, shape (n, n)
        Positive definite.
    dof : float, above 0
    """
    n = len(deviation)
    lower = linalg.cholesky(scale, lower=True)
    squared = float(np.sum(linalg.solve_triangular(lower, deviation, lower=True) ** 2))
    whole = gammaln((dof + n) / 2) - gammaln(dof / 2) - n / 2 * math.log(dof * math.pi)
    return float(whole - np.log(np.diag(lower)).sum() - (dof + n) / 2 * math.log1p(squared / dof))


def chance_of(deviation: Floats, scale: Floats, dof: float) -> float:
    """Return the probability of a deviation at least so far from 0, of all figures together (Hotelling's T)."""
    n = len(deviation)
    lower = linalg.cholesky(scale, lower=True)
    squared = float(np.sum(linalg.solve_triangular(lower, deviation, lower=True) ** 2))
    return float(stats.f.sf(squared / n, n, dof))


def chances(deviation: Floats, scale: Floats, dof: float) -> Floats:
    """Return the probability of each deviation by itself, on either side."""
    return np.asarray(2 * stats.t.sf(np.abs(deviation) / np.sqrt(np.diag(scale)), dof))


def n_independent(scale: Floats) -> float:
    """Return how many independent figures correlated ones are worth: (sum of eigenvalues)² by the sum of squares."""
    spread = np.sqrt(np.diag(scale))
    values = np.linalg.eigvalsh(scale / np.outer(spread, spread))
    return float(values.sum() ** 2 / np.sum(values**2))
