"""Logs that Linux md writes stripes to before the members: a journal (rules Y13 to Y15), partial parity (rule Y16)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from diskmodel.layout.auxiliary_devices import LogDevice
from diskmodel.layout.pieces import ChildIo

#: Stripes that md's thread works on before it writes what it has for the journal (`MAX_STRIPE_BATCH`). At half a long
#: write has twice as many blocks that list what follows.
BATCH_STRIPES = 8
#: A block of the journal, which lists what follows: its header, what it notes of a page of data, and of the parity of a
#: stripe, beside a checksum for each page of parity, bytes (`r5l_meta_block`, `r5l_payload_data_parity`).
BLOCK_BYTES, HEADER_BYTES = 4096, 32
DATA_BYTES, PARITY_BYTES, CHECKSUM_BYTES = 20, 16, 4
#: The most room of stripes that are on the members before it is freed, bytes (`RECLAIM_MAX_FREE_SPACE`); a quarter of
#: the journal if that is less.
RECLAIM_BYTES = 10 << 30
#: Where a journal begins on its drive, and what is kept free behind it, bytes: md's superblock lies in the first MiB.
JOURNAL_FIRST_BYTES, BEHIND_BYTES = 1 << 20, 1 << 20
#: Where md keeps its superblock on each member, bytes (version 1.2).
SUPER_BYTES = 4096


def journal_bytes(log: LogDevice) -> int:
    """Return the size of a journal: as given, or of its drive, as far as that matters."""
    size = 4 * RECLAIM_BYTES if log.size_bytes is None else log.size_bytes
    return size if log.drive is None else min(size, log.card.capacity_bytes - JOURNAL_FIRST_BYTES - BEHIND_BYTES)


class JournalTables(NamedTuple):
    """Journal of an array in whole numbers.

    Attributes
    ----------
    flush_ns : int
        Time of a flush of its device, where only figures of that are known; 0: it needs no flushes, or is a drive.
    blocks, reclaimed : int
        Its room, and the room of stripes that are on the members from which on it is freed, both in blocks of 4 KiB.
    page : int
        Sectors of a page of a stripe.
    super_first : int
        Sector of a member that the superblock is in.
    """

    flush_ns: int
    blocks: int
    reclaimed: int
    page: int
    super_first: int


@dataclass
class Batch:
    """Stripes that are written to the journal together.

    Attributes
    ----------
    start, stop : int
        First sector of the members that they are on, and the first one behind them.
    n_blocks : int
        What they take in the journal: the block that lists them, and a block for each page.
    """

    start: int
    stop: int
    n_blocks: int = 1
    n_stripes: int = 0
    listed: int = HEADER_BYTES

    def has_room(self, entry_bytes: int) -> bool:
        """Whether a stripe of which so many bytes are listed can be in it."""
        return self.n_stripes < BATCH_STRIPES and self.listed + entry_bytes <= BLOCK_BYTES


def batches(pieces: Iterable[ChildIo], data_offset: int, page: int, n_parity: int) -> list[Batch]:
    """Return the batches of the writes of rows, in order (rule Y13).

    Parameters
    ----------
    pieces : iterable of ChildIo
        All that is written, and what would be on disks that are lost.
    data_offset, page, n_parity : int
        Of the layout.
    """
    places = {
        (number, piece.disk)
        for piece in pieces
        for number in range((piece.lba - data_offset) // page, -(-(piece.lba + piece.n - data_offset) // page))
    }
    found: list[Batch] = []
    for number, disks in groupby(sorted(places), lambda place: place[0]):
        n_pages = len(list(disks))
        n_data = n_pages - n_parity
        start = data_offset + number * page
        # the parity between two parts of a row is written with them, but is of no stripe of theirs
        entry = DATA_BYTES * n_data + PARITY_BYTES + CHECKSUM_BYTES * n_parity if n_data > 0 else 0
        if not found or (entry and not found[-1].has_room(entry)):
            found.append(Batch(start, start))
        batch = found[-1]
        batch.stop = start + page
        if entry:
            batch.n_blocks += n_pages
            batch.n_stripes += 1
            batch.listed += entry
    return found


def within(pieces: Iterable[ChildIo], first: int, end: int) -> list[ChildIo]:
    """Return the parts of pieces between two sectors of the members."""
    parts = ((p, max(p.lba, first), min(p.lba + p.n, end)) for p in pieces)
    return [piece._replace(lba=start, n=stop - start) for piece, start, stop in parts if start < stop]


@dataclass
class Unit:
    """A batch in the journal.

    Attributes
    ----------
    number : int
        How many came before it.
    n_blocks : int
    start : int
        Blocks that were written to the journal before it.
    is_done : bool
        All of its stripes are on the members.
    """

    number: int
    n_blocks: int
    start: int = 0
    is_done: bool = False


@dataclass
class Room:
    """The room of a journal (rule Y15). Blocks are counted from the beginning of the run."""

    tables: JournalTables
    #: Where the next unit begins: the block before is that of the empty journal.
    head: int = 1
    #: What is before this block is free.
    tail: int = 0
    #: What is before this block could be freed.
    checkpoint: int = 0
    units: deque[Unit] = field(default_factory=deque)

    def take(self, unit: Unit) -> bool:
        """Give a unit its room; False where there is none."""
        if self.tables.blocks <= self.head - self.tail + unit.n_blocks:
            return False
        unit.start = self.head
        self.head += unit.n_blocks
        self.units.append(unit)
        return True

    def ended(self, unit: Unit) -> bool:
        """The stripes of a unit are on the members. Returns whether that brings the checkpoint forward."""
        unit.is_done = True
        checkpoint = self.checkpoint
        while self.units and self.units[0].is_done:
            self.checkpoint = self.units.popleft().start
        return self.checkpoint > checkpoint

    def is_due(self, waiting: int) -> bool:
        """Whether room is to be freed, while a unit of `waiting` blocks waits for it (0: none waits)."""
        free = self.checkpoint - self.tail
        if not waiting:
            return free > self.tables.reclaimed
        return free > 0 and (free >= waiting or not self.units)


#: Where the log of partial parity is on each member, bytes: behind the superblock and the list of bad blocks; and its
#: length (`MULTIPLE_PPL_AREA_SIZE_SUPER1` of mdadm). Anywhere below the data the arm goes as far.
PARTIAL_FIRST_BYTES, PARTIAL_BYTES = 12 << 10, 1 << 20
#: What a unit of it holds: partial parity (`PPL_SPACE_SIZE`), bytes, and entries (`PPL_HDR_MAX_ENTRIES`).
PARTIAL_ROOM_BYTES, PARTIAL_ENTRIES = 128 << 10, 148


class PartialTables(NamedTuple):
    """Log of partial parity on each member, in whole numbers.

    Attributes
    ----------
    page : int
        Sectors of a page of a stripe.
    first, end : int
        First sector of the log on each member, and the first one behind it.
    pages, entries : int
        The most pages of partial parity of a unit, and the most entries.
    """

    page: int
    first: int
    end: int
    pages: int
    entries: int


class Stripe(NamedTuple):
    """A page of each disk of a row that a write changes.

    Attributes
    ----------
    number : int
        Of the page.
    start, stop : int
        First sector of the members that it is on, and the first one behind it; pages of which only parity between two
        parts of the row is written belong to the stripe before.
    disks : tuple of int
        Disks whose data is written.
    is_full : bool
        All data is written, whole: nothing of the parity is left of the old.
    """

    number: int
    start: int
    stop: int
    disks: tuple[int, ...]
    is_full: bool


def stripes(
    pieces: Iterable[ChildIo], data_offset: int, page: int, n_data: int, parity: Callable[[int], int]
) -> list[Stripe]:
    """Return the stripes of the writes of rows, in order (rule Y16).

    Parameters
    ----------
    pieces : iterable of ChildIo
        All that is written, and what would be on disks that are lost.
    data_offset, page, n_data : int
        Of the layout.
    parity : callable
        Returns the disk with the parity of a page.
    """
    written: dict[tuple[int, int], int] = {}
    for piece in pieces:
        first, end = piece.lba - data_offset, piece.lba + piece.n - data_offset
        for number in range(first // page, -(-end // page)):
            covered = min(end, (number + 1) * page) - max(first, number * page)
            written[number, piece.disk] = written.get((number, piece.disk), 0) + covered
    found: list[Stripe] = []
    for number, places in groupby(sorted(written), lambda place: place[0]):
        disks = tuple(disk for _, disk in places if disk != parity(number))
        start = data_offset + number * page
        if disks:
            is_full = len(disks) == n_data and all(written[number, disk] >= page for disk in disks)
            found.append(Stripe(number, start, start + page, disks, is_full))
        elif found:
            found[-1] = found[-1]._replace(stop=start + page)
    return found
