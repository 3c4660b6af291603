"""Where a pool writes: free places, one behind the other (rule X13)."""

from __future__ import annotations

from collections.abc import Iterator

from diskmodel.layout.pieces import ChildIo
from diskmodel.layout.pools.records import (
    Column,
    columns_of,
    padded,
    parts_of,
    place_of,
    stored_of_raidz,
    width_of,
)
from diskmodel.layout.pools.scan import new_disk_of
from diskmodel.layout.pools.tables import VdevTables
from diskmodel.records import WRITE


def stored_blocks(tables: VdevTables, blocks: int) -> int:
    """Return the blocks of a vdev that so many blocks take (rule X1)."""
    m, pool = tables.n_parity, tables.pool
    if not m:
        return blocks
    if pool.draid is not None:
        return -(-blocks // tables.n_data) * (tables.n_data + m)
    return stored_of_raidz(blocks, tables.n_data, m)


def write_pieces(tables: VdevTables, vdev: int, first: int, blocks: int) -> list[ChildIo]:
    """Return the writes of so many blocks at block `first` of a vdev: to every disk that is left (rule X12)."""
    pool, base = tables.pool, vdev * width_of(tables)
    if not tables.n_parity:
        lba = tables.data_offset + first * pool.block
        disks = (new_disk_of(tables, disk, first) for disk in range(base, base + width_of(tables)))
        return [ChildIo(disk, WRITE, lba, blocks * pool.block) for disk in disks if disk is not None]
    pieces = []
    for at, n_data in parts_of(tables, first, blocks):
        for disk, row, n in _written_columns(tables, at, n_data):
            left = new_disk_of(tables, base + disk, row)
            if left is not None:
                pieces.append(ChildIo(left, WRITE, tables.data_offset + row * pool.block, n * pool.block))
    return pieces


def _written_columns(tables: VdevTables, first: int, blocks: int) -> Iterator[Column]:
    """Yield the columns of a part with the padding that is written with them (rules X12 and X23)."""
    columns = columns_of(tables, first, blocks)
    if tables.pool.draid is not None:
        yield from padded(tables, columns)
        return
    rest = blocks % tables.n_data
    n_long = rest + tables.n_parity if rest else 0
    n_padding = stored_blocks(tables, blocks) - sum(column.n for column in columns)
    for number, column in enumerate(columns):
        yield column._replace(n=column.n + (n_long <= number < n_long + n_padding))


def commands_of(tables: VdevTables, blocks: int) -> int:
    """Return the commands of a write of so many blocks where no disk is lost (rule X12)."""
    return len(columns_of(tables, 0, blocks)) if tables.n_parity else width_of(tables)


class Space:
    """Free places of a pool, of each kind one behind the other."""

    def __init__(self, tables: VdevTables) -> None:
        self.tables = tables
        pool = tables.pool
        self.pool, self.writes = pool, pool.writes
        #: Records below this number are data that something has asked for.
        self.top = 0
        #: Where the next record goes.
        self.next_record = 0
        n_kinds = 1 + max(self.writes.indirect_copies, self.writes.object_copies) * (1 + self.writes.allocators)
        self.vdev = [kind % tables.n_groups for kind in range(n_kinds)]
        self.used = [0] * n_kinds
        self.next = [[0] * tables.n_groups for _ in range(n_kinds)]

    def asked(self, last_record: int) -> None:
        """Notice data up to this record."""
        self.top = max(self.top, last_record + 1)

    def group_begins(self) -> None:
        """Write what follows behind the data (rule X13)."""
        self.next_record = max(self.next_record, self.top)

    def for_record(self) -> tuple[int, int]:
        """Return vdev and first block of the next place for a record."""
        number = self.next_record % self.writes.n_records
        self.next_record += 1
        return place_of(self.tables, number)

    def for_log(self, blocks: int) -> tuple[int, int]:
        """Return vdev and first block of the next place for so many blocks of the log: each on the next vdev (X13)."""
        return self._next(0, self.writes.log_slab, 0, blocks, turn=1)

    def for_metadata(self, copy: int, number: int, blocks: int) -> tuple[int, int]:
        """Return vdev and first block of the next place for a copy of indirect blocks (0), or of objects (from 1)."""
        writes = self.writes
        slab = (writes.metadata_slab + copy * writes.slabs_apart) % self.pool.n_slabs
        apart = self.pool.slab_blocks // (writes.allocators + 1)
        kind = 1 + copy * (1 + writes.allocators) + number
        return self._next(kind, slab, number * apart, blocks, writes.turn_blocks)

    def _next(self, kind: int, slab: int, begin: int, blocks: int, turn: int) -> tuple[int, int]:
        if self.used[kind] >= turn:
            self.vdev[kind] = (self.vdev[kind] + 1) % self.tables.n_groups
            self.used[kind] = 0
        vdev, stored = self.vdev[kind], stored_blocks(self.tables, blocks)
        at = self.next[kind][vdev]
        # what begins at a row of a group may lie that much behind
        if begin + at + stored > self.pool.slab_blocks - (self.pool.align - 1):
            at = 0
        self.next[kind][vdev] = at + stored
        self.used[kind] += blocks
        return vdev, self.pool.slab_begin(slab, begin) + at
