"""Event adapter of a rebuild: one step after another, no faster than the limit (rules R1 to R4)."""

from __future__ import annotations

from diskmodel.engine.clock import ARRIVE, Clock
from diskmodel.engine.command import Command
from diskmodel.engine.raid import Access, Raid
from diskmodel.layout.rebuild import step


class Rebuild:
    """Rebuilds the lost disk onto the spare while host requests are being served."""

    def __init__(self, clock: Clock, raid: Raid, device: int) -> None:
        self.clock = clock
        self.raid = raid
        self.device = device
        self.step_start_ns = 0
        self.is_stopped = False

    def start(self) -> None:
        """Begin now."""
        self.step_start_ns = self.clock.now
        self._schedule(self.clock.now)

    def _schedule(self, time_ns: int) -> None:
        self.clock.at(time_ns, ARRIVE, self.device, 0, self._step)

    def _step(self) -> None:
        if self.is_stopped:
            return
        self.step_start_ns = self.clock.now
        pieces = step(self.raid.tables, self.raid.front)
        self.raid.start(pieces.first, pieces.then, self._done)

    def _done(self, access: Access, command: Command) -> None:
        tables = self.raid.tables
        self.raid.front = min(self.raid.front + tables.rebuild_window, tables.member)
        if self.raid.front < tables.member:
            self._schedule(max(self.clock.now, self.step_start_ns + tables.rebuild_gap_ns))
