"""Track steps that agree from zone to zone.

A single zone may take an accidental line for its tracks. From one zone to the next the turns per track, skew included,
change little: makers keep the skew constant in time or in sectors. Every number of turns per track is tried in every
zone, and the path through the zones with the largest gain is taken, with a penalty on each change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.geometry.angles import Step, ZoneAngle, log_gain, sawtooth_scores

#: Smallest and largest turns per track: a turn and a skew of 0.02 to 0.45. Skews above a third of a turn are easily
#: taken for those a turn per track lower (docs/explanation/calibration.md, Known truth).
LOW, HIGH = 1.02, 1.45
#: Cells between `LOW` and `HIGH`: 0.004 turns each, less than the error of a skew in one zone.
N_CELLS = 108
#: Penalty for each cell by which neighboring zones differ, twice log-likelihood. At 0 every zone chooses alone; ten
#: times it forces one skew on all zones.
CELL_PENALTY = 4.0
#: Heights of the track step that are tried, as a share of the turns beyond one: the rest is the cylinder's step.
SHARES = (0.55, 0.75, 0.95)
#: Twice the log-likelihood from which on a zone takes the common track step. Half lets noise in; double leaves thin
#: zones without tracks.
MIN_GAIN = 18.0
#: Accesses that a zone needs to take part.
MIN_POINTS = 40


def agreed_tracks(zones: Sequence[ZoneAngle], x: Floats, z: Complexes) -> tuple[ZoneAngle, ...]:
    """Return the zones with their track steps chosen together; a zone whose gain is small keeps its own.

    Parameters
    ----------
    zones : sequence of ZoneAngle
    x : (n,) float64
        Blocks whose angles were measured.
    z : (n,) complex128
        Their angles as unit phasors, without the drift of the clock.
    """
    dense = [zone for zone in zones if ((x >= zone.first) & (x < zone.last)).sum() >= MIN_POINTS]
    if len(dense) < 2:
        return tuple(zones)
    gains, steps = [], []
    for zone in dense:
        inside = (x >= zone.first) & (x < zone.last)
        gain, found = _by_advance(zone, x[inside], z[inside])
        gains.append(gain)
        steps.append(found)
    path = _best_path(np.array(gains))
    chosen = {
        zone.first: found[cell]
        for zone, gain, found, cell in zip(dense, gains, steps, path, strict=True)
        if gain[cell] > MIN_GAIN
    }
    return tuple(replace(zone, track=chosen[zone.first]) if zone.first in chosen else zone for zone in zones)


def _by_advance(zone: ZoneAngle, x: Floats, z: Complexes) -> tuple[Floats, list[Step]]:
    """Return the best gain and its track step in each cell of turns per track."""
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
            gained = log_gain(len(x), plain, float(score[row]))
            if gained > gain[k]:
                period = 1.0 / float(frequencies[row])
                gain[k], steps[k] = gained, Step(period, float(start[row]) * period, float(heights[row]))
    return gain, steps


def _best_path(gain: Floats) -> list[int]:
    """Return the cells, one per zone, with the largest total gain less the penalty on changes."""
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
