"""Event adapter of a journal of Linux md: stripes are in it before they are on the members (rules Y13 to Y15)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from diskmodel.engine.reference.clock import COMPLETE, LAST, Clock
from diskmodel.layout import DeviceQueue
from diskmodel.layout.md import BLOCK_BYTES, JournalTables, Room, Unit


class Thread(Protocol):
    """What the array's thread does for its journal."""

    def in_turn(self, action: Callable[[], None]) -> None:
        """Do this in the thread, behind what it still has."""

    def sleep_for_superblock(self, written: Callable[[], None]) -> None:
        """Write the superblock to all members while the thread sleeps; then call `written`."""


class StripeJournal:
    """The journal of an array, in front of its members.

    Parameters
    ----------
    clock : Clock
    tables : JournalTables
    device : int
        Its number in the order of events.
    thread : Thread
    """

    def __init__(self, clock: Clock, tables: JournalTables, device: int, thread: Thread) -> None:
        self.clock = clock
        self.tables = tables
        self.device = device
        self.thread = thread
        self.room = Room(tables)
        self.n_units = 0
        self.queue = DeviceQueue(tables.device)
        #: Units that wait for room.
        self.waiting: deque[tuple[Unit, Callable[[Unit], None]]] = deque()
        #: What begins when units have been flushed: of the flush in progress, and of the next one.
        self.flushing: list[Callable[[], None]] = []
        self.written: list[Callable[[], None]] = []
        self.is_writing_superblock = False

    def log(self, n_blocks: int, begin: Callable[[Unit], None]) -> None:
        """Write a batch of stripes of so many blocks; `begin` writes them to the members when it is safe here."""
        self.thread.in_turn(lambda: self._take(n_blocks, begin))

    def ended(self, unit: Unit) -> None:
        """All stripes of a unit are on the members."""
        if self.room.ended(unit):
            self._reclaim()

    def _take(self, n_blocks: int, begin: Callable[[Unit], None]) -> None:
        self.waiting.append((Unit(self.n_units, n_blocks), begin))
        self.n_units += 1
        self._write_waiting()

    def _write_waiting(self) -> None:
        """Write units in order, as far as they have room."""
        while self.waiting and self.room.take(self.waiting[0][0]):
            self._write(*self.waiting.popleft())
        if self.waiting:
            self._reclaim()

    def _write(self, unit: Unit, begin: Callable[[Unit], None]) -> None:
        end_ns = self.queue.end_of(unit.n_blocks * BLOCK_BYTES, self.clock.now)
        self.clock.at(end_ns, COMPLETE, self.device, unit.number, lambda: self._is_written(lambda: begin(unit)))

    def _is_written(self, begin: Callable[[], None]) -> None:
        if not self.tables.flush_ns:
            self.thread.in_turn(begin)
            return
        self.written.append(begin)
        self.thread.in_turn(self._flush_written)

    def _flush_written(self) -> None:
        """Flush the device for all units that are written, unless a flush is in progress."""
        if self.flushing or not self.written:
            return
        self.flushing, self.written = self.written, []
        self.clock.at(self.clock.now + self.tables.flush_ns, COMPLETE, self.device, LAST, self._flushed)

    def _flushed(self) -> None:
        flushed, self.flushing = self.flushing, []
        self.thread.in_turn(self._flush_written)
        for begin in flushed:
            self.thread.in_turn(begin)

    def _reclaim(self) -> None:
        """Free the room of stripes that are on the members, where it is needed or enough of it (rule Y15)."""
        waiting = self.waiting[0][0].n_blocks if self.waiting else 0
        if not self.is_writing_superblock and self.room.is_due(waiting):
            self.is_writing_superblock = True
            self.thread.in_turn(self._write_superblock)

    def _write_superblock(self) -> None:
        checkpoint = self.room.checkpoint

        def written() -> None:
            self.room.tail = checkpoint
            self.is_writing_superblock = False
            self._write_waiting()
            # more may have ended meanwhile
            self._reclaim()

        self.thread.sleep_for_superblock(written)
