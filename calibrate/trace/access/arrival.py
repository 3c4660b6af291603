"""Access on arrival: a head that lands inside its blocks reads what comes first, and the rest one turn later.

Such an access is done one revolution after the head is ready, wherever in the request it landed. Drives without access
on arrival wait for the first block to come round. Only accesses within one track show the difference clearly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags, Floats

#: Landings inside the blocks that must be expected before a share is estimated: with 20 the share has a standard error
#: of about a fifth.
MIN_EXPECTED = 20.0
#: Smallest share that counts, about one and a half of its standard errors. Half lets noise switch access on arrival
#: on; at 0.6 drives that do it for reads of one kind only are missed.
MIN_SHARE = 0.3
#: An end counts as early or late from this many turns on: two standard errors of an angle (`drift.SIGMA_TURNS`).
CLEAR_TURNS = 0.08


@dataclass(frozen=True)
class Arrival:
    """Share of the accesses landing inside their blocks that are taken on arrival, and their time beyond a
    revolution."""

    share: float = 0.0
    delay_ms: float = 0.0


def lands_inside(wait_ms: Floats, media_ms: Floats, period_ms: float) -> Flags:
    """Return whether the head is ready while the request's blocks pass: the wait for the first is nearly a turn."""
    return np.asarray(wait_ms > period_ms - media_ms)


def arrival_share(late_ms: Floats, media_ms: Floats, period_ms: float) -> float:
    """Return the share of landings inside the blocks that end early, 0 to 1; 0 where blocks are read in order.

    In order, an access ends when its last block has passed. On arrival, one that landed inside ends earlier, by up to
    its own length. Heads land there as often as the blocks' share of the track.

    Parameters
    ----------
    late_ms : (n,) float64
        Measured end less the nearest passing of the last block, within half a turn, of accesses within one track.
    media_ms : (n,) float64
        Time the blocks take under the head.
    period_ms : float
    """
    tried = (media_ms > 0.08 * period_ms) & (media_ms < 0.45 * period_ms)
    clear = np.maximum(0.2 * media_ms, CLEAR_TURNS * period_ms)
    early = (late_ms < -clear) & (late_ms > -media_ms) & tried
    later = (late_ms > clear) & (late_ms < media_ms) & tried
    expected = float(np.maximum(media_ms - clear, 0.0)[tried].sum() / period_ms)
    if expected < MIN_EXPECTED:
        return 0.0
    share = (float(early.sum()) - float(later.sum())) / expected
    return min(share, 1.0) if share > MIN_SHARE else 0.0


def landing_delay_ms(left_ms: Floats, period_ms: float) -> float:
    """Return what accesses that landed inside and ended early take beyond a revolution: the median, at least 0.

    `left_ms` (n,) is measured from the head's being ready to the end.
    """
    return max(float(np.median(left_ms - period_ms)), 0.0) if len(left_ms) else 0.0
