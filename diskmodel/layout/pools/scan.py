"""What a scan of a pool of OpenZFS goes through, and what it reads and writes: a resilver, a scrub (X20 to X25)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from diskmodel.layout.pieces import ChildIo, ChooseCopy, Plan
from diskmodel.layout.pools.records import PoolTables, columns_of, padded, parts_of, read_of_mirror, width_of
from diskmodel.records import READ, WRITE

if TYPE_CHECKING:
    from diskmodel.layout.pools.tables import VdevTables


def scanned_vdevs(tables: VdevTables) -> range:
    """Return the vdevs that a scan goes through: the lost disk's, or all of them (rules X20 and X22)."""
    if tables.rebuild_disk < 0:
        return range(tables.n_groups if tables.sync_action == "check" else 0)
    vdev = tables.rebuild_disk // width_of(tables)
    return range(vdev, vdev + 1)


def records_of(tables: VdevTables, records: int, vdev: int) -> int:
    """Return how many of the first `records` records lie on a vdev (rule X2)."""
    pool = tables.pool
    turns, rest = divmod(records, pool.turn_records * tables.n_groups)
    return turns * pool.turn_records + min(max(rest - vdev * pool.turn_records, 0), pool.turn_records)


def stored_sectors(tables: VdevTables) -> int:
    """Return what is stored on each disk in the mean, sectors."""
    pool = tables.pool
    disks = tables.n_groups * (width_of(tables) if tables.n_parity else 1)
    return pool.scan.records * pool.stored * pool.block // disks


class Stretch(NamedTuple):
    """What a scan takes at once: first block of the vdev, blocks of data, and what it counts as, sectors of a disk."""

    first: int
    blocks: int
    counts: int


def stretches(tables: VdevTables, vdev: int) -> Iterator[Stretch]:
    """Yield what a scan takes of a vdev, in the order on the disks, without what it is through at the beginning.

    Records (rules X20 and X22), or segments of what they fill (X25).
    """
    pool = tables.pool
    if pool.scan.segment:
        yield from _segments(tables, pool, vdev)
        return
    blocks = pool.record // pool.block
    for first in islice(blocks_in_order(tables, vdev), records_begun(tables, vdev), None):
        yield Stretch(first, blocks, tables.rebuild_window)


def _segments(tables: VdevTables, pool: PoolTables, vdev: int) -> Iterator[Stretch]:
    """Yield the segments of a vdev's metaslabs (rule X25): as long as a step is, within a group of dRAID."""
    width = tables.n_data + tables.n_parity
    left_out = records_begun(tables, vdev) * pool.stored
    for slab, n_records in _held(tables, pool, vdev):
        n = n_records * pool.stored
        at = min(left_out, n)
        left_out -= at
        while at < n:
            first = pool.slab_begin(slab) + at
            take = blocks = min(pool.scan.segment, n - at)
            if pool.draid is not None:
                take = min(take, (pool.draid.row_blocks - first // width % pool.draid.row_blocks) * width)
                blocks = take // width * tables.n_data
            yield Stretch(first, blocks, take * pool.block)
            at += take


def _held(tables: VdevTables, pool: PoolTables, vdev: int) -> Iterator[tuple[int, int]]:
    """Yield the metaslabs of a vdev and how many of its stored records each has."""
    n = records_of(tables, pool.scan.records, vdev)
    n_straight, other_records = pool.n_slabs - pool.skipped_slabs, pool.slab_records - pool.half_records
    for slab in range(pool.n_slabs):
        place = _place_of_slab(pool, slab, n_straight)
        # the second half of a metaslab has records only where the first one is full
        held = min(max(n - place * pool.half_records, 0), pool.half_records)
        yield slab, held + min(max(n - pool.n_slabs * pool.half_records - place * other_records, 0), other_records)


def _place_of_slab(pool: PoolTables, slab: int, n_straight: int) -> int:
    """Return when a metaslab is filled (rule X3)."""
    if slab > pool.skipped_slabs:
        return slab - pool.skipped_slabs
    return slab + n_straight - 1 if slab else 0


def blocks_in_order(tables: VdevTables, vdev: int) -> Iterator[int]:
    """Yield the first blocks of a vdev's stored records, in their order on the disks (rule X20)."""
    pool = tables.pool
    for slab, held in _held(tables, pool, vdev):
        n_early = 0 if slab else pool.early_records
        for at in range(held):
            begin = pool.early_blocks if at < n_early else pool.late_blocks
            yield pool.slab_begin(slab) + begin + at * pool.stored


def records_begun(tables: VdevTables, vdev: int) -> int:
    """Return how many records of a vdev a scan is through at the beginning (rules X20 and X22)."""
    n = tables.rebuild_front // tables.rebuild_window
    return n if tables.rebuild_disk >= 0 else records_of(tables, n, vdev)


def step(tables: VdevTables, vdev: int, first: int, blocks: int, choose: ChooseCopy) -> Plan | None:
    """Return what so many blocks of data at block `first` of a vdev need; None: nothing of them is to be written.

    A scrub reads all of it (rule X22).
    """
    pool, lost = tables.pool, tables.rebuild_disk
    base = vdev * width_of(tables)
    if not tables.n_parity:
        n = blocks * pool.block
        if lost < 0:
            lba = tables.data_offset + first * pool.block
            return Plan([ChildIo(disk, READ, lba, n) for disk in range(base, base + width_of(tables))], [])
        read = read_of_mirror(tables, vdev, first, n, choose)
        return Plan([read], [ChildIo(tables.n_disks, WRITE, read.lba, n)])
    reads, writes = [], []
    for at, n_data in parts_of(tables, first, blocks):
        for disk, row, n_blocks in reversed(padded(tables, columns_of(tables, at, n_data))):
            lba, n = tables.data_offset + row * pool.block, n_blocks * pool.block
            if base + disk not in tables.failed:
                reads.append(ChildIo(base + disk, READ, lba, n))
            elif (new := new_disk_of(tables, base + disk, row)) is not None:
                writes.append(ChildIo(new, WRITE, lba, n))
    return Plan(reads, writes) if writes or lost < 0 else None


def new_disk_of(tables: VdevTables, disk: int, block: int | None) -> int | None:
    """Return the disk whose block is written instead of another one's; None: it has failed, and is not resilvered.

    What is none of its blocks, a label (None), a distributed spare does not have (rule X24).
    """
    if disk not in tables.failed:
        return disk
    if disk != tables.rebuild_disk:
        return None
    draid = tables.pool.draid
    if draid is None or not draid.n_spares:
        return tables.n_disks
    if block is None:
        return None
    width = width_of(tables)
    spare = disk // width * width + draid.disk_at(block // draid.row_blocks // draid.slice_rows, width - 1, width)
    return None if spare in tables.failed else spare
