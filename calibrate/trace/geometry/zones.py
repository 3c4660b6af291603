"""Zones of the disk: stretches of addresses over which the angle advances at one rate.

Candidate rates come from the pair spectra of overlapping windows; a Viterbi path with a penalty on each change decides
which rate applies where. The rate includes all skews: sectors per track follow from it once track steps are found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats
from calibrate.trace.spectrum import Points, pair_spectrum, pairs_within, thin

#: Windows of the disk, overlapping by half, whose spectra give candidates. Half has windows with several zones in
#: them; double has too few pairs in each.
N_WINDOWS = 32
#: Cells of the disk: borders of zones are found to a 256th, then moved by `agreement`.
N_CELLS = 256
#: Rates that are compared, the strongest first; more than any drive has zones.
MAX_CANDIDATES = 80
#: Penalty for a change of rate, in coherent accesses. Half makes zones of noise; double joins zones with few accesses.
CHANGE_PENALTY = 15.0
#: Coherence of a candidate in units of 1 / √pairs: noise reaches about 2.5 (`clock.rotation.CHANCE`).
MIN_SIGNIFICANCE = 4.0


@dataclass(frozen=True)
class Stretch:
    """Addresses first to last (excluded) and their mean rate of angle, turns per block."""

    first: float
    last: float
    turns_per_block: float
    n_points: int


def find_zones(points: Points, turns_per_ms: float, size: float, limit_ms: float) -> list[Stretch]:
    """Return stretches of one rate each, covering addresses 0 to `size`; empty when nothing is coherent."""
    candidates = _candidates(points, turns_per_ms, size, limit_ms)
    if len(candidates) == 0:
        return []
    score, count = _cell_scores(points, turns_per_ms, size, limit_ms, candidates)
    path = _cheapest_path(score, CHANGE_PENALTY)
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(path)) + 1, [N_CELLS]])
    edges = cuts * size / N_CELLS
    stretches = [
        Stretch(float(a), float(b), float(candidates[path[i]]), int(count[i:j].sum()))
        for a, b, i, j in zip(edges[:-1], edges[1:], cuts[:-1], cuts[1:], strict=True)
    ]
    return [_sharpen(points, turns_per_ms, stretch, size, limit_ms) for stretch in stretches]


def _candidates(points: Points, turns_per_ms: float, size: float, limit_ms: float) -> Floats:
    width = size / N_WINDOWS
    peaks: list[tuple[float, float]] = []
    for first in np.arange(2 * N_WINDOWS - 1) * width / 2:
        dx, dt, _ = pairs_within(points.take((points.x >= first) & (points.x < first + width)), limit_ms)
        if len(dx) < 15:
            continue
        dx, dt = thin(dx, dt)
        power, slopes = pair_spectrum(dx, dt, turns_per_ms, width, 3.0)
        for _ in range(3):
            best = int(power.argmax())
            peaks.append((float(power[best] * np.sqrt(len(dx))), float(slopes[best])))
            power[max(0, best - 8) : best + 9] = 0
    chosen: list[float] = []
    for strength, slope in sorted(peaks, reverse=True):
        if strength < MIN_SIGNIFICANCE or len(chosen) == MAX_CANDIDATES:
            break
        if all(abs(slope - other) > 0.7 / width for other in chosen):
            chosen.append(slope)
    return np.array(sorted(chosen))


def _cell_scores(
    points: Points, turns_per_ms: float, size: float, limit_ms: float, candidates: Floats
) -> tuple[Floats, Floats]:
    """Return the coherence of pairs by cell of address and candidate, scaled to one vote per point, and the points."""
    dx, dt, middle = pairs_within(points, limit_ms, size / N_WINDOWS / 2)
    cell = np.minimum((middle / size * N_CELLS).astype(np.int64), N_CELLS - 1)
    score = np.empty((N_CELLS, len(candidates)))
    for k, slope in enumerate(candidates):
        score[:, k] = np.bincount(cell, np.cos(2 * np.pi * (turns_per_ms * dt - dx * slope)), N_CELLS)
    count = np.bincount(np.minimum((points.x / size * N_CELLS).astype(np.int64), N_CELLS - 1), minlength=N_CELLS)
    return score * (len(points) / max(len(dx), 1)), count.astype(np.float64)


def _cheapest_path(score: Floats, price: float) -> np.ndarray:
    best = np.empty_like(score)
    back = np.zeros(score.shape, dtype=np.int64)
    best[0] = score[0]
    for i in range(1, len(score)):
        top = int(best[i - 1].argmax())
        stay = best[i - 1] >= best[i - 1][top] - price
        best[i] = np.where(stay, best[i - 1], best[i - 1][top] - price) + score[i]
        back[i] = np.where(stay, np.arange(score.shape[1]), top)
    path = [int(best[-1].argmax())]
    for i in range(len(score) - 1, 0, -1):
        path.append(int(back[i][path[-1]]))
    return np.array(path[::-1])


def _sharpen(points: Points, turns_per_ms: float, stretch: Stretch, size: float, limit_ms: float) -> Stretch:
    """Return the stretch with its rate found over its whole length."""
    inside = points.take((points.x >= stretch.first) & (points.x < stretch.last))
    dx, dt, _ = pairs_within(inside, limit_ms)
    if len(dx) < 15:
        return stretch
    dx, dt = thin(dx, dt, 8000)
    reach = N_WINDOWS / size
    grid = stretch.turns_per_block + np.arange(-reach, reach, 0.2 / (stretch.last - stretch.first))
    score = np.array([np.cos(2 * np.pi * (turns_per_ms * dt - dx * slope)).sum() for slope in grid])
    return Stretch(stretch.first, stretch.last, float(grid[score.argmax()]), stretch.n_points)
