"""Rare long pauses of a drive: thermal recalibrations, retries over many turns, a host that was busy.

They belong to no access in particular, so that any access may meet one. Their lengths are kept as they were measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats

#: An access later than this many turns met a stall. At half, retries of one turn count as stalls too; at double, short
#: recalibrations widen the seek curve instead.
MIN_TURNS = 2.5
#: Lengths of stalls kept in the profile, evenly over the ranks.
MAX_KEPT = 40
#: Stalls needed: a single one may never come again.
MIN_STALLS = 2


@dataclass(frozen=True)
class Stalls:
    """The share of requests that meet a stall, and its length, (k,) ms, equally likely."""

    share: float
    late_ms: Floats

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Return how long each request is delayed, in ms; 0 for most."""
        if self.share == 0.0:
            return np.zeros(shape)
        return np.where(rng.random(shape) < self.share, rng.choice(self.late_ms, shape), 0.0)


NO_STALLS = Stalls(0.0, np.zeros(1))


def fit_stalls(late_ms: Floats, period_ms: float, n_requests: int) -> Stalls:
    """Return the stalls among requests that ended `late_ms` later than expected."""
    stalled = np.sort(late_ms[late_ms > MIN_TURNS * period_ms])
    if len(stalled) < MIN_STALLS:
        return NO_STALLS
    kept = stalled[np.unique(np.linspace(0, len(stalled) - 1, MAX_KEPT).astype(np.int64))]
    return Stalls(len(stalled) / n_requests, np.asarray(kept))
