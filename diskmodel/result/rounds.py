"""How long one round of the write cache's sweep takes in a run (rule Z10)."""

from __future__ import annotations

import numpy as np

from diskmodel.records import Run

#: How far from the estimate a round is looked for. The estimates of the audit's questions were up to 9 % off; at half
#: of it, some would not be found, and at double half a round could pass for one.
_RANGE = 0.25
#: Records of a round below which they are too coarse to measure it.
_MIN_RECORDS = 8


def measured_round(run: Run, n_requests: int) -> int:
    """Return the requests of a round: the distance at which the disks' busy time repeats best.

    0 without an uneven sweep; the estimate of the start where the run is too short to show it, or so long that it
    hardly matters.
    """
    if run.low_mark_bytes and len(run.levels):
        return _between_marks(run, n_requests)
    if not run.round_requests or not len(run.levels):
        return run.round_requests
    busy_ns = np.diff(run.levels[:, 4], prepend=0).astype(np.float64)
    per_record = n_requests / len(busy_ns)
    least, most = (int(run.round_requests * (1 + sign * _RANGE) / per_record) for sign in (-1, 1))
    if least < _MIN_RECORDS or most * 3 > len(busy_ns) * 2:
        return run.round_requests
    differs = [float(np.square(busy_ns[lag:] - busy_ns[:-lag]).mean()) for lag in range(least, most + 1)]
    return round((least + int(np.argmin(differs))) * per_record)


def _between_marks(run: Run, n_requests: int) -> int:
    """Return the requests from one time at which the level rises through the middle of its marks to the next.

    All of the run where that does not happen twice; 0 where the level stays at its mark or above, because more comes
    than can be written.
    """
    level, high = run.levels[:, 1], run.level_marks[0]
    if level.min() >= high or not level.max():
        return 0
    is_above = level > (run.low_mark_bytes + high) // 2
    rises = np.flatnonzero(is_above[1:] & ~is_above[:-1])
    if len(rises) < 2:
        return n_requests
    return max(round(float(rises[-1] - rises[0]) / (len(rises) - 1) * n_requests / len(level)), 1)
