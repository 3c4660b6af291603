"""Zones from single places: whole numbers of sectors per track that fall towards the inner edge.

Each place has a likelihood for every number. The zones are the likeliest path through the places from the outer edge
inwards on which the number stays or falls. Each fall has a penalty, so that noise makes no zones (a change-point
search, made exact by dynamic programming). A zone ends between the last place that fits it and the first that fits the
next.
"""

from __future__ import annotations

import math

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.hdd.angles import Pairs, Skews
from calibrate.hdd.sequential import Stretches

#: Number of zones that the penalty assumes. It enters as a logarithm: half or double changes the penalty by 1.4.
_USUAL_ZONES = 16.0
#: Share of coherent runs whose slope is wrong all the same, and how far off it may be, in the logarithm.
_WRONG, _WRONG_LOG = 0.002, 1.0
#: Error of the sum of skews, sectors: skews are whole sectors too, so their share of a revolution varies by zone.
_SKEW_SECTORS = 0.3
#: Smallest relative error of a slope. At half, one disturbed run makes a zone; double blurs zones that differ by one
#: sector.
_MIN_ERROR = 0.0005
#: Margin of the grid of sectors per track beyond the first estimates, as a share.
_GRID_MARGIN = 0.15
#: Numbers of sectors per track on the grid; with more, every n-th is tried. Time grows in proportion.
_MAX_STATES = 6000


def likeliest_zones(
    pairs: Pairs, stretches: Stretches, guess: Floats, *, skew_turns: float, skews: Skews | None, n_sectors: int
) -> tuple[Floats, Floats]:
    """Return the edges of the zones in sectors, (n + 1,), and the sectors per track of each, (n,).

    Parameters
    ----------
    guess : (m,) float
        First estimates of sectors per track, from any places.
    skew_turns : float
        Mean skew, which the slopes of sequential runs contain.
    skews : Skews, optional
        Skews of tracks and cylinders, which pairs of blocks may contain.
    """
    low, high = float(guess.min()) * (1.0 - _GRID_MARGIN), float(guess.max()) * (1.0 + _GRID_MARGIN)
    step = max(round((high - low) / _MAX_STATES), 1)
    states = np.arange(max(int(low), 1), int(high) + step + 1, step)[::-1].astype(np.float64)
    place = np.concatenate([pairs.sector, stretches.sector])
    score = np.concatenate([pairs.log_likelihood(states[None, :], skews), _of_stretches(stretches, states, skew_turns)])
    order = np.argsort(place, kind="stable")
    price = math.log(max(len(place) * len(states) / _USUAL_ZONES**2, math.e))
    path = _falling_path(score[order], price)
    change = np.flatnonzero(np.diff(path))
    borders = (place[order][change] + place[order][change + 1]) / 2
    edges = np.concatenate([[0.0], borders, [float(n_sectors)]])
    per_track = states[path[np.concatenate([[0], change + 1])]]
    is_there = np.diff(edges) > 0
    return np.concatenate([edges[:-1][is_there], edges[-1:]]), per_track[is_there]


def _of_stretches(stretches: Stretches, states: Floats, skew_turns: float) -> Floats:
    """Return the log-likelihood of each slope (rows) for each number of sectors per track (columns)."""
    if not len(stretches):
        return np.empty((0, len(states)))
    off = np.log(stretches.turns_per_sector[:, None] * states[None, :] / (1.0 + skew_turns))
    error = np.sqrt(stretches.stderr_ratio[:, None] ** 2 + _MIN_ERROR**2 + (_SKEW_SECTORS / states[None, :]) ** 2)
    # Student's t with three degrees of freedom
    density = 0.3676 / error * (1.0 + (off / error) ** 2 / 3.0) ** -2.0
    return np.asarray(np.log((1.0 - _WRONG) * density + _WRONG / _WRONG_LOG))


def _falling_path(score: Floats, price: float) -> Ints:
    """Return the column of each row on the path with the highest sum that never returns to an earlier column."""
    n, m = score.shape
    came_from = np.empty((n, m), np.int32)
    column = np.arange(m, dtype=np.int32)
    total = score[0].copy()
    for i in range(1, n):
        # the best of the columns before each one
        best = np.maximum.accumulate(total)
        where = np.maximum.accumulate(np.where(total >= best, column, 0))
        before = np.concatenate([[-np.inf], best[:-1] - price])
        moves = before > total
        came_from[i] = np.where(moves, np.concatenate([[0], where[:-1]]), column)
        total = np.where(moves, before, total) + score[i]
    path = np.empty(n, np.int64)
    path[-1] = int(total.argmax())
    for i in range(n - 1, 0, -1):
        path[i - 1] = came_from[i, path[i]]
    return path
