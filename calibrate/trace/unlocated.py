"""The revolution of a drive whose angles are unknown, from how widely responses at one distance are spread.

Where the platter stands is unknown, so the wait is anything from nothing to a turn. The usual speed under which starts
of accesses are likeliest is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from calibrate.arrays import Floats
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import Bus, is_sequential, reached_platter
from calibrate.trace.access.seek import OUTLIERS, fit_ready
from calibrate.trace.clock.rotation import Rotation
from calibrate.trace.model import placement

#: Speeds of drives as made, 1/min: the result is one of them.
USUAL_RPM = (3600.0, 4000.0, 4500.0, 5400.0, 6400.0, 7200.0, 10_000.0, 15_000.0)
#: Range over which accesses that follow no rule are spread, ms: the longest response of a healthy access, some turns.
MAX_RESPONSE_MS = 60.0
#: Accesses that reached the platter needed to choose a speed.
MIN_ACCESSES = 100
#: Speed where nothing can decide, 1/min: the most common one of hard disks.
FALLBACK_RPM = 7200


def likeliest_period(trace: RequestTrace, bus: Bus, rotation: Rotation) -> float:
    """Return the revolution, ms, of the usual speed that explains responses best without angles.

    With fewer than `MIN_ACCESSES` accesses it is that of `FALLBACK_RPM`."""
    chosen = reached_platter(trace, bus) & ~is_sequential(trace)
    reads = chosen & ~trace.is_write
    chosen = reads if reads.sum() >= MIN_ACCESSES else chosen
    if chosen.sum() < MIN_ACCESSES:
        return 60e3 / FALLBACK_RPM
    placed = placement(trace, bus, rotation, None)
    start = trace.response_ms - placed.transfer_ms
    return max(
        (60e3 / rpm for rpm in USUAL_RPM),
        key=lambda period: _log_likelihood(placed.tracks[chosen], start[chosen], period),
    )


def _log_likelihood(tracks: Floats, start_ms: Floats, period_ms: float) -> float:
    curve = fit_ready(tracks, start_ms, period_ms)
    late = (start_ms - curve.at(tracks)) / curve.spread_ms
    inside = (ndtr(late) - ndtr(late - period_ms / curve.spread_ms)) / period_ms
    return float(np.log(OUTLIERS / MAX_RESPONSE_MS + (1 - OUTLIERS) * inside).sum())
