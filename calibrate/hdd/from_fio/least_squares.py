"""Least squares whose residuals are simulated: each takes a run, and scatters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from calibrate.arrays import Floats

#: Step of the slopes in the coordinates of a fit: large enough to move percentiles of a simulation by more than they
#: scatter. At a quarter the search stays where it starts; at double the slopes are those of another place.
STEP = 0.2
#: Searches, each from where the one before ended, and places that one looks at. With slopes measured at every place,
#: fits of three drives take 1.7 times the simulations and end at the same misfit (means of four seeds: 171, 13.5 and 93
#: instead of 170, 14.8 and 93); one search saves a quarter more, and ends at 181, 16 and 97.
N_SEARCHES, N_PLACES = 2, 6


@dataclass(frozen=True)
class Least:
    """Where the sum of squares is least.

    Attributes
    ----------
    x : (n,) float64
        Coordinates.
    misfit : float
        Sum of the squares.
    errors : (n,) float64
        Standard errors of the coordinates, if residuals are in units of theirs.
    """

    x: Floats
    misfit: float
    errors: Floats


def least(of: Callable[[Floats], Floats], start: Floats, scale: Floats, bounds: tuple[Floats, Floats]) -> Least:
    """Find the coordinates of the least squares of residuals `of`; `scale` are steps that change these about alike."""
    slopes = _Slopes(of, scale)
    x = start
    for _ in range(N_SEARCHES):
        slopes.measure(x)
        settings = {"jac": slopes, "x_scale": scale, "max_nfev": N_PLACES, "bounds": bounds}
        found = least_squares(slopes.residuals, x, **settings)
        x = found.x
    inverse = np.linalg.pinv(slopes.measured.T @ slopes.measured)
    return Least(x, 2.0 * float(found.cost), np.sqrt(np.maximum(np.diag(inverse), 0.0)))


class _Slopes:
    """Residuals, each simulated once, and their slopes.

    Slopes are measured where a search starts, by steps that move the percentiles of a simulation: scipy's own are too
    small. From place to place they are corrected so that they explain how the residuals have changed (Broyden's rule),
    which takes no simulation; measured anew they would take two for each coordinate.

    Attributes
    ----------
    measured : (m, n) float64
        Those of the last start.
    """

    def __init__(self, of: Callable[[Floats], Floats], scale: Floats) -> None:
        self._of, self._scale = of, scale
        self._known: dict[bytes, Floats] = {}

    def residuals(self, x: Floats) -> Floats:
        """Return the residuals at a place."""
        key = x.tobytes()
        if key not in self._known:
            self._known[key] = self._of(x)
        return self._known[key]

    def measure(self, x: Floats) -> None:
        """Measure the slopes at a place by a step to either side of each coordinate."""
        steps = STEP * np.eye(len(x))
        rises = [self._of(x + step) - self._of(x - step) for step in steps]
        self.measured = np.array(rises).T / (2 * STEP)
        self._at, self._slopes = x, self.measured

    def __call__(self, x: Floats) -> Floats:
        """Return the slopes where the search has got to."""
        step = x - self._at
        if step.any():
            unexplained = self.residuals(x) - self.residuals(self._at) - self._slopes @ step
            scaled = step / self._scale**2
            self._slopes = self._slopes + np.outer(unexplained, scaled) / (step @ scaled)
            self._at = x.copy()
        return self._slopes
