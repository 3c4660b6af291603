"""The seek curve, from reads one at a time: each shows that the arm was ready within one revolution.

A read that ends t after its issue found the head ready between t - revolution and t (less overhead and the sector
itself). A single read shows no more, but thousands of them, at all distances, leave a smooth curve little freedom. The
curve is linear between knots in the square root of distance; the likelihood is a uniform wait whose edges are softened
by the jitter of measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from calibrate.arrays import Floats, Ints

#: Knots of the curve. Half cannot follow the bend of short seeks; double follows noise between few reads.
N_KNOTS = 18
#: Width of the edges of the wait, turns: 33 µs at 7,200 rpm, the jitter of a measurement. At half, jitter at an edge
#: counts as an outlier; double shifts the curve by half of it.
_SOFT_TURNS = 0.004
#: Density of reads that come too early (cache hits, blocks that were moved), and largest density of late reads on a
#: busy host. The share of late reads is fitted between the two.
EARLY_SHARE, LATE_SHARE = 0.002, 0.1
#: Usual bend of the curve at the first and at the last knot, turns: short seeks are straight over the root of
#: distance, long ones are not.
_BEND_TURNS = (0.003, 0.08)


@dataclass(frozen=True)
class SeekFit:
    """Seek time by distance, in knots.

    Attributes
    ----------
    distance : (n,) float
        In the unit of the input (tracks).
    ready_ns : (n,) float
        From issue until the head is ready: overhead and seek.
    stderr_ns : (n,) float
    n : int
        Number of reads.
    has_converged : bool
    """

    distance: Floats
    ready_ns: Floats
    stderr_ns: Floats
    n: int
    has_converged: bool

    def at(self, distance: Floats) -> Floats:
        """Return the ready time at a distance, extrapolated linearly beyond the last knot."""
        ready = np.interp(np.sqrt(distance), np.sqrt(self.distance), self.ready_ns)
        far = self.distance[-1] - self.distance[-3]
        slope = max(float(self.ready_ns[-1] - self.ready_ns[-3]) / far, 0.0) if far > 0 else 0.0
        return np.asarray(ready + slope * np.maximum(distance - self.distance[-1], 0.0))


def fit_seek(distance: Floats, waited_ns: Floats, period_ns: float, *, nearest: float) -> SeekFit:
    """Fit the curve to reads.

    Parameters
    ----------
    distance : (n,) float
        Distance of the move, at least `nearest`.
    waited_ns : (n,) float
        From issue until the sector came under the head.
    period_ns : float
    nearest : float
        Distance of the first knot.
    """
    root = np.sqrt(distance)
    low, high = float(np.sqrt(nearest)), float(root.max())
    # knots where the data is, and denser where the curve bends
    knots = low + (high - low) * np.linspace(0.0, 1.0, N_KNOTS) ** 1.5
    place = np.clip(np.searchsorted(knots, root) - 1, 0, N_KNOTS - 2)
    weight = np.clip((root - knots[place]) / (knots[place + 1] - knots[place]), 0.0, 1.0)
    design = np.zeros((len(root), N_KNOTS))
    rows = np.arange(len(root))
    design[rows, place] = 1.0 - weight
    design[rows, place + 1] += weight
    bend = _second_differences(knots)
    y = waited_ns / period_ns
    value = _start(design, place, y)
    has_converged = False
    # the edges start soft, so that the search finds a slope from afar, and end as sharp as the data
    late = LATE_SHARE
    for soft in (0.08, 0.03, 0.012, _SOFT_TURNS, _SOFT_TURNS):
        found = minimize(
            _loss,
            value,
            args=(design, y, soft, bend, late),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 20.0)] * N_KNOTS,
            options={"maxiter": 400},
        )
        value, has_converged = found.x, bool(found.success)
        if soft == _SOFT_TURNS:
            # on a quiet machine few reads are late, and an upper end is as sharp as a lower one
            late = float(np.clip(np.mean(y - design @ value > 1.0 + 4 * soft), EARLY_SHARE, LATE_SHARE))
    stderr = _errors(value, design, y)
    return SeekFit(knots**2, value * period_ns, stderr * period_ns, len(y), has_converged)


def _start(design: Floats, place: Ints, y: Floats) -> Floats:
    """Return the lowest waits around each knot, made monotone."""
    value = np.full(design.shape[1], np.nan)
    for k in range(design.shape[1]):
        mine = y[(place == k) | (place == k - 1)]
        if len(mine) >= 4:
            value[k] = max(float(np.quantile(mine, 0.5)) - 0.5, 0.0)
    known = np.isfinite(value)
    value = np.interp(np.arange(len(value)), np.flatnonzero(known), value[known])
    return np.asarray(np.maximum.accumulate(value))


def _loss(value: Floats, design: Floats, y: Floats, soft: float, bend: Floats, late: float) -> tuple[float, Floats]:
    """Return the negative log-likelihood of waits between 0 and 1 revolution after the curve, and its gradient."""
    left = y - design @ value
    up, down = left / soft, (1.0 - left) / soft
    # log of the softened uniform density, with a floor for what does not belong to it
    log_inside = log_expit(up) + log_expit(down)
    inside = np.exp(log_inside)
    is_late = expit(-down)
    total = inside + EARLY_SHARE + (late - EARLY_SHARE) * is_late
    # far before the curve the floor would hide the slope: add a gentle pull
    pull = np.maximum(-left, 0.0)
    slope = (inside * (expit(-up) - is_late) + (late - EARLY_SHARE) * is_late * (1.0 - is_late)) / total / soft
    loss = -float(np.sum(np.log(total))) + float(np.sum(pull))
    pulled = np.where(left < 0.0, 1.0, 0.0)
    gradient = design.T @ (slope + pulled)
    curvature = bend @ value
    return loss + 0.5 * float(curvature @ curvature), gradient + bend.T @ curvature


def _second_differences(knots: Floats) -> Floats:
    """Return bends at the inner knots, scaled by their spacing and by the usual bend.

    Short seeks are straight over the square root of distance and few reads show them; long ones bend and have many.
    """
    n = len(knots)
    matrix = np.zeros((n - 2, n))
    for k in range(1, n - 1):
        left, right = knots[k] - knots[k - 1], knots[k + 1] - knots[k]
        usual = _BEND_TURNS[0] + (_BEND_TURNS[1] - _BEND_TURNS[0]) * (knots[k] - knots[0]) / (knots[-1] - knots[0])
        scale = (left + right) / 2 / usual
        matrix[k - 1, k - 1] = scale / left
        matrix[k - 1, k] = -scale / left - scale / right
        matrix[k - 1, k + 1] = scale / right
    return matrix


def _errors(value: Floats, design: Floats, y: Floats) -> Floats:
    """Return half of the interval that the reads leave each knot, the others fixed; at most half a revolution."""
    left = y - design @ value
    errors = np.empty(len(value))
    for k in range(len(value)):
        near = design[:, k] > 0.3
        mine = left[near]
        inside = mine[(mine >= 0.0) & (mine <= 1.0)]
        if len(inside):
            # places next to each other have few different angles: the interval left counts, not the number of reads
            errors[k] = (float(inside.min()) + 1.0 - float(inside.max())) / 2 + _SOFT_TURNS
        else:
            errors[k] = 0.5
    return np.minimum(errors, 0.5)
