"""When the host's processor stands still (rule H4). Plain state and decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskmodel.host.description import Host
from diskmodel.records import Int64

#: Pauses that are drawn; a longer run meets them again.
N_PAUSES = 4096


def draw_pauses(host: Host, seed: int) -> Int64:
    """Gaps before pauses and lengths of pauses in nanoseconds, int64, shape (n, 2); n is 0 where there are none."""
    if not host.pause_ns:
        return np.zeros((0, 2), np.int64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0x9A05E,))))
    drawn = rng.exponential((host.pause_interval_ns, host.pause_ns), (N_PAUSES, 2))
    return np.maximum(drawn.astype(np.int64), 1)


class Pauses:
    """Goes through the pauses in order of time; questions may not go back.

    Parameters
    ----------
    gaps_and_lengths : sequence of (int, int)
        From the end of the pause before (or from time 0) to the beginning, and how long it lasts.
    """

    def __init__(self, gaps_and_lengths: Sequence[Sequence[int]]) -> None:
        self._drawn = gaps_and_lengths
        self._next = 0
        self._begin_ns = 0
        self._end_ns = 0
        self._step()

    def _step(self) -> None:
        gap, length = self._drawn[self._next % len(self._drawn)]
        self._next += 1
        self._begin_ns = self._end_ns + gap
        self._end_ns = self._begin_ns + length

    def awake(self, time_ns: int) -> int:
        """The first time from `time_ns` on that lies in no pause."""
        while self._end_ns <= time_ns:
            self._step()
        return self._end_ns if self._begin_ns <= time_ns else time_ns

    def worked(self, begin_ns: int, work_ns: int) -> int:
        """When work is done that begins at a time outside of pauses."""
        at, left = begin_ns, work_ns
        while self._end_ns <= at:
            self._step()
        while at + left > self._begin_ns:
            left -= self._begin_ns - at
            at = self._end_ns
            self._step()
        return at + left
