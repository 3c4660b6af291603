"""Track steps that agree from zone to zone.

A zone by itself may take an accidental line for its tracks. From one zone to the next the turns a track, skew
included, change little: makers keep skew in time or in sectors. Every zone is asked about every number of turns a
track; the path through the zones with the largest gain, at a price on each change, is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.geometry.angles import Step, ZoneAngle, log_gain, sawtooth_scores

LOW, HIGH = 1.02, 1.45
N_CELLS = 108
CELL_PENALTY = 4.0
SHARES = (0.55, 0.75, 0.95)
MIN_GAIN = 18.0
MIN_POINTS = 40


def agreed_tracks(zones: Sequence[ZoneAngle], x: Floats, z: Complexes) -> tuple[ZoneAngle, ...]:
    """The zones with their track steps chosen together; a zone whose gain is small keeps what it had.

    Parameters
    ----------
    zones : sequence of ZoneAngle
    x : (n,) float64
        Blocks whose angles were measured.
    z : (n,) complex128
        Their angles as unit phasors, drift of the clock taken out.
    """
    asked = [zone for zone in zones if ((x >= zone.first) & (x < zone.last)).sum() >= MIN_POINTS]
    if len(asked) < 2:
        return tuple(zones)
    gains, steps = [], []
    for zone in asked:
        inside = (x >= zone.first) & (x < zone.last)
        gain, found = _by_advance(zone, x[inside], z[inside])
        gains.append(gain)
        steps.append(found)
    path = _best_path(np.array(gains))
    told = {
        zone.first: found[cell]
        for zone, gain, found, cell in zip(asked, gains, steps, path, strict=True)
        if gain[cell] > MIN_GAIN
    }
    return tuple(replace(zone, track=told[zone.first]) if zone.first in told else zone for zone in zones)


def _by_advance(zone: ZoneAngle, x: Floats, z: Complexes) -> tuple[Floats, list[Step]]:
    """The best gain and its track step in each cell of turns a track."""
    bare = replace(zone, offset=0.0, track=Step(), cylinder=Step())
    left = z * np.exp(-2j * np.pi * bare.at(x))
    plain = abs(left.sum())
    placed = zone.placed(x)
    nu = zone.turns_per_block
    frequencies = np.arange(nu / HIGH, nu / LOW, 0.2 / (zone.last - zone.first))
    advance = nu / frequencies
    cell = np.minimum(((advance - LOW) / (HIGH - LOW) * N_CELLS).astype(np.int64), N_CELLS - 1)
    gain = np.zeros(N_CELLS)
    steps = [Step()] * N_CELLS
    tried = [share * (advance - 1.0) for share in SHARES]
    for heights, (score, start) in zip(tried, sawtooth_scores(left, placed, frequencies, tried), strict=True):
        order = np.argsort(score)
        best = np.zeros(N_CELLS, dtype=np.int64)
        best[cell[order]] = order
        for k in np.unique(cell):
            row = int(best[k])
            told = log_gain(len(x), plain, float(score[row]))
            if told > gain[k]:
                period = 1.0 / float(frequencies[row])
                gain[k], steps[k] = told, Step(period, float(start[row]) * period, float(heights[row]))
    return gain, steps


def _best_path(gain: Floats) -> list[int]:
    """The cells, one a zone, of the largest total gain less the price of changes."""
    cells = np.arange(gain.shape[1])
    price = CELL_PENALTY * np.abs(cells[:, None] - cells[None, :])
    total, back = gain[0], []
    for row in gain[1:]:
        reached = total[None, :] - price
        back.append(reached.argmax(axis=1))
        total = reached.max(axis=1) + row
    path = [int(total.argmax())]
    for came in reversed(back):
        path.append(int(came[path[-1]]))
    return path[::-1]
