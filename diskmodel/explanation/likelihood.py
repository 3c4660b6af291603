"""How well figures fit: a robust likelihood, and the chance of so large a deviation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

Floats = NDArray[np.float64]

#: Standard deviation, as a logarithm, of rates and means for whose draws there was no time: as of flash of which only
#: the name is known, with an interval of 0.28 to each side. At half, what drives differ by raises an alarm; at double,
#: losses of 1.8 times pass.
_UNDRAWN = 0.14


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
    lower, squared = _distance(deviation, scale)
    whole = special.gammaln((dof + n) / 2) - special.gammaln(dof / 2) - n / 2 * math.log(dof * math.pi)
    return float(whole - np.log(np.diag(lower)).sum() - (dof + n) / 2 * math.log1p(squared / dof))


def log_fit(deviation: Floats, scale: Floats, dof: float) -> float:
    """Return the logarithm of the same density over that of no deviation."""
    _, squared = _distance(deviation, scale)
    return -(dof + len(deviation)) / 2 * math.log1p(squared / dof)


def chance_of(deviation: Floats, scale: Floats, dof: float) -> float:
    """Return the probability of a deviation at least so far from 0, of all figures together (Hotelling's T)."""
    n = len(deviation)
    _, squared = _distance(deviation, scale)
    return float(special.fdtrc(n, dof, squared / n))


def _distance(deviation: Floats, scale: Floats) -> tuple[Floats, float]:
    """Return the Cholesky factor of a scale, and the square of a deviation in units of it."""
    lower = linalg.cholesky(scale, lower=True)
    return lower, float(np.sum(linalg.solve_triangular(lower, deviation, lower=True) ** 2))


def n_independent(scale: Floats) -> float:
    """Return how many independent figures correlated ones are worth: (sum of eigenvalues)² by the sum of squares."""
    spread = np.sqrt(np.diag(scale))
    values = np.linalg.eigvalsh(scale / np.outer(spread, spread))
    return float(values.sum() ** 2 / np.sum(values**2))


def covariance_undrawn(kinds: Sequence[str]) -> Floats:
    """Return the covariance of figures of which nothing was drawn, by their kinds; of others it is none."""
    ways = [{"iops": 1.0, "mean": -1.0}.get(kind, 0.0) for kind in kinds]
    return _UNDRAWN**2 * np.outer(ways, ways)


def covariance_of(found: Floats, scores: Floats) -> Floats:
    """Return the covariance of what draws found, as it would be if what they were drawn from went not together.

    Of sixteen draws, two unknowns that have nothing to do with each other correlate by a quarter as often as not, and
    what moves one figure by both seems to be known better or worse than it is.

    Parameters
    ----------
    found : float64, shape (n, n_figures)
    scores : float64, shape (n, n_unknowns)
        Of each draw.
    """
    centered = found - found.mean(axis=0)
    own = scores - scores.mean(axis=0)
    effects = np.linalg.lstsq(own, centered, rcond=None)[0] if scores.size else np.zeros((0, found.shape[1]))
    rest = centered - own @ effects
    squares = effects.T @ (effects * (own**2).sum(axis=0)[:, None]) + rest.T @ rest
    return np.asarray(squares / (len(found) - 1))
