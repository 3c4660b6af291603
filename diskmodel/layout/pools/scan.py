"""What a scan of a pool of OpenZFS goes through, and what it reads and writes: a resilver, a scrub (X20 to X22)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from diskmodel.layout.pieces import ChooseCopy, Piece, Plan
from diskmodel.layout.pools.records import columns_of, padded, parts_of, read_of_mirror, width_of
from diskmodel.records import READ, WRITE

if TYPE_CHECKING:
    from diskmodel.layout.tables import LayoutTables


def scanned_vdevs(tables: LayoutTables) -> range:
    """Return the vdevs that a scan goes through: the lost disk's, or all of them (rules X20 and X22)."""
    if tables.rebuild_disk < 0:
        return range(tables.n_groups if tables.sync_action == "check" else 0)
    vdev = tables.rebuild_disk // width_of(tables)
    return range(vdev, vdev + 1)


def records_of(tables: LayoutTables, records: int, vdev: int) -> int:
    """Return how many of the first `records` records lie on a vdev (rule X2)."""
    pool = tables.pool
    assert pool is not None
    turns, rest = divmod(records, pool.turn_records * tables.n_groups)
    return turns * pool.turn_records + min(max(rest - vdev * pool.turn_records, 0), pool.turn_records)


def stored_sectors(tables: LayoutTables) -> int:
    """Return what is stored on each disk in the mean, sectors."""
    pool = tables.pool
    assert pool is not None
    disks = tables.n_groups * (width_of(tables) if tables.n_parity else 1)
    return pool.scan.records * pool.stored * pool.block // disks


def blocks_in_order(tables: LayoutTables, vdev: int) -> Iterator[int]:
    """Yield the first blocks of a vdev's stored records, in their order on the disks (rule X20)."""
    pool = tables.pool
    assert pool is not None
    n = records_of(tables, pool.scan.records, vdev)
    n_straight, other_records = pool.n_slabs - pool.skipped_slabs, pool.slab_records - pool.half_records
    for slab in range(pool.n_slabs):
        place = slab
        if slab > pool.skipped_slabs:
            place = slab - pool.skipped_slabs
        elif slab:
            place = slab + n_straight - 1
        # the second half of a metaslab has records only where the first one is full
        held = min(max(n - place * pool.half_records, 0), pool.half_records)
        held += min(max(n - pool.n_slabs * pool.half_records - place * other_records, 0), other_records)
        n_early = pool.early_records if place == 0 else 0
        for at in range(held):
            begin = pool.early_blocks if at < n_early else pool.late_blocks
            yield pool.slab_begin(slab) + begin + at * pool.stored


def records_begun(tables: LayoutTables, vdev: int) -> int:
    """Return how many records of a vdev a scan is through at the beginning (rules X20 and X22)."""
    n = tables.rebuild_front // tables.rebuild_window
    return n if tables.rebuild_disk >= 0 else records_of(tables, n, vdev)


def step(tables: LayoutTables, vdev: int, first: int, choose: ChooseCopy) -> Plan | None:
    """Return what the record at block `first` of a vdev needs; None: it has nothing on the lost disk.

    A scrub reads all of it (rule X22).
    """
    pool, lost, new = tables.pool, tables.rebuild_disk, tables.n_disks
    assert pool is not None
    base = vdev * width_of(tables)
    if not tables.n_parity:
        if lost < 0:
            lba = tables.data_offset + first * pool.block
            return Plan([Piece(disk, READ, lba, pool.record) for disk in range(base, base + width_of(tables))], [])
        read = read_of_mirror(tables, vdev, first, choose)
        return Plan([read], [Piece(new, WRITE, read.lba, read.n)])
    reads, writes = [], []
    for at, blocks in parts_of(tables, first, pool.record // pool.block):
        for disk, row, n_blocks in reversed(padded(tables, columns_of(tables, at, blocks))):
            lba, n = tables.data_offset + row * pool.block, n_blocks * pool.block
            if base + disk == lost:
                writes.append(Piece(new, WRITE, lba, n))
            elif base + disk not in tables.failed:
                reads.append(Piece(base + disk, READ, lba, n))
    return Plan(reads, writes) if writes or lost < 0 else None


def new_disk_of(tables: LayoutTables, disk: int, block: int | None) -> int | None:
    """Return the disk whose block is written instead of another one's; None: it has failed, and is not resilvered."""
    if disk not in tables.failed:
        return disk
    return tables.n_disks if tables.family == "pool" and disk == tables.rebuild_disk else None
