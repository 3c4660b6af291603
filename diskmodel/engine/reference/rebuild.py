"""Event adapter of a rebuild: overlapping steps, no faster than the limit (rules R1 to R4)."""

from __future__ import annotations

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.raid import Raid
from diskmodel.layout.rebuild import step


class Rebuild:
    """Rebuilds the lost disk onto the spare while host requests are being served."""

    def __init__(self, clock: Clock, raid: Raid, device: int) -> None:
        self.clock = clock
        self.raid = raid
        self.device = device
        #: Sectors of the data area that steps have been begun for.
        self.begun = raid.front
        self.step_start_ns = 0
        self.n_running = 0
        self.is_scheduled = False
        #: First sectors of the steps that have ended before one that began earlier.
        self.ended: set[int] = set()

    def start(self) -> None:
        """Begin now."""
        self._schedule(self.clock.now)

    def _schedule(self, time_ns: int) -> None:
        tables = self.raid.tables
        if self.is_scheduled or self.n_running == tables.rebuild_steps or self.begun >= tables.member:
            return
        self.is_scheduled = True
        self.clock.at(time_ns, ARRIVE, self.device, 0, self._step)

    def _schedule_next(self) -> None:
        self._schedule(max(self.clock.now, self.step_start_ns + self.raid.tables.rebuild_gap_ns))

    def _step(self) -> None:
        self.is_scheduled = False
        tables = self.raid.tables
        self.step_start_ns = self.clock.now
        first, self.begun = self.begun, min(self.begun + tables.rebuild_window, tables.member)
        self.n_running += 1
        pieces = step(tables, first)
        self.raid.start(pieces.first, pieces.then, lambda access, command: self._done(first))
        self._schedule_next()

    def _done(self, first: int) -> None:
        tables = self.raid.tables
        self.n_running -= 1
        self.ended.add(first)
        while self.raid.front in self.ended:
            self.ended.remove(self.raid.front)
            self.raid.front = min(self.raid.front + tables.rebuild_window, tables.member)
        self._schedule_next()
