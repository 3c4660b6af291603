"""What is in the caches and buffers when a run begins, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from enum import Enum
from typing import Annotated, Self

import numpy as np

from diskmodel.loading import dataclass
from diskmodel.records import Int64
from diskmodel.schema import Beside, GivenAs


def _nothing() -> Int64:
    return np.empty(0, np.int64)


class _Columns:
    """Rows of numbers by column, as the kernel takes them."""

    @classmethod
    def of(cls, rows: Int64) -> Self:
        """Return rows that have a number for each field."""
        return cls(*(np.ascontiguousarray(column) for column in rows.T))


@dataclass(frozen=True, eq=False)
class Writes(_Columns):
    """Writes as the kernel takes them: disk, first block and sectors of each."""

    disk: Int64
    lba: Int64
    n: Int64


@dataclass(frozen=True, eq=False)
class Spans(_Columns):
    """Places on any disk as the kernel takes them: first block and sectors of each."""

    lba: Int64
    n: Int64


class Level(Enum):
    """Long-run levels of what waits to be written."""

    #: What comes is written in time: next to nothing waits, or again and again nothing.
    LOW = "low"
    #: At the mark at which writing begins, or presses.
    MARK = "mark"
    #: More comes than can be written.
    FULL = "full"


@dataclass(frozen=True)
class Levels:
    """Of the controller's write-back cache, the drives' buffers, the host's dirty pages, and media caches.

    `filled_ratio` is how much of the room above its mark a full controller's cache takes: less than all where more
    comes than can be written at the mark, and less where the cache is full.
    """

    controller: Level = Level.MARK
    drives: Level = Level.MARK
    pages: Level = Level.MARK
    media: Level = Level.FULL
    filled_ratio: float = 1.0


@dataclass(frozen=True, eq=False)
class Regions(_Columns):
    """Regions of a pool as the kernel takes them: `layout.pools.l2arc.Region`."""

    first: Int64
    n: Int64
    step: Int64


@dataclass(frozen=True, eq=False)
class Spread:
    """Records at equal distances over regions of a pool, which a cache holds: those of a region in order.

    Attributes
    ----------
    rows : int64, shape (n_regions, 3)
        First record, records that are held, and records of the region.
    again : tuple of int64
        Numbers in each row, from 0 on, of those that are used again, ascending.
    """

    rows: Int64
    again: tuple[Int64, ...]

    @property
    def n_records(self) -> int:
        """Records in all regions."""
        return int(self.rows[:, 1].sum())

    @property
    def n_again(self) -> int:
        """Records that are used again."""
        return sum(map(len, self.again))


@dataclass(frozen=True, eq=False)
class ArcLists:
    """What a pool's ARC holds, and what it has evicted not long ago (rule K16).

    Attributes
    ----------
    recent, frequent, was_recent, was_frequent : int64, shape (n,)
        Records in its lists, the oldest first.
    apart : int64, shape (4,)
        Records of each list that no use of the run reaches, neither the oldest nor the newest ones.
    share : int
        Share of the ARC that recent records are to have, in 2^-32.
    spread : Spread, optional
        Records older than `recent`, too many to list: those that are not used again (rule Z4).
    """

    recent: Int64
    frequent: Int64
    was_recent: Int64
    was_frequent: Int64
    apart: Int64
    share: int
    spread: Beside[Spread | None] = None

    @property
    def lists(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Its lists, in the order of `apart`."""
        return self.recent, self.frequent, self.was_recent, self.was_frequent

    @property
    def n_listed(self) -> int:
        """Records in all lists."""
        return sum(map(len, self.lists))

    @property
    def n_held(self) -> int:
        """Records that it holds."""
        beside = 0 if self.spread is None else self.spread.n_records - self.spread.n_again
        return len(self.recent) + len(self.frequent) + int(self.apart[:2].sum()) + beside


@dataclass(frozen=True, eq=False)
class Start:
    """State at time 0. Everything is empty unless given.

    Attributes
    ----------
    dirty : int64, shape (n,)
        Blocks that wait in the controller's write-back cache, ascending.
    dirty_apart : int
        Lines of it that are full beside those, of places that the run does not write again, and that stay.
    cached : int64, shape (n,)
        Blocks that came into the controller's read cache, in order.
    cached_written : int64, shape (n,)
        Which of these were written: their numbers, ascending.
    cached_apart : int
        Blocks that this cache holds beside those, and that no request of the run reaches.
    arc : ArcLists, optional
        What the ARC of a pool holds instead, where nothing takes what it evicts.
    cached_regions : int64, shape (n, 2)
        Where all of the regions with data lie in a read cache that is larger than what `cached` lists: first block and
        end of each, ascending, apart from each other.
    aged : int64, shape (n,)
        Units that every flash drive has written before everything else, in order.
    piece_units : int
        Units that flash drives' data were last written in together; 0: all of them, in order.
    shifts : int64, shape (n_drives,) or (0,)
        Units before the first one on its page, of each flash drive.
    programmed : int64, shape (n, 3)
        Writes that flash drives have programmed last, in order: disk, first block, sectors.
    buffered : int64, shape (n, 3)
        Writes that drives' buffers have accepted after these, in order: disk, first block, sectors.
    buffered_room : int64, shape (n,) or (0,)
        Room that each of these takes in a hard disk's buffer, in sectors; without it, as much as it is long.
    buffers_apart : int
        Sectors of each hard disk's buffer that are full beside those, of places that the run does not write again, and
        that stay.
    logged : int64, shape (n, 2)
        Writes that lie in the media cache of every hard disk but the spares, in order: first block, sectors.
    runs : int64, shape (n, 3)
        Sequential runs of writes that go on, of hard disks with media caches, in order: disk, first block, sectors.
    pages_dirty : int64, shape (n,)
        Dirty pages of the host, old enough to be written.
    pages_apart : int
        Dirty pages of the host beside those, of places that the run does not write again, and that stay.
    pages_clean : int64, shape (n,)
        Pages of the host that were used last, the least recently used first: clean where they are not dirty, as far as
        there is room.
    group_records, group_indirect : int
        Records and indirect blocks of a transaction group whose writing begins at time 0, on pools (rule Z12).
    group_top : int
        Records of a pool below which data lies (rule X13).
    l2arc : int64, shape (n, 3)
        Regions of a pool of which its cache devices hold records before the ARC is filled, ascending: first record,
        records, and the step from one of those on the L2ARC to the next (rule Z13).
    l2arc_ages : int64, shape (n * m,)
        How many records of each region are in each of `m` equal parts of the slots that are taken, the oldest first.
    l2arc_taken : int
        Slots that they were put on; not all of these have a record that is valid.
    l2arc_from : int
        From which of the blocks in `cached` on the L2ARC takes what these evict.
    l2arc_seen : int
        Length of a list of the ARC up to which all that is used comes onto the L2ARC, as feeds that keep up find it.
    l2arc_lost, l2arc_lost_at : int64, shape (n,)
        Records that the L2ARC loses, because they are written, and before which of these blocks; ascending.
    held : object
        What a drive holds that has an engine of its own; None: nothing.
    n_before : int
        Requests of the workload that came before those of the run (rule Z2).
    round_requests : int
        Requests that come during one round of the write cache's sweep, if that loads the disks unevenly (rule Z10).
    is_in_waves : bool
        Whether `round_requests` come from one time at which no page of the host is dirty to the next (rule Z6).
    cleaning_requests : int
        Requests that come for each band that a full media cache cleans (rule G9); 0: none is full.
    levels : Levels, optional
        At which levels everything is that waits to be written; None: nothing does.
    """

    dirty: Int64 = field(default_factory=_nothing)
    dirty_apart: Beside[int] = 0
    cached: Int64 = field(default_factory=_nothing)
    cached_written: Int64 = field(default_factory=_nothing)
    cached_apart: Beside[int] = 0
    arc: ArcLists | None = None
    cached_regions: Beside[Int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    aged: Int64 = field(default_factory=_nothing)
    piece_units: int = 0
    shifts: Int64 = field(default_factory=_nothing)
    programmed: Annotated[Int64, GivenAs(Writes)] = field(default_factory=lambda: np.empty((0, 3), np.int64))
    buffered: Annotated[Int64, GivenAs(Writes)] = field(default_factory=lambda: np.empty((0, 3), np.int64))
    buffered_room: Int64 = field(default_factory=_nothing)
    buffers_apart: Beside[int] = 0
    logged: Annotated[Int64, GivenAs(Spans)] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    runs: Annotated[Int64, GivenAs(Writes)] = field(default_factory=lambda: np.empty((0, 3), np.int64))
    pages_dirty: Int64 = field(default_factory=_nothing)
    pages_apart: Beside[int] = 0
    pages_clean: Int64 = field(default_factory=_nothing)
    group_records: int = 0
    group_indirect: int = 0
    group_top: int = 0
    l2arc: Annotated[Int64, GivenAs(Regions)] = field(default_factory=lambda: np.empty((0, 3), np.int64))
    l2arc_ages: Int64 = field(default_factory=_nothing)
    l2arc_taken: int = 0
    l2arc_from: int = 0
    l2arc_seen: int = 0
    l2arc_lost: Int64 = field(default_factory=_nothing)
    l2arc_lost_at: Int64 = field(default_factory=_nothing)
    held: Beside[object] = None
    n_before: Beside[int] = 0
    round_requests: Beside[int] = 0
    is_in_waves: Beside[bool] = False
    cleaning_requests: Beside[int] = 0
    levels: Beside[Levels | None] = None

    @property
    def l2arc_regions(self) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """First record, records, step and ages of each region of the L2ARC."""
        ages = self.l2arc_ages.reshape(len(self.l2arc), -1).tolist() if len(self.l2arc) else []
        return [(*row, tuple(of_row)) for row, of_row in zip(self.l2arc.tolist(), ages, strict=True)]

    def uses(self) -> Iterator[tuple[int, bool]]:
        """Yield the blocks that came into the read cache, each with whether it was written."""
        written = set(self.cached_written.tolist())
        for at, block in enumerate(self.cached.tolist()):
            yield block, at in written

    @property
    def room_of_buffered(self) -> Int64:
        """Room of each of the buffered writes, in sectors."""
        return self.buffered_room if len(self.buffered_room) else self.buffered[:, 2]

    @property
    def n_bytes(self) -> int:
        """Memory that the columns take."""
        columns = (getattr(self, column.name) for column in fields(self))
        of_arc = 0 if self.arc is None else 8 * self.arc.n_listed
        return of_arc + sum(column.nbytes for column in columns if isinstance(column, np.ndarray))


EMPTY = Start()
