"""The revolution period, found sharply over the whole run, and the meaning of the pause column.

The search starts from pairs of accesses to nearly the same block, over all speeds. It then uses pairs further and
further apart in time, each step resolving the turns of the next. Both conventions for the pause are tried: only the
true one makes platter angles coherent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import RPM_RANGE
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import Bus, is_sequential, reached_platter
from calibrate.trace.clock.issue import Pause, issue_ms
from calibrate.trace.spectrum import PairSpectra, Points, pairs_within, thin

#: Longest time between the two accesses of a pair, ms, from step to step. Each step is at most 3.3 times the one
#: before: with larger steps a period that is off by the error of one step counts a turn too many in the next.
LIMITS_MS = (1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0)
#: Largest distance between the two accesses of a pair, blocks (60 MB). Larger windows mix zones of different density,
#: smaller ones have too few pairs.
WINDOW_BLOCKS = 120_000.0
#: Candidates that go on from each of the first limits, and the share of the best one's score from which on others go on
#: from the first: the best is judged by them. The six real traces' own period is the best at once; where there are only
#: 1,500 requests it may have seven tenths of the best score.
N_KEPT = 4
MIN_SHARE = 0.1
#: Parts of the disk that are searched by themselves, since the density differs from part to part. Half mixes zones;
#: double leaves too few pairs in each.
N_PARTS = 8
#: Speeds at which the refinement always starts, 1/min, whatever the coarse search says. Not the list of `unlocated`,
#: which has all speeds that its trials choose from: more starts here cost time.
START_RPM = (3600.0, 4500.0, 5400.0, 7200.0, 10_000.0, 15_000.0)
#: Pairs of the coarse search are within this many blocks: a few tracks, so that their density hardly matters.
NEAR_BLOCKS = 2048.0
#: Stretches of the disk whose coarse scores are added up.
N_STRETCHES = 10
#: Coherence that the best of some thousand slopes reaches in noise, in units of 1 / √pairs. At half, noise adds to
#: every candidate; at double, faint zones count for nothing.
CHANCE = 2.5
#: Lowest score of an identified period, on the scale of `_refine`. At half, noise without a platter may pass; at
#: double, traces with few accesses have no period.
MIN_SCORE = 0.015


@dataclass(frozen=True)
class Rotation:
    """The revolution found.

    Period and standard error in ms, meaning of the pause column, coherence of the best candidate and of the runner-up,
    and the longest time (ms) over which angles stay coherent."""

    period_ms: float
    stderr_ms: float
    pause: Pause
    score: float
    runner_up: float
    coherent_ms: float
    is_identified: bool


def angle_points(trace: RequestTrace, bus: Bus, pause: Pause, block_ms: Floats | float | None = None) -> Points:
    """Return the accesses that show an angle: reads by their first block, writes by their last.

    `block_ms` is the time of a block of a read between platter and host: that of the bus or of the platter, whichever
    is slower.
    """
    chosen = reached_platter(trace, bus) & ~is_sequential(trace)
    per_block = bus.block_ms if block_ms is None else block_ms
    done = issue_ms(trace, pause) + trace.response_ms
    x = np.where(trace.is_write, trace.end, trace.lba).astype(np.float64)
    t = done - np.where(trace.is_write, 0.0, trace.n_blocks * per_block)
    return Points(x[chosen], t[chosen], trace.is_write[chosen].astype(np.int64))


def fit_rotation(trace: RequestTrace, bus: Bus) -> Rotation:
    """Return the revolution of the drive, from completion times alone."""
    found = []
    for pause in Pause:
        points = angle_points(trace, bus, pause)
        if len(points) >= 60:
            found += [(0.0, start, pause, points) for start in _coarse(points)]
    if not found:
        return Rotation(np.nan, np.nan, Pause.AFTER, 0.0, 0.0, 0.0, False)
    width = 0.6e-3
    for n_before, limit in enumerate(LIMITS_MS[:3]):
        parts = {pause: _Parts(points, limit) for _, _, pause, points in found}
        for k, (_, rough, pause, points) in enumerate(found):
            frequency, score, _ = parts[pause].refined(rough, width)
            found[k] = (score, frequency, pause, points)
        found.sort(key=lambda item: -item[0])
        least = MIN_SHARE * found[0][0] if n_before == 0 else np.inf
        found = found[:N_KEPT] + [item for item in found[N_KEPT:] if item[0] >= least]
        width = 1.0 / limit / 3
    score, frequency, pause, points = found[0]
    others = [item[0] for item in found if abs(item[1] / frequency - 1) > 2e-3 or item[2] is not pause]
    last = LIMITS_MS[2]
    for limit in LIMITS_MS[3:]:
        sharper, now, rest = _Parts(points, limit).refined(frequency, 1.0 / last / 3)
        if now < 0.5 * score or now < 1.3 * rest:
            break
        frequency, last = sharper, limit
    runner = max(others, default=0.0)
    stderr = 0.1 / last / np.sqrt(len(points)) / frequency**2
    return Rotation(1.0 / frequency, stderr, pause, score, runner, last, score > max(MIN_SCORE, 1.3 * runner))


def _coarse(points: Points, n_best: int = 5) -> list[float]:
    """Return likely rotation frequencies (turns per ms) from pairs within a few tracks and a second."""
    dx, dt, middle = pairs_within(points, 1000.0, NEAR_BLOCKS)
    if len(dx) < 20:
        return []
    stretch = (middle / points.x.max() * (N_STRETCHES - 1e-9)).astype(np.int64)
    frequency = np.arange(RPM_RANGE[0], RPM_RANGE[1], 9.0) / 60e3
    score = np.zeros(len(frequency))
    for k in range(N_STRETCHES):
        mine = stretch == k
        if np.count_nonzero(mine) >= 5:
            near_dx, near_dt = thin(dx[mine], dt[mine], 1500)
            score += _strength(near_dx, near_dt, frequency, NEAR_BLOCKS)
    chosen: list[float] = []
    for best in np.argsort(-score):
        if all(abs(frequency[best] / other - 1) > 6e-3 for other in chosen):
            chosen.append(float(frequency[best]))
        if len(chosen) == n_best:
            break
    for rpm in START_RPM:
        near = np.flatnonzero(np.abs(frequency * 60e3 / rpm - 1) < 0.013)
        for part in np.array_split(near, 3):
            best = part[score[part].argmax()]
            if all(abs(frequency[best] / other - 1) > 1e-3 for other in chosen):
                chosen.append(float(frequency[best]))
    return chosen


def _strength(dx: Floats, dt: Floats, turns_per_ms: Floats, width: float) -> Floats:
    """Return by how much the best slope exceeds what noise gives among so many slopes, weighted by pairs, (n,)."""
    return _above_chance(PairSpectra(dx, dt, width, 2.0).strongest(turns_per_ms), len(dx))


def _above_chance(coherence: Floats, n: int) -> Floats:
    return np.asarray(n * np.maximum(coherence - CHANCE / np.sqrt(n), 0.0) ** 2)


class _Parts:
    """Pairs of accesses at most `limit_ms` apart, by part of the disk: they serve all frequencies that are tried."""

    def __init__(self, points: Points, limit_ms: float) -> None:
        self._limit_ms, self._n_points = limit_ms, len(points)
        self._spectra: list[tuple[int, PairSpectra]] = []
        size = points.x.max() + 1.0
        window = min(size / 32.0, WINDOW_BLOCKS)
        for first in np.arange(N_PARTS) * size / N_PARTS:
            mine = (points.x >= first) & (points.x < first + size / N_PARTS)
            dx, dt, _ = pairs_within(points.take(mine), limit_ms, window)
            if len(dx) >= 12:
                dx, dt = thin(dx, dt)
                self._spectra.append((len(dx), PairSpectra(dx, dt, window, 2.0)))

    def refined(self, frequency: float, width: float) -> tuple[float, float, float]:
        """Return the most coherent frequency within `width` of a guess, its score, and the median score."""
        grid = np.arange(frequency - width, frequency + width, 1.0 / self._limit_ms / 6)
        score = np.zeros(len(grid))
        for n, spectra in self._spectra:
            score += _above_chance(spectra.strongest(grid), n)
        score /= self._n_points
        best = int(score.argmax())
        return float(grid[best]), float(score[best]), float(np.median(score))
