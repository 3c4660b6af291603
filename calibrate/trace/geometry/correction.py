"""What the staircase of angles does not explain, from measured neighbors: slipped defects, spare tracks.

The correction at a block is the mean residual of accesses nearby, weighted by exp(-distance/width) and drawn towards
zero by a prior weight. Width and prior are those under which the others predict each access best. Where neighbors do
not help there is no correction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Complexes, Floats

#: Widths that are tried, blocks: from about a track to a tenth of a small zone.
WIDTHS_BLOCKS = (500.0, 2000.0, 8000.0, 32_000.0)
#: Weights of no correction that are tried, in accesses at no distance.
PRIORS = (0.5, 2.0)
#: Neighbors on either side that are summed up, in order of address; affects speed and, in dense traces, the reach of
#: wide corrections.
MAX_LAG = 40
#: Entries of a correction in the profile.
MAX_NODES = 2048
#: Mean cosine that a correction must gain. At half, noise becomes a correction; at double, few slipped tracks are
#: corrected.
MIN_GAIN = 0.003


@dataclass(frozen=True)
class Correction:
    """Turns to add to the staircase at blocks 0, step, 2·step, …; interpolated linearly."""

    step_blocks: float
    turns: Floats

    def at(self, x: Floats) -> Floats:
        """Return the turns to add at each block."""
        return np.asarray(np.interp(x, np.arange(len(self.turns)) * self.step_blocks, self.turns))


NO_CORRECTION = Correction(1.0, np.zeros(1))


def fit_correction(x: Floats, left: Complexes, size: float) -> Correction:
    """Return the correction that predicts left-out residual angles (unit phasors at blocks x) best, or none."""
    order = np.argsort(x)
    blocks, phasor = x[order], left[order]
    best = (float(np.cos(np.angle(phasor)).mean()) + MIN_GAIN, 0.0, 0.0)
    for width in WIDTHS_BLOCKS:
        near = np.zeros(len(blocks), dtype=np.complex128)
        for lag in range(1, min(MAX_LAG, len(blocks))):
            weight = np.exp(-(blocks[lag:] - blocks[:-lag]) / width)
            near[lag:] += weight * phasor[:-lag]
            near[:-lag] += weight * phasor[lag:]
        for prior in PRIORS:
            agree = float(np.cos(np.angle(phasor) - np.angle(near + prior)).mean())
            best = max(best, (agree, width, prior))
    _, width, prior = best
    if width == 0.0:
        return NO_CORRECTION
    step = max(width / 2, size / MAX_NODES)
    nodes = np.arange(0.0, size + step, step)
    gathered = np.empty(len(nodes), dtype=np.complex128)
    for k, node in enumerate(nodes):
        first, last = np.searchsorted(blocks, [node - 6 * width, node + 6 * width])
        gathered[k] = (np.exp(-np.abs(blocks[first:last] - node) / width) * phasor[first:last]).sum()
    return Correction(float(step), np.asarray(np.unwrap(np.angle(gathered + prior)) / (2 * np.pi)))
