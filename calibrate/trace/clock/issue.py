"""The measured clock of a trace: when each request was issued and completed.

The pauses and responses add up to absolute time. Two conventions exist for the pause column.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import RequestTrace


class Pause(StrEnum):
    """Where the pause of a line stands: after the completion of its request, or before its issue."""

    AFTER = "after"
    BEFORE = "before"


def issue_ms(trace: RequestTrace, pause: Pause) -> Floats:
    """Return the instant of issue of each request on the measured clock, (n,) float64 ms."""
    is_before = pause is Pause.BEFORE
    waits = trace.pause_ms if is_before else np.concatenate([[0.0], trace.pause_ms[:-1]])
    before = np.concatenate([[0.0], np.cumsum(trace.response_ms[:-1])])
    return np.asarray(np.cumsum(waits) + before, dtype=np.float64)
