"""Time from issue until the head can take data, against distance.

An access starts when its first block next passes after the head is ready: start lies between ready and one turn
later. So every start bounds the curve from above and, one turn less, from below; the curve that is most likely under
all of them is found distance by distance and made monotone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr

from calibrate.traces.spectrum import Floats

MIN_BIN = 40
OUTLIERS = 0.03
SPREADS_MS = (0.1, 0.2, 0.35, 0.6, 1.0)


@dataclass(frozen=True)
class ReadyCurve:
    """Overhead and seek by distance in tracks: points (log1p of tracks, ms), and the spread about it, ms."""

    log_tracks: Floats
    ready_ms: Floats
    spread_ms: float

    def at(self, tracks: Floats) -> Floats:
        """Time until ready, (n,) ms, for distances in tracks."""
        return np.asarray(np.interp(np.log1p(tracks), self.log_tracks, self.ready_ms))


def fit_ready(tracks: Floats, start_ms: Floats, period_ms: float) -> ReadyCurve:
    """The curve most likely to have given these starts after issue. Distance 0 (sequential) is a point of its own."""
    here = np.flatnonzero(tracks == 0)
    order = np.argsort(tracks)[len(here) :]
    n_bins = int(np.clip(len(order) // MIN_BIN, 3, 40))
    parts = [part for part in np.array_split(order, n_bins) if len(part)]
    if len(here) >= MIN_BIN // 4:
        parts.insert(0, here)
    where = np.array([np.log1p(tracks[part]).mean() for part in parts])
    weight = np.array([float(len(part)) for part in parts])
    grid = np.arange(-2.0, float(np.quantile(start_ms, 0.98)), 0.1)
    best: tuple[float, ReadyCurve] | None = None
    for spread in SPREADS_MS:
        ready, total = np.empty(len(parts)), 0.0
        for k, part in enumerate(parts):
            late = (start_ms[part][None, :] - grid[:, None]) / spread
            inside = ndtr(late) - ndtr(late - period_ms / spread)
            likely = np.log(OUTLIERS / 3 + (1 - OUTLIERS) * inside).sum(axis=1)
            top = likely.max()
            # the middle of the plateau: several values may be as likely
            good = np.exp(likely - top)
            ready[k] = float((grid * good).sum() / good.sum())
            total += float(top + np.log(good.mean()))
        smooth = np.asarray(isotonic_regression(ready, weights=weight).x)
        if best is None or total > best[0]:
            best = (total, ReadyCurve(where, smooth, spread))
    assert best is not None
    return best[1]
