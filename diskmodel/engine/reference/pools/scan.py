"""Event adapter of a resilver or a scrub: what is stored, in order of place, beside transaction groups (X20 to X25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.pools.members import Members
from diskmodel.layout.pools import Stretch, scanned_vdevs, vdevs_of
from diskmodel.layout.pools.scan import step, stretches

if TYPE_CHECKING:
    from diskmodel.engine.reference.pools.writes import PoolWrites


class ScannedVdev:
    """How far a scan has come in a vdev."""

    def __init__(self, raid: Members, vdev: int) -> None:
        self.vdev = vdev
        self.stretches = stretches(vdevs_of(raid.tables), vdev)
        #: What is begun next; None: all has been.
        self.next = next(self.stretches, None)
        #: Sectors of data that are read or written.
        self.in_flight = 0


class Scan:
    """Copies what is stored of a lost disk to the new one, or reads all that is stored.

    Parameters
    ----------
    clock : Clock
    raid : Members
    pool : PoolWrites
        Whose groups wait for it.
    """

    def __init__(self, clock: Clock, raid: Members, pool: PoolWrites) -> None:
        self.clock, self.raid, self.pool = clock, raid, pool
        tables = vdevs_of(raid.tables)
        self.tables, self.block = tables.pool.scan, tables.pool.block
        #: Whether it goes through allocated space, whatever the groups do (rule X25).
        self.is_in_order = self.tables.segment > 0
        self.vdevs = [ScannedVdev(raid, vdev) for vdev in scanned_vdevs(tables)]
        #: When the group began to wait; None: none does.
        self.begun_ns: int | None = None
        #: Groups that have begun to be written, and what was begun and is not written, of even and odd ones.
        self.n_groups = 0
        self.out = [0, 0]
        #: Whether the group waits until all is written that was begun before it.
        self.is_awaited = False

    @property
    def has_work(self) -> bool:
        """Whether records are left that have not been begun, and that groups wait for."""
        return not self.is_in_order and any(vdev.next is not None for vdev in self.vdevs)

    def begin(self) -> bool:
        """Let a group wait for its part of the scan, if something is left of it."""
        if not self.has_work:
            return False
        self.begun_ns = self.clock.now
        self._go_on()
        return True

    def begin_in_order(self) -> None:
        """Begin a sequential resilver with the run."""
        if self.is_in_order:
            self._begin_stretches(self.vdevs[0])

    def begin_group(self) -> bool:
        """A group begins; return whether it waits for what a sequential resilver began before (rule X25)."""
        before = self.n_groups % 2
        self.n_groups += 1
        self.is_awaited = self.is_in_order and self.out[before] > 0
        return self.is_awaited

    def _may_begin(self) -> bool:
        """Whether more may be begun now: in a group that may wait longer (rule X21), or in order."""
        if self.is_in_order:
            return True
        if self.begun_ns is None:
            return False
        writes, now = self.pool.tables, self.clock.now
        if now - self.begun_ns <= self.tables.least_ns:
            return True
        return self.pool.dirty < writes.more_from and now - self.pool.begun_ns < writes.group_ns

    def _go_on(self) -> None:
        for vdev in self.vdevs:
            self._begin_stretches(vdev)
        if not (self.is_in_order or any(vdev.in_flight for vdev in self.vdevs)):
            self.begun_ns = None
            self.pool.scanned()

    def _begin_stretches(self, vdev: ScannedVdev) -> None:
        while vdev.next is not None and vdev.in_flight < self.tables.in_flight and self._may_begin():
            taken, vdev.next = vdev.next, next(vdev.stretches, None)
            if self._start(vdev, taken, self.n_groups % 2):
                vdev.in_flight += taken.blocks * self.block
                self.out[self.n_groups % 2] += 1
            else:
                self.raid.front += taken.counts

    def _start(self, vdev: ScannedVdev, taken: Stretch, group: int) -> bool:
        """Scan blocks of data of a vdev, unless nothing is to be written (rules X20, X22 and X25)."""
        pieces = step(vdevs_of(self.raid.tables), vdev.vdev, taken.first, taken.blocks, self.raid.choice.begin())
        if pieces is None:
            return False
        self.raid.start(pieces.first, pieces.then, lambda *_: self._ended(vdev, taken, group), is_of_scan=True)
        return True

    def _ended(self, vdev: ScannedVdev, taken: Stretch, group: int) -> None:
        """What was taken is on the new disk, or has been read."""
        vdev.in_flight -= taken.blocks * self.block
        self.out[group] -= 1
        self.raid.front += taken.counts
        self._go_on()
        if self.is_awaited and group != self.n_groups % 2 and not self.out[group]:
            self.is_awaited = False
            self.pool.go_on_with_group()
