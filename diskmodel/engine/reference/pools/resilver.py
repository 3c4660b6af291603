"""Event adapter of a resilver: records in order of place, while a transaction group waits (rules X20 and X21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.raid import Raid
from diskmodel.layout.pool import width_of
from diskmodel.layout.resilver import blocks_in_order

if TYPE_CHECKING:
    from diskmodel.engine.reference.pools.writes import PoolWrites


class Resilver:
    """Copies what is stored of a lost disk to the new one.

    Parameters
    ----------
    clock : Clock
    raid : Raid
    pool : PoolWrites
        Whose groups wait for it.
    """

    def __init__(self, clock: Clock, raid: Raid, pool: PoolWrites) -> None:
        self.clock, self.raid, self.pool = clock, raid, pool
        tables = raid.tables
        assert tables.pool is not None
        self.tables, self.record = tables.pool.resilver, tables.pool.record
        self.blocks = blocks_in_order(tables, tables.rebuild_disk // width_of(tables))
        for _ in range(tables.rebuild_front // tables.rebuild_window):
            next(self.blocks)
        #: The next record that is begun; None: all are.
        self.next = next(self.blocks, None)
        #: Sectors of records that are read or written, and when the group began to wait; None: none does.
        self.in_flight = 0
        self.begun_ns: int | None = None

    @property
    def has_work(self) -> bool:
        """Whether records are left that have not been begun."""
        return self.next is not None

    def begin(self) -> bool:
        """Let a group wait for its part of the resilver, if something is left of it."""
        if not self.has_work:
            return False
        self.begun_ns = self.clock.now
        self._go_on()
        return True

    def _is_in_time(self) -> bool:
        """Whether the group may wait longer (rule X21)."""
        writes, now = self.pool.tables, self.clock.now
        assert self.begun_ns is not None
        if now - self.begun_ns <= self.tables.least_ns:
            return True
        return self.pool.dirty < writes.more_from and now - self.pool.begun_ns < writes.group_ns

    def _go_on(self) -> None:
        while self.next is not None and self.in_flight < self.tables.in_flight and self._is_in_time():
            first, self.next = self.next, next(self.blocks, None)
            if self.raid.resilver(first, lambda *_: self._ended()):
                self.in_flight += self.record
            else:
                self.raid.front += self.raid.tables.rebuild_window
        if not self.in_flight:
            self.begun_ns = None
            self.pool.resilvered()

    def _ended(self) -> None:
        """A record has been written to the new disk."""
        self.in_flight -= self.record
        self.raid.front += self.raid.tables.rebuild_window
        self._go_on()
