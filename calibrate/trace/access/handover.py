"""Time between a request's last block under the head and its completion, by size: buffer, reconnection and bus.

Drives send the blocks of a read while they read later ones, some in bursts once part of the buffer is full, so that the
delay is no straight line over size. What a line does not explain is kept as a table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats

#: Edges of the classes of size, in blocks: every size up to 4, then steps that grow with the size.
EDGES = np.array([1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 20, 24, 28, 33, 41, 57, 97, 257, 2049])
#: Requests needed for a class to have an entry. Half makes entries noisier; at double, rare sizes are interpolated.
MIN_POINTS = 12
#: Weight of no delay, in requests: an entry of 12 requests is drawn by a third towards 0. Without it rare sizes follow
#: noise.
PRIOR = 6.0


@dataclass(frozen=True)
class Handover:
    """Delay beyond the line (ms) at sizes in blocks, interpolated linearly."""

    sizes: Floats
    late_ms: Floats

    def at(self, n_blocks: Floats) -> Floats:
        """Return the delay of requests of given sizes, (n,) ms."""
        return np.asarray(np.interp(n_blocks, self.sizes, self.late_ms))


NO_DELAY = Handover(np.ones(1), np.zeros(1))


def fit_handover(n_blocks: Floats, late_ms: Floats) -> Handover:
    """Return the table of residual delays (ms, around 0): medians by class of size, drawn towards 0."""
    which = np.searchsorted(EDGES, n_blocks, side="right")
    sizes, late = [], []
    for k in np.unique(which):
        mine = which == k
        n = int(mine.sum())
        if n >= MIN_POINTS:
            sizes.append(float(n_blocks[mine].mean()))
            late.append(float(np.median(late_ms[mine])) * n / (n + PRIOR))
    if len(sizes) < 2:
        return NO_DELAY
    return Handover(np.array(sizes), np.array(late))
