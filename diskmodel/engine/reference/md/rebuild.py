"""Event adapter of a rebuild: overlapping steps, no faster than the limit, that yield to others (rules R1 to R8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.raid import Raid
from diskmodel.engine.scenario import starved
from diskmodel.layout.md import MARK_STEP_NS, MAX_STARVING_BYTES, MAX_STARVING_STEPS, N_MARKS
from diskmodel.layout.md.rebuild import step


class Rebuild:
    """Rebuilds the lost disk onto the spare while host requests are being served.

    Parameters
    ----------
    clock : Clock
    raid : Raid
    device : int
        Its number in the order of events.
    requests : callable
        Returns how many requests have been issued, and how many have completed (rule R6).
    sector_bytes : int
    """

    def __init__(
        self, clock: Clock, raid: Raid, device: int, requests: Callable[[], tuple[int, int]], sector_bytes: int
    ) -> None:
        self.clock = clock
        self.requests = requests
        self.raid = raid
        self.max_starving = min(MAX_STARVING_BYTES // sector_bytes, MAX_STARVING_STEPS * raid.md.rebuild_window)
        self.device = device
        #: Sectors of the data area that steps have been begun for.
        self.begun = raid.front
        self.step_start_ns = 0
        self.n_running = 0
        self.is_scheduled = False
        self.barrier = raid.barrier
        if self.barrier is not None:
            self.barrier.step = self._step
        #: First sectors of the steps that have ended before one that began earlier.
        self.ended: set[int] = set()
        self.is_yielding = False
        #: Sectors of the steps that have ended.
        self.n_done = 0
        #: When the speed was noted, and what had been done then; the speed is the one since `mark`.
        self.marks = deque([(0, 0)] * N_MARKS)
        self.mark = (0, 0)
        #: Sectors of each disk that steps have begun to use, and those of others when the disk was last found in use.
        self.n_own = [0] * len(raid.devices)
        self.n_others = [0] * len(raid.devices)
        #: Requests that have completed, and what steps had been begun for when one last had, or none waited.
        self.n_completed, self.begun_then = 0, raid.front

    def start(self) -> None:
        """Begin now."""
        now = self.clock.now
        self.mark = (now, 0)
        self.marks = deque([self.mark] * N_MARKS)
        self._schedule(now)

    def _schedule(self, time_ns: int) -> None:
        tables = self.raid.md
        most = 1 if self.is_yielding else tables.rebuild_steps
        if self.is_scheduled or self.n_running >= most or self.begun >= tables.member:
            return
        self.is_scheduled = True
        self.clock.at(time_ns, ARRIVE, self.device, 0, self._step)

    def _schedule_next(self) -> None:
        self._schedule(max(self.clock.now, self.step_start_ns + self.raid.md.rebuild_gap_ns))

    def _step(self) -> None:
        self._refuse_starvation()
        if self.barrier is not None and not self.barrier.may_begin(self.clock.now):
            return
        self.is_scheduled = False
        tables = self.raid.md
        self.step_start_ns = self.clock.now
        first, self.begun = self.begun, min(self.begun + tables.rebuild_window, tables.member)
        self.n_running += 1
        pieces = step(tables, first)
        for piece in (*pieces.first, *pieces.then):
            self.n_own[piece.disk] += piece.n
        self.raid.start(pieces.first, pieces.then, lambda access, command: self._done(first))
        self.is_yielding = self._is_fast_enough() and self._is_array_in_use()
        self._schedule_next()

    def _refuse_starvation(self) -> None:
        """End the run where requests wait for the rebuild without an end (rule R6)."""
        n_issued, n_completed = self.requests()
        if n_issued == n_completed or n_completed != self.n_completed:
            self.n_completed, self.begun_then = n_completed, self.begun
        if self.begun - self.begun_then > self.max_starving:
            raise starved()

    def _is_fast_enough(self) -> bool:
        """Whether the rebuild keeps up its least speed, on the average since the mark (rule R5)."""
        now = self.clock.now
        if now >= self.marks[-1][0] + MARK_STEP_NS:
            self.mark = self.marks.popleft()
            self.marks.append((now, self.n_done))
        since_ns, done = self.mark
        return (self.n_done - done) // ((now - since_ns) // 1_000_000_000 + 1) >= self.raid.md.rebuild_speed_min

    def _is_array_in_use(self) -> bool:
        """Whether others have used a disk since it was last found in use (rule R5)."""
        is_in_use = False
        for disk, device in enumerate(self.raid.devices):
            n_others = device.counters.read_sectors + device.counters.write_sectors - self.n_own[disk]
            if n_others - self.n_others[disk] > self.raid.md.rebuild_idle:
                self.n_others[disk] = n_others
                is_in_use = True
        return is_in_use

    def _done(self, first: int) -> None:
        tables = self.raid.md
        self.n_running -= 1
        self.n_done += min(tables.rebuild_window, tables.member - first)
        self.ended.add(first)
        while self.raid.front in self.ended:
            self.ended.remove(self.raid.front)
            self.raid.front = min(self.raid.front + tables.rebuild_window, tables.member)
        if self.barrier is not None:
            self.barrier.ended()
        self._schedule_next()
