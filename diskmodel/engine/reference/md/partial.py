"""Event adapter of the partial parity log of Linux md, which is on the members themselves (rule Y16)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from diskmodel.layout import ChildIo
from diskmodel.layout.md import PartialTables, Stripe
from diskmodel.layout.md.journal import within


@dataclass
class Part:
    """Stripes of one write in a unit, one after the other: what is written to the members, and who asked for it."""

    owner: object
    pieces: Sequence[ChildIo]
    start: int
    stop: int


@dataclass
class Unit:
    """Stripes whose partial parity is written together to the disk with their parity."""

    disk: int
    n_pages: int = 0
    n_entries: int = 0
    last: Stripe | None = None
    parts: list[Part] = field(default_factory=list)
    is_submitted: bool = False
    #: Parts that are not on the members.
    left: int = 0

    def take(self, stripe: Stripe, owner: object, pieces: Sequence[ChildIo]) -> bool:
        """Add a stripe; returns whether it is a part of its own."""
        last = self.last
        if last is None or stripe.number != last.number + 1 or stripe.disks != last.disks:
            self.n_entries += 1
        self.n_pages += not stripe.is_full
        self.last = stripe
        if self.parts and self.parts[-1].owner is owner and self.parts[-1].stop == stripe.start:
            self.parts[-1].stop = stripe.stop
            return False
        self.parts.append(Part(owner, pieces, stripe.start, stripe.stop))
        return True


class Array(Protocol):
    """What the array does for the logs on its members."""

    def in_turn(self, action: Callable[[], None]) -> None:
        """Do this in the array's thread, behind what it still has."""

    def write_log(self, disk: int, lba: int, n: int, done: Callable[[], None]) -> None:
        """Write to a member past its cache."""

    def write_part(self, owner: object, pieces: list[ChildIo], done: Callable[[], None]) -> None:
        """Write a part of what somebody asked for to the members; call `done` behind who asked for it."""

    def flush_members(self, disks: Sequence[int], done: Callable[[], None]) -> None:
        """Flush members, where they take flushes."""


class PartialLogs:
    """The logs of all members, each with one unit in progress while the next one gathers."""

    def __init__(self, tables: PartialTables, array: Array) -> None:
        self.tables = tables
        self.array = array
        self.logs: dict[int, deque[Unit]] = {}
        self.next_lba: dict[int, int] = {}

    def take(self, disk: int, stripe: Stripe, owner: object, pieces: Sequence[ChildIo]) -> bool:
        """Add a stripe to the unit that gathers; returns whether it is a part of its own."""
        log = self.logs.setdefault(disk, deque())
        if not log or log[-1].is_submitted or self._is_full(log[-1]):
            log.append(Unit(disk))
        return log[-1].take(stripe, owner, pieces)

    def run(self) -> None:
        """Write the first unit of each log that has none in progress."""
        for disk in sorted(self.logs):
            log = self.logs[disk]
            if log and not log[0].is_submitted:
                self._submit(log[0])

    def _is_full(self, unit: Unit) -> bool:
        return unit.n_pages == self.tables.pages or unit.n_entries == self.tables.entries

    def _submit(self, unit: Unit) -> None:
        unit.is_submitted = True
        tables = self.tables
        n = tables.page * (1 + unit.n_pages)
        lba = self.next_lba.get(unit.disk, tables.first)
        if tables.end - lba < n:
            lba = tables.first
        self.next_lba[unit.disk] = lba + n
        self.array.write_log(unit.disk, lba, n, lambda: self._begin(unit))

    def _begin(self, unit: Unit) -> None:
        """Write to the members what is in the log."""
        unit.left = len(unit.parts)
        disks: set[int] = set()

        def ended() -> None:
            unit.left -= 1
            if not unit.left:
                self.array.flush_members(sorted(disks), lambda: self._finished(unit))

        found = [(part.owner, within(part.pieces, part.start, part.stop)) for part in unit.parts]
        disks.update(piece.disk for _, pieces in found for piece in pieces)
        for owner, pieces in found:
            self.array.write_part(owner, pieces, ended)

    def _finished(self, unit: Unit) -> None:
        self.logs[unit.disk].popleft()
        self.array.in_turn(self.run)
