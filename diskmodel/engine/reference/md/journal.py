"""Event adapter of a journal of Linux md: stripes are in it before they are on the members (rules Y13 to Y15)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives, Free
from diskmodel.engine.reference.clock import COMPLETE, LAST, Clock
from diskmodel.layout.md import BLOCK_BYTES, JournalTables, Room, Unit


class Thread(Protocol):
    """What the array's thread does for its journal."""

    def in_turn(self, action: Callable[[], None]) -> None:
        """Do this in the thread, behind what it still has."""

    def sleep_for_superblock(self, written: Callable[[], None]) -> None:
        """Write the superblock to all members while the thread sleeps; then call `written`."""


@dataclass
class Writing:
    """A unit that is being written: what begins then, and how many of its commands are out."""

    begin: Callable[[], None]
    out: int = 0


class StripeJournal:
    """The journal of an array, in front of its members.

    Parameters
    ----------
    clock : Clock
    tables : JournalTables
    drives : AuxiliaryDrives
        Its own.
    thread : Thread
    """

    def __init__(self, clock: Clock, tables: JournalTables, drives: AuxiliaryDrives, thread: Thread) -> None:
        self.clock = clock
        self.tables = tables
        self.drives = drives
        self.thread = thread
        self.room = Room(tables)
        self.n_units = 0
        #: Units that are being written, in order, each with what begins then, and how many of its commands are out.
        self.writing: deque[Writing] = deque()
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
        n_bytes, writing = unit.n_blocks * BLOCK_BYTES, Writing(lambda: begin(unit))
        self.writing.append(writing)
        writing.out = self.drives.append(Free(), n_bytes, n_bytes, lambda _: self._part_written(writing))

    def _part_written(self, writing: Writing) -> None:
        """Units are in the journal in their order: one goes on when all before it are there, too."""
        writing.out -= 1
        while self.writing and not self.writing[0].out:
            self._is_written(self.writing.popleft().begin)

    def _is_written(self, begin: Callable[[], None]) -> None:
        if not self.tables.flush_ns and not self.drives.takes_flushes:
            self.thread.in_turn(begin)
            return
        self.written.append(begin)
        self.thread.in_turn(self._flush_written)

    def _flush_written(self) -> None:
        """Flush the device for all units that are written, unless a flush is in progress."""
        if self.flushing or not self.written:
            return
        self.flushing, self.written = self.written, []
        if not self.tables.flush_ns:
            self.drives.flushes[0].flush(self._flushed)
            return
        # of a device of which this is all that is known
        device = self.drives.tables.first_device
        self.clock.at(self.clock.now + self.tables.flush_ns, COMPLETE, device, LAST, self._flushed)

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
