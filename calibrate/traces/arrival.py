"""Access on arrival: a head that lands inside the blocks it wants takes what comes first and the rest a turn later.

Such an access is done one revolution after the head is ready, wherever on the request it landed. Without it the drive
waits for the first block to come round. Only accesses within one track show it clearly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibrate.traces.spectrum import Floats

MIN_LANDINGS = 20
CAP_MS = 3.0
MIN_GAIN = 0.9


def lands_inside(wait_ms: Floats, media_ms: Floats, period_ms: float) -> NDArray[np.bool_]:
    """Whether the head is ready while the request's blocks pass: the wait for the first is nearly a turn."""
    return np.asarray(wait_ms > period_ms - media_ms)


def is_on_arrival(wait_ms: Floats, media_ms: Floats, left_ms: Floats, period_ms: float) -> bool:
    """Whether accesses that landed inside their blocks were done a turn after the head was ready.

    Parameters
    ----------
    wait_ms : (n,) float64
        From the head's being ready to the passing of the first block.
    media_ms : (n,) float64
        Time the blocks take under the head.
    left_ms : (n,) float64
        Measured from the head's being ready to the last block's passing.
    period_ms : float
    """
    inside = lands_inside(wait_ms, 0.85 * media_ms, period_ms) & (media_ms > 0.08 * period_ms)
    if inside.sum() < MIN_LANDINGS:
        return False
    in_order = np.abs(left_ms - wait_ms - media_ms)[inside]
    arrival = np.abs(left_ms - period_ms)[inside]
    return bool(np.minimum(arrival, CAP_MS).mean() < MIN_GAIN * np.minimum(in_order, CAP_MS).mean())
