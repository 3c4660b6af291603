"""Pauses of the host's processor (rule H4). Plain state and decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskmodel.host.description import Host
from diskmodel.records import Int64

#: Pauses drawn for a run; a longer run repeats them. 4096 exponential draws have a mean with a standard error of 1.6 %;
#: with half as many it is 2.2 %.
N_PAUSES = 4096


def draw_pauses(host: Host, seed: int) -> Int64:
    """Draw gaps before pauses and lengths of pauses in nanoseconds, int64, shape (n, 2); n is 0 without pauses."""
    if not host.pause_ns:
        return np.zeros((0, 2), np.int64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0x9A05E,))))
    drawn = rng.exponential((host.pause_interval_ns, host.pause_ns), (N_PAUSES, 2))
    return np.maximum(drawn.astype(np.int64), 1)


class Pauses:
    """Iterates over the pauses in order of time; later calls must not ask about earlier times.

    Parameters
    ----------
    gaps_and_lengths : sequence of (int, int)
        Time from the end of the previous pause (or from time 0) to the beginning of this one, and its length.
    """

    def __init__(self, gaps_and_lengths: Sequence[Sequence[int]]) -> None:
        self._drawn = gaps_and_lengths
        # after so long they come again
        self._cycle_ns = sum(int(gap) + int(length) for gap, length in gaps_and_lengths)
        self._next = 0
        self._begin_ns = 0
        self._end_ns = 0
        self._step()

    def _step(self) -> None:
        gap, length = self._drawn[self._next % len(self._drawn)]
        self._next += 1
        self._begin_ns = self._end_ns + gap
        self._end_ns = self._begin_ns + length

    def _pass(self, time_ns: int) -> None:
        """Go to the first pause that ends after a time, past whole cycles at once."""
        passed_ns = (time_ns - self._end_ns) // self._cycle_ns * self._cycle_ns
        if passed_ns > 0:
            self._begin_ns += passed_ns
            self._end_ns += passed_ns
        while self._end_ns <= time_ns:
            self._step()

    def awake(self, time_ns: int) -> int:
        """Return the first time from `time_ns` on that is outside all pauses."""
        self._pass(time_ns)
        return self._end_ns if self._begin_ns <= time_ns else time_ns

    def worked(self, begin_ns: int, work_ns: int) -> int:
        """Return when work ends that begins at `begin_ns`, outside all pauses."""
        at, left = begin_ns, work_ns
        self._pass(at)
        while at + left > self._begin_ns:
            left -= self._begin_ns - at
            at = self._end_ns
            self._step()
        return at + left
