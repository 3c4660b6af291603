"""Rare long pauses of a drive: thermal recalibrations, retries over many turns, a host that was busy.

They belong to no access in particular, so that any may meet one; what they take is kept as it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats

#: What is late by more turns than this is no matter of a lost revolution or two.
MIN_TURNS = 2.5
MAX_KEPT = 40
#: One alone may never come again.
MIN_STALLS = 2


@dataclass(frozen=True)
class Stalls:
    """The share of requests that meet one, and how long it holds them up, (k,) ms, equally likely."""

    share: float
    late_ms: Floats

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """What requests are held up, in ms; 0 for most."""
        if self.share == 0.0:
            return np.zeros(shape)
        return np.where(rng.random(shape) < self.share, rng.choice(self.late_ms, shape), 0.0)


NO_STALLS = Stalls(0.0, np.zeros(1))


def fit_stalls(late_ms: Floats, period_ms: float, n_requests: int) -> Stalls:
    """The stalls among requests that ended `late_ms` later than expected."""
    stalled = np.sort(late_ms[late_ms > MIN_TURNS * period_ms])
    if len(stalled) < MIN_STALLS:
        return NO_STALLS
    kept = stalled[np.unique(np.linspace(0, len(stalled) - 1, MAX_KEPT).astype(np.int64))]
    return Stalls(len(stalled) / n_requests, np.asarray(kept))
