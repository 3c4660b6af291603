"""Pools of OpenZFS: where a record lies on the disks of its vdev, and what reading it takes (X1 to X5, X23)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from diskmodel.layout.pieces import ChildIo, ChooseCopy, Copy, Plan
from diskmodel.layout.pools.draid import DraidTables
from diskmodel.layout.pools.l2arc import L2arcTables
from diskmodel.layout.pools.scan_tables import ScanTables
from diskmodel.layout.pools.streams import ReadTables
from diskmodel.layout.pools.writes import WriteTables
from diskmodel.loading import dataclass
from diskmodel.records import READ

if TYPE_CHECKING:
    from diskmodel.layout.pools.tables import VdevTables

#: Where one stored place and the next exchange the parity column with the first data column, at RAID-Z1 (bytes of the
#: vdev): OpenZFS does it so that large blocks do not leave all parity on one disk.
SWAP_BYTES = 1 << 20
#: What a mirror adds to the load of a rotating disk for a read that does not go on where its last one ended, near it or
#: not, in waiting commands (`zfs_vdev_mirror_rotating_seek_inc` is 5, half of it counts near).
NEAR_LOAD, FAR_LOAD = 2, 5
#: The same of a drive that does not rotate, near or far (`zfs_vdev_mirror_non_rotating_seek_inc`).
FLASH_LOAD = 1
#: What is near (`zfs_vdev_mirror_rotating_seek_offset`), and after how much the turn changes (`vdev_mirror_shift`),
#: bytes.
NEAR_BYTES = 1 << 20
COPY_TURN_BYTES = 2 << 20
#: Reads that a disk is given at once, in the order in which programs asked for them (`zfs_vdev_sync_read_max_active`).
#: At half, a disk that orders its commands has less choice; a first-come disk is as fast.
ACTIVE_READS = 10
#: Bytes that a read may skip to include another one (`zfs_vdev_read_gap_limit`), and its most bytes then
#: (`zfs_vdev_aggregation_limit`); of drives that do not rotate less (`zfs_vdev_aggregation_limit_non_rotating`).
GATHER_GAP_BYTES, GATHER_BYTES, GATHER_FLASH_BYTES = 32 << 10, 1 << 20, 128 << 10


def swap_blocks_of(block_bytes: int) -> int:
    """Blocks of so many bytes after which parity and first data column change places at RAID-Z1."""
    return max(SWAP_BYTES // block_bytes, 1)


def stored_of_raidz(blocks: int, n_data: int, n_parity: int) -> int:
    """Return the blocks of a vdev of RAID-Z that so many blocks take, with parity and padding (rule X1).

    Examples
    --------
    >>> stored_of_raidz(2, n_data=5, n_parity=3)
    8
    """
    together = blocks + n_parity * -(-blocks // n_data)
    return -(-together // (n_parity + 1)) * (n_parity + 1)


@dataclass(frozen=True)
class PoolTables:
    """A pool in whole numbers; vdevs, data and parity columns are those of `VdevTables`.

    Attributes
    ----------
    record : int
        Sectors of the host that a record holds.
    block : int
        Sectors of an allocation block, 2^ashift bytes.
    stored : int
        Blocks of the vdev that a record takes: data, parity and padding (rule X1).
    turn_records : int
        Records that go to one vdev before it is the turn of the next (rule X2).
    n_slabs, slab_blocks : int
        Metaslabs of a vdev, and blocks of one of them.
    half_records, slab_records : int
        Records in the first half of a metaslab, which is filled first, and in all of it (rule X3).
    skipped_slabs : int
        Metaslabs between the first one that is filled and the second.
    early_records : int
        The first records of a vdev, which lie `early_blocks` behind the beginning of its first metaslab; all others
        `late_blocks` behind the beginning of theirs.
    early_blocks, late_blocks : int
    align : int
        Blocks that every place is a multiple of: a row of a group of dRAID (rule X23); 1 elsewhere.
    swap_blocks : int
        Blocks after which parity and first data column change places; 0: they never do (rule X4).
    near, turn_of_copies, most_active : int
        Sectors within which a read is near the last one chosen for a disk, and after which the next one of equally
        loaded copies has its turn; commands of a disk that count (rule X6).
    near_load, far_load : int
        Waiting commands that a read counts as which is near the last one, and one that is not (rule X6).
    gather_gap, gather : int
        Sectors that a read may skip to include the next one that waits, and its most sectors then (rule X8).
    reads : ReadTables
        How it reads ahead.
    writes : WriteTables
        How it writes.
    scan : ScanTables
        How a resilver or a scrub goes on, if there is one.
    draid : DraidTables, optional
        Of a pool of dRAID vdevs.
    l2arc : L2arcTables, optional
        Of a pool with cache devices.
    """

    record: int
    block: int
    stored: int
    turn_records: int
    n_slabs: int
    slab_blocks: int
    half_records: int
    slab_records: int
    skipped_slabs: int
    early_records: int
    early_blocks: int
    late_blocks: int
    align: int
    swap_blocks: int
    near: int
    near_load: int
    far_load: int
    turn_of_copies: int
    most_active: int
    gather_gap: int
    gather: int
    reads: ReadTables
    writes: WriteTables
    scan: ScanTables
    draid: DraidTables | None = None
    l2arc: L2arcTables | None = None

    def slab_begin(self, slab: int, behind: int = 0) -> int:
        """Return the first place in a metaslab, or the first so many blocks behind its beginning (rule X23)."""
        return -(-(slab * self.slab_blocks + behind) // self.align) * self.align

    @property
    def fills_spare(self) -> bool:
        """Whether a resilver writes to a distributed spare (rule X24)."""
        return self.draid is not None and self.draid.n_spares > 0

    def seek_load(self, distance: int) -> int:
        """Return what the way from the last command of a disk adds to its load (rule X6)."""
        if distance == 0:
            return 0
        return self.near_load if abs(distance) < self.near else self.far_load


class Column(NamedTuple):
    """Column of a record on one disk of its vdev: first block on that disk, and blocks."""

    disk: int
    first: int
    n: int


def width_of(tables: VdevTables) -> int:
    """Number of disks of a vdev."""
    return tables.n_disks // tables.n_groups


def place_of(tables: VdevTables, record: int) -> tuple[int, int]:
    """Return the vdev of a record and its first block there (rules X2 and X3)."""
    pool = tables.pool
    turn, inside = divmod(record, pool.turn_records)
    round_, vdev = divmod(turn, tables.n_groups)
    number = round_ * pool.turn_records + inside
    place, at = divmod(number, pool.half_records)
    if place >= pool.n_slabs:
        place, at = divmod(number - pool.n_slabs * pool.half_records, pool.slab_records - pool.half_records)
        at += pool.half_records
    n_straight = pool.n_slabs - pool.skipped_slabs
    slab = place
    if 0 < place < n_straight:
        slab += pool.skipped_slabs
    elif place >= n_straight:
        slab -= n_straight - 1
    begin = pool.early_blocks if number < pool.early_records else pool.late_blocks
    return vdev, pool.slab_begin(slab) + begin + at * pool.stored


def parts_of(tables: VdevTables, first: int, blocks: int) -> Iterator[tuple[int, int]]:
    """Yield first block and blocks of the parts of so many blocks of data: one, or two in neighboring groups of dRAID.

    The part in a group goes on as far as the group does (rule X23).
    """
    draid = tables.pool.draid
    if draid is not None:
        width = tables.n_data + tables.n_parity
        left = draid.row_blocks - first // width % draid.row_blocks
        if blocks > left * tables.n_data:
            yield first, left * tables.n_data
            first, blocks = first + left * width, blocks - left * tables.n_data
    yield first, blocks


def columns_of(tables: VdevTables, first: int, blocks: int) -> list[Column]:
    """Return the columns of so many blocks of RAID-Z that begin at block `first` of a vdev, parity first (rule X4).

    Of dRAID those of a part, and also those that hold nothing (rule X23).
    """
    pool, m = tables.pool, tables.n_parity
    if pool.draid is not None:
        return _columns_of_group(tables, pool.draid, first, blocks)
    width = tables.n_data + m
    each, rest = divmod(blocks, tables.n_data)
    n_long = rest + m if rest else 0
    row, begin = divmod(first, width)
    columns = []
    for number in range(width if each else n_long):
        disk = begin + number
        columns.append(Column(disk % width, row + disk // width, each + (number < n_long)))
    if pool.swap_blocks and first // pool.swap_blocks % 2:
        columns[0], columns[1] = columns[1], columns[0]
    return columns


def _columns_of_group(tables: VdevTables, draid: DraidTables, first: int, blocks: int) -> list[Column]:
    """Return the columns of a part of a record of dRAID, parity first (rule X23)."""
    width, disks = tables.n_data + tables.n_parity, width_of(tables)
    places = disks - draid.n_spares
    each, rest = divmod(blocks, tables.n_data)
    n_long = rest + tables.n_parity if rest else 0
    group, inside = divmod(first // width, draid.row_blocks)
    slice_, number = divmod(group, draid.slice_groups)
    columns = []
    for column in range(width):
        row, place = divmod(number * width + column, places)
        at = (slice_ * draid.slice_rows + row) * draid.row_blocks + inside
        columns.append(Column(draid.disk_at(slice_, place, disks), at, each + (column < n_long)))
    return columns


def padded(tables: VdevTables, columns: list[Column]) -> list[Column]:
    """Return columns with their padding: of dRAID all are as long as those of parity (rule X23)."""
    return columns if tables.pool.draid is None else [column._replace(n=columns[0].n) for column in columns]


def read_of_mirror(tables: VdevTables, vdev: int, first: int, n: int, choose: ChooseCopy) -> ChildIo:
    """Return the read of `n` sectors from block `first` of a mirror on, from the copy that is chosen (rule X6)."""
    pool = tables.pool
    lba, base = tables.data_offset + first * pool.block, vdev * width_of(tables)
    copies = [Copy(disk, lba) for disk in range(base, base + width_of(tables)) if disk not in tables.failed]
    chosen = copies[0] if len(copies) == 1 else choose(copies, n)
    return ChildIo(chosen.disk, READ, lba, n)


def plan(tables: VdevTables, op: int, sector: int, n: int, choose: ChooseCopy, front: int = 0) -> Plan:
    """Return the reads of a request: every record that it touches, whole, without parity while that is not needed.

    Each column of each record is a command of its own (rule X5); records in order, columns from the last to the first.
    """
    assert op == READ, "what a pool writes goes to free places"
    pool = tables.pool
    pieces: list[ChildIo] = []
    for record in range(sector // pool.record, (sector + n - 1) // pool.record + 1):
        vdev, first = place_of(tables, record)
        base = vdev * width_of(tables)
        if not tables.n_parity:
            pieces.append(read_of_mirror(tables, vdev, first, pool.record, choose))
            continue
        for at, blocks in parts_of(tables, first, pool.record // pool.block):
            pieces += _reads_of_part(tables, pool, base, columns_of(tables, at, blocks))
    return Plan(pieces, [])


def _reads_of_part(tables: VdevTables, pool: PoolTables, base: int, columns: list[Column]) -> Iterator[ChildIo]:
    """Yield the reads of data columns from the last to the first, with parity where data is lost (X5 and X23)."""
    if any(base + column.disk in tables.failed for column in columns):
        columns = padded(tables, columns)
    misses_data = False
    for number in reversed(range(len(columns))):
        disk, row, n = columns[number]
        if base + disk in tables.failed:
            misses_data = misses_data or number >= tables.n_parity
        elif n and (number >= tables.n_parity or misses_data):
            yield ChildIo(base + disk, READ, tables.data_offset + row * pool.block, n * pool.block)
