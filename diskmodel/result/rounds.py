"""How long one round of what writes caches back takes in a run (rules Z6 and Z10)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Run
from diskmodel.result.statistics.window import MIN_ROUNDS

#: How far from the estimate a round is looked for. The estimates of the audit's questions were up to 9 % off; at half
#: of it, some would not be found, and at double half a round could pass for one.
_RANGE = 0.25
#: Records of a round below which they are too coarse to measure it.
_MIN_RECORDS = 8


def measured_round(run: Run, n_requests: int) -> int:
    """Return the requests of a round of the slowest cache; 0 where none writes unevenly.

    Of the controller's sweep, the distance at which the disks' busy time repeats best; of a page cache, from one time
    at which its level rises through its middle to the next. The estimate of the start where the run is too short to
    show it, or so long that it hardly matters.
    """
    if run.is_in_waves:
        return _waves(run, n_requests)
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


def in_words(round_requests: int, *, is_in_waves: bool) -> str:
    """Return what goes on in a round of so many requests, as the beginning of a sentence."""
    if is_in_waves:
        return f"the page cache is written back in waves, one in about {round_requests:,} requests"
    return (
        f"what waits to be written takes about {round_requests:,} requests to reach the disks, which are busy at some "
        "places and times and idle at others"
    )


def _waves(run: Run, n_requests: int) -> int:
    """Return the requests of a wave of the page cache; 0 where the level stays up, because the disks hardly keep up."""
    is_too_short = n_requests < MIN_ROUNDS * run.round_requests
    if is_too_short or run.round_requests * len(run.levels) < _MIN_RECORDS * n_requests:
        return run.round_requests
    level = run.levels[:, 3]
    found = _between_rises(level > int(level.max()) // 2, n_requests)
    return found if found < n_requests else 0


def _between_marks(run: Run, n_requests: int) -> int:
    """Return the requests from one time at which the level rises through the middle of its marks to the next.

    All of the run where that does not happen twice; 0 where the level stays at its mark or above, because more comes
    than can be written.
    """
    level, high = run.levels[:, 1], run.level_marks[0]
    if level.min() >= high or not level.max():
        return 0
    return _between_rises(level > (run.low_mark_bytes + high) // 2, n_requests)


def _between_rises(is_above: NDArray[np.bool_], n_requests: int) -> int:
    """Return the mean requests from one rise above a level to the next; all of the run where there are not two."""
    rises = np.flatnonzero(is_above[1:] & ~is_above[:-1])
    if len(rises) < 2:
        return n_requests
    return max(round(float(rises[-1] - rises[0]) / (len(rises) - 1) * n_requests / len(is_above)), 1)
