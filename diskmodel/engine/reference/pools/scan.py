"""Event adapter of a resilver or a scrub: records in order of place, while a transaction group waits (X20 to X22)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.raid import Raid
from diskmodel.layout.pools.scan import blocks_in_order, records_begun, scanned_vdevs

if TYPE_CHECKING:
    from diskmodel.engine.reference.pools.writes import PoolWrites


class ScannedVdev:
    """How far a scan has come in a vdev."""

    def __init__(self, raid: Raid, vdev: int) -> None:
        self.vdev = vdev
        self.blocks = islice(blocks_in_order(raid.tables, vdev), records_begun(raid.tables, vdev), None)
        #: The next record that is begun; None: all are.
        self.next = next(self.blocks, None)
        #: Sectors of records that are read or written.
        self.in_flight = 0


class Scan:
    """Copies what is stored of a lost disk to the new one, or reads all that is stored.

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
        self.tables, self.record = tables.pool.scan, tables.pool.record
        self.vdevs = [ScannedVdev(raid, vdev) for vdev in scanned_vdevs(tables)]
        #: When the group began to wait; None: none does.
        self.begun_ns: int | None = None

    @property
    def has_work(self) -> bool:
        """Whether records are left that have not been begun."""
        return any(vdev.next is not None for vdev in self.vdevs)

    def begin(self) -> bool:
        """Let a group wait for its part of the scan, if something is left of it."""
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
        for vdev in self.vdevs:
            self._begin_records(vdev)
        if not any(vdev.in_flight for vdev in self.vdevs):
            self.begun_ns = None
            self.pool.scanned()

    def _begin_records(self, vdev: ScannedVdev) -> None:
        while vdev.next is not None and vdev.in_flight < self.tables.in_flight and self._is_in_time():
            first, vdev.next = vdev.next, next(vdev.blocks, None)
            if self.raid.scan(vdev.vdev, first, lambda *_: self._ended(vdev)):
                vdev.in_flight += self.record
            else:
                self.raid.front += self.raid.tables.rebuild_window

    def _ended(self, vdev: ScannedVdev) -> None:
        """A record is on the new disk, or has been read."""
        vdev.in_flight -= self.record
        self.raid.front += self.raid.tables.rebuild_window
        self._go_on()
