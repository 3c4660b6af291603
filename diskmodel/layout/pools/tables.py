"""A pool of OpenZFS in whole numbers, as the engines read it (rules X1 to X26)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar, Literal

from diskmodel.layout.description import Layout
from diskmodel.layout.pools import scan_tables, streams, writes
from diskmodel.layout.pools.draid import RESERVED_BYTES, ROW_BYTES, DraidTables, drawn_orders, slice_groups
from diskmodel.layout.pools.records import (
    ACTIVE_READS,
    COPY_TURN_BYTES,
    FAR_LOAD,
    FLASH_LOAD,
    GATHER_BYTES,
    GATHER_FLASH_BYTES,
    GATHER_GAP_BYTES,
    NEAR_BYTES,
    NEAR_LOAD,
    PoolTables,
    stored_of_raidz,
    swap_blocks_of,
)
from diskmodel.layout.pools.scan import records_of, scanned_vdevs
from diskmodel.layout.pools.scan_tables import ScanTables
from diskmodel.layout.pools.streams import ReadTables
from diskmodel.layout.pools.writes import WriteTables
from diskmodel.layout.tables import LayoutTables, fault, lost_disk, sectors_of, used_sectors
from diskmodel.loading import dataclass

#: What OpenZFS keeps of each disk: its partition begins at 1 MiB, two labels and room to boot from take 4 MiB before
#: the data (`VDEV_LABEL_START_SIZE`), two labels 512 KiB behind it.
PARTITION_BYTES = 1 << 20
LABELS_BEFORE_BYTES = 4 << 20
LABELS_BEHIND_BYTES = 512 << 10
#: Metaslabs: of 512 MiB (`zfs_vdev_default_ms_shift`) while there are at least 16 (`zfs_vdev_min_ms_count`) and at most
#: 200 (`zfs_vdev_default_ms_count`) of these; of 16 GiB at most (`zfs_vdev_max_ms_shift`).
USUAL_SLAB_SHIFT, MAX_SLAB_SHIFT, MIN_SLAB_SHIFT = 29, 34, 24
MIN_SLABS, USUAL_SLABS = 16, 200
#: What goes to each data disk of a vdev before it is the turn of the next vdev, bytes (`metaslab_aliquot` since 2.2;
#: 512 KiB before).
TURN_BYTES = 1 << 20
#: Metaslabs between the first one that a file fills and the next: four allocators (`spa_allocators`) each hold a first
#: and a second one. Measured files (zfs.md) went on 3 to 7 metaslabs behind their first. At 0 small files lie closer
#: together than measured, and a mirror reads 3 to 10 % more of them.
SKIPPED_SLABS = 6
#: What was written in the first transaction group, bytes: its metadata lies between its records and the others.
#: Measured: 38 to 46 MiB of files with records of 8 and 32 KiB, in a machine whose first group had 49 MiB. An indirect
#: block and an object between them explain on which disks the records of all measured geometries begin: RAID-Z2 of 6
#: on two, RAID-Z2 of 8 on even ones, RAID-Z3 of 8 on one. It matters for the first files only.
EARLY_BYTES = 48 << 20
#: Space that a pool keeps to itself: 1/32 of it (`spa_slop_shift`), at least 128 MiB and at most 128 GiB.
SLOP_SHARE, MIN_SLOP_BYTES, MAX_SLOP_BYTES = 32, 128 << 20, 128 << 30


#: Halves of a metaslab of each vdev behind which a file begins that is not the first one: two places that divide it
#: otherwise among metaslabs. At whole numbers a small file lies in one of them, as hardly any does.
_OTHER_HALVES = (1.25, 2.75)


@dataclass(frozen=True, kw_only=True)
class VdevTables(LayoutTables):
    """The vdevs of a pool in sectors: what other kinds do not have.

    Attributes
    ----------
    pool : PoolTables
    """

    kind: ClassVar[str] = "pool"
    has_strips: ClassVar[bool] = False
    own_start: ClassVar[str] = "diskmodel.engine.steady.pools.pool:settled"

    pool: PoolTables

    @property
    def family(self) -> Literal["pool"]:
        """How blocks lie on the disks."""
        return "pool"

    @property
    def other_places(self) -> tuple[int, ...]:
        """The same of RAID-Z whose records fill whole rows: all those of a stretch begin on the same disk (X3, X4).

        The first stretch of a vdev is what its first transaction group wrote. A file that follows has other metaslabs.
        """
        if not self.n_parity or self.pool.draid is not None or self.pool.stored % (self.n_data + self.n_parity):
            return ()
        half = self.pool.half_records * self.n_groups
        return tuple(round(halves * half) * self.pool.record for halves in _OTHER_HALVES)

    @property
    def window_disks(self) -> int:
        """Disks that a window of a rebuild is of: 1, or those of a vdev of dRAID."""
        return 1 if self.pool.draid is None else self.n_disks // self.n_groups

    @property
    def rebuilt_at_once(self) -> int:
        """Disks that a pass over the members goes through at once: one of each vdev, of dRAID all."""
        return len(scanned_vdevs(self)) * self.window_disks

    @property
    def has_new_disk(self) -> bool:
        """Whether disk `n_disks`, of its own, takes what a rebuild writes: none does where a spare is distributed."""
        return super().has_new_disk and not self.pool.fills_spare

    @property
    def rebuild_end(self) -> int:
        """Sectors of what is stored that a pass over the members goes through, of all vdevs.

        Of dRAID they are those of `window_disks`.
        """
        n = self.pool.scan.records
        return sum(records_of(self, n, vdev) for vdev in scanned_vdevs(self)) * self.rebuild_window

    @property
    def held_in_memory(self) -> int:
        """Sectors of writes that it keeps in memory before the disks have to take any."""
        return self.pool.writes.dirty_most

    def takes_flushes(self, *, does_below: bool) -> bool:
        """Return whether writes are logged, whatever the disks do (rule X10)."""
        return self.pool.writes.is_logged


def vdevs_of(tables: LayoutTables) -> VdevTables:
    """Return the tables of what is known to be a pool."""
    assert isinstance(tables, VdevTables)
    return tables


def pool_tables(layout: Layout, disk_sectors: int, sector_bytes: int, *, rotates: bool) -> VdevTables:
    """Return a pool over disks of `disk_sectors` sectors (rules X1 to X4), which rotate or do not."""
    block = sectors_of(layout.block_bytes, sector_bytes, "layout.ashift")
    reserved = PARTITION_BYTES + LABELS_BEFORE_BYTES if layout.data_offset_bytes == 0 else layout.data_offset_bytes
    offset = sectors_of(reserved, sector_bytes, "layout.data_offset_bytes")
    used = used_sectors(layout, disk_sectors, sector_bytes)
    n_parity, width = layout.parity_strips, layout.group_disks
    n_data = layout.data_strips if n_parity else 1
    member_blocks = (used - offset - LABELS_BEHIND_BYTES // sector_bytes) // block
    draid = _draid_tables(layout) if layout.kind.is_distributed else None
    vdev_bytes = _vdev_blocks(layout, draid, member_blocks) * layout.block_bytes
    slab_bytes = metaslab_bytes(vdev_bytes)
    n_slabs = max(vdev_bytes, 0) // slab_bytes
    if n_slabs < 1:
        fix = "use larger disks"
        raise fault("layout.disks", layout.disks, f"a vdev has no room for a metaslab of {slab_bytes} bytes", fix)
    n_blocks = layout.pool_record_bytes // layout.block_bytes
    stored = n_blocks
    between, late, align = 0, 0, 1
    if draid is not None:
        align = n_data + n_parity
        stored = -(-n_blocks // n_data) * align
    elif n_parity:
        stored = stored_of_raidz(n_blocks, n_data, n_parity)
        between = sum(stored_of_raidz(n, n_data, n_parity) for n in _metadata_blocks(layout))
        round_ = math.lcm(width, n_parity + 1)
        late = -(-between // round_) * round_
    slab_blocks = slab_bytes // layout.block_bytes
    slab_records = (slab_blocks - (align - 1) - late) // stored
    half_records = slab_records // 2
    if half_records < 1:
        rule, fix = f"a metaslab of {slab_bytes} bytes has no room for two", "use smaller records"
        raise fault("layout.record_bytes", layout.pool_record_bytes, rule, fix)
    record = layout.pool_record_bytes // sector_bytes
    vdevs = layout.n_groups
    slop = min(max(n_slabs * slab_bytes * vdevs // SLOP_SHARE, MIN_SLOP_BYTES), MAX_SLOP_BYTES)
    kept = -(-slop // (stored * layout.block_bytes))
    turn = max(TURN_BYTES * _data_disks(layout) // (stored * layout.block_bytes), 1)
    # whole turns of every vdev, so that no record lies behind the last metaslab
    records = n_slabs * slab_records // turn * turn * vdevs - kept
    if records < 1:
        raise fault("layout.disks", layout.disks, "the pool has no room beside what it keeps", "use larger disks")
    tables = VdevTables(
        n_disks=layout.disks,
        n_spares=layout.spares,
        strip=record,
        member=member_blocks * block,
        data_offset=offset,
        copies=layout.n_copies,
        n_groups=vdevs,
        n_data=n_data,
        n_parity=n_parity,
        read_policy="least-loaded",
        failed=tuple(sorted(layout.failed)),
        capacity=records * record,
        pool=PoolTables(
            record=record,
            block=block,
            stored=stored,
            turn_records=turn,
            n_slabs=n_slabs,
            slab_blocks=slab_blocks,
            half_records=half_records,
            slab_records=slab_records,
            skipped_slabs=SKIPPED_SLABS if n_slabs > SKIPPED_SLABS + 1 else 0,
            early_records=min(EARLY_BYTES // layout.pool_record_bytes // vdevs, half_records),
            early_blocks=late - between,
            late_blocks=late,
            align=align,
            swap_blocks=swap_blocks_of(layout.block_bytes) if n_parity == 1 and draid is None else 0,
            near=max(NEAR_BYTES // sector_bytes, 1),
            near_load=NEAR_LOAD if rotates else FLASH_LOAD,
            far_load=FAR_LOAD if rotates else FLASH_LOAD,
            turn_of_copies=max(COPY_TURN_BYTES // sector_bytes, 1),
            most_active=ACTIVE_READS,
            gather_gap=GATHER_GAP_BYTES // sector_bytes,
            gather=(GATHER_BYTES if rotates else GATHER_FLASH_BYTES) // sector_bytes,
            reads=_read_tables(layout.pool_record_bytes),
            writes=_write_tables(layout, sector_bytes, records + kept, n_slabs, offset, member_blocks * block),
            scan=_scan_tables(layout, sector_bytes, records),
            draid=draid,
        ),
    )
    return _with_scan(layout, tables)


def _metadata_blocks(layout: Layout) -> tuple[int, int]:
    """Return the blocks of a full indirect block, and of an object (rule X12)."""
    sizes_bytes = (writes.POINTERS * writes.POINTER_BYTES, writes.OBJECT_BYTES)
    indirect, of_object = (-(-n // layout.block_bytes) for n in sizes_bytes)
    return indirect, of_object


def _data_disks(layout: Layout) -> int:
    """Return the disks that the data of a vdev would fill; 1: those of a mirror (`vdev_get_ndisks`, without parity)."""
    if not layout.parity_strips:
        return 1
    return layout.group_disks - layout.spare_places - layout.parity_strips


def _draid_tables(layout: Layout) -> DraidTables:
    """Return the groups of a vdev of dRAID (rule X23)."""
    group, places = layout.data_strips + layout.parity_strips, layout.group_disks - layout.spare_places
    n_groups = slice_groups(group, places)
    return DraidTables(
        row_blocks=ROW_BYTES // layout.block_bytes,
        slice_groups=n_groups,
        slice_rows=n_groups * group // places,
        n_spares=layout.spare_places,
        orders=drawn_orders(layout.group_disks),
    )


def _vdev_blocks(layout: Layout, draid: DraidTables | None, member_blocks: int) -> int:
    """Return the blocks of a vdev: of dRAID those of whole groups in whole rows (rule X23)."""
    if draid is None:
        return member_blocks * (layout.group_disks if layout.parity_strips else 1)
    rows = (member_blocks - RESERVED_BYTES // layout.block_bytes) // draid.row_blocks
    group = layout.data_strips + layout.parity_strips
    return rows * (layout.group_disks - draid.n_spares) // group * group * draid.row_blocks


def _scan_tables(layout: Layout, sector_bytes: int, records: int) -> ScanTables:
    """Return how a scan goes on (rules X14, X20 to X22 and X25)."""
    ratio = None if layout.rebuild is None else layout.rebuild.used_ratio
    ratio = scan_tables.USUAL_USED_RATIO if ratio is None else ratio
    in_flight_bytes = scan_tables.IN_FLIGHT_BYTES * _data_disks(layout)
    if layout.is_rebuilt_in_order:
        in_flight_bytes = scan_tables.REBUILT_AT_ONCE_BYTES * layout.group_disks
    is_scrub = layout.rebuild is not None and layout.rebuild.action != "recover"
    return ScanTables(
        records=int(records * ratio),
        in_flight=in_flight_bytes // sector_bytes,
        segment=_segment_blocks(layout) if layout.is_rebuilt_in_order else 0,
        least_ns=scan_tables.SCRUB_LEAST_NS if is_scrub else scan_tables.RESILVER_LEAST_NS,
        active_least=scan_tables.ACTIVE_READS[0],
        active_most=scan_tables.ACTIVE_READS[1],
        quiet=scan_tables.QUIET_READS,
        credit=scan_tables.CREDIT,
    )


def _segment_blocks(layout: Layout) -> int:
    """Return the blocks of a vdev in the longest step of a sequential resilver: whole rows of a group of dRAID."""
    if not layout.parity_strips:
        return max(scan_tables.SEGMENT_BYTES // layout.block_bytes, 1)
    data = layout.data_strips
    most_bytes = min(scan_tables.SEGMENT_BYTES * data, scan_tables.LONGEST_SEGMENT_BYTES)
    return max(most_bytes // layout.block_bytes // data, 1) * (data + layout.parity_strips)


def _with_scan(layout: Layout, tables: VdevTables) -> VdevTables:
    """Return the tables of a pool with the scan of the layout, if it has one (rules X20 and X22)."""
    rebuild, pool = layout.rebuild, tables.pool
    if rebuild is None:
        return tables
    lost = lost_disk(layout, rebuild)
    # groups of dRAID are of so many of its disks that a share of a record is less than a sector's worth of rounding
    n_disks = 1 if pool.draid is not None or not layout.parity_strips else layout.group_disks
    window = max(pool.stored * pool.block // n_disks, 1)
    begun = replace(tables, sync_action=rebuild.action, rebuild_disk=lost, rebuild_window=window)
    return replace(begun, rebuild_front=int(begun.rebuild_end // window * rebuild.front_ratio) * window)


def _read_tables(record_bytes: int) -> ReadTables:
    """Return how a pool reads ahead (rules X18 and X19)."""
    return ReadTables(
        streams=streams.STREAMS,
        reap_ns=streams.REAP_NS,
        least=max(streams.LEAST_AHEAD_BYTES // record_bytes, 1),
        most=max(streams.MOST_AHEAD_BYTES // record_bytes, 1),
        held=max(streams.STREAMS * streams.MOST_AHEAD_BYTES // record_bytes, 1),
        active=streams.ACTIVE_AHEAD,
    )


def _write_tables(
    layout: Layout, sector_bytes: int, n_records: int, n_slabs: int, data_offset: int, member: int
) -> WriteTables:
    """Return how a pool writes (rules X9 to X16 and X26)."""
    dirty_bytes = layout.dirty_data_max_bytes or writes.DIRTY_BYTES
    label = layout.block_bytes // sector_bytes
    indirect_blocks, object_blocks = _metadata_blocks(layout)
    # rings of uberblocks fill the second half of a label of 256 KiB, two labels at each end
    before, half, apart = (n // sector_bytes for n in (LABELS_BEFORE_BYTES, 128 << 10, 256 << 10))

    def dirty(share: float) -> int:
        return max(round(dirty_bytes * share) // sector_bytes, 1)

    return WriteTables(
        is_logged=layout.sync != "disabled",
        group_ns=writes.GROUP_NS,
        dirty_group=dirty(writes.GROUP_SHARE),
        dirty_most=dirty(1.0),
        delay_from=dirty(writes.DELAY_SHARE),
        more_from=dirty(writes.MORE_FROM_SHARE),
        more_to=dirty(writes.MORE_TO_SHARE),
        delay_ns=writes.DELAY_NS,
        longest_delay_ns=writes.LONGEST_DELAY_NS,
        active_least=writes.ACTIVE_GROUP_WRITES[0],
        active_most=writes.ACTIVE_GROUP_WRITES[1],
        allocated=writes.ALLOCATED,
        allocated_first=writes.ALLOCATED_FIRST,
        turn_blocks=max(TURN_BYTES * _data_disks(layout) // layout.block_bytes, 1),
        n_records=n_records,
        log_block=writes.LOG_BLOCK_BYTES,
        log_header=writes.LOG_HEADER_BYTES,
        direct_from=0 if layout.log is not None else max(writes.DIRECT_BYTES // sector_bytes, 1),
        log_wait_percent=writes.LOG_WAIT_PERCENT,
        log_bursts=writes.LOG_BURSTS,
        has_special=layout.special is not None,
        log_slab=1 % n_slabs,
        metadata_slab=2 % n_slabs,
        slabs_apart=max(n_slabs // 8, 1),
        pointers=writes.POINTERS,
        indirect=max(writes.INDIRECT_BYTES // sector_bytes, 1),
        record_ns=-1 if layout.record_work_ns is None else layout.record_work_ns,
        indirect_blocks=indirect_blocks,
        indirect_copies=writes.INDIRECT_COPIES,
        above_file=writes.ABOVE_FILE,
        rounds=writes.ROUNDS,
        allocators=writes.ALLOCATORS,
        objects=writes.OBJECTS,
        object_blocks=object_blocks,
        object_copies=writes.METADATA_COPIES,
        gather_gap=writes.WRITE_GAP_BYTES // sector_bytes if layout.parity_strips else 0,
        label_first=max(data_offset - before + half, 0),
        label_last=data_offset + member,
        label_apart=apart,
        label_sectors=label,
        labeled_vdevs=writes.LABELED_VDEVS,
    )


def metaslab_bytes(vdev_bytes: int) -> int:
    """Return the length of a metaslab (`vdev_metaslab_set_size`)."""
    n_usual = max(vdev_bytes, 1) >> USUAL_SLAB_SHIFT
    shift = USUAL_SLAB_SHIFT
    if n_usual < MIN_SLABS:
        shift = (max(vdev_bytes, 1) // MIN_SLABS).bit_length()
    elif n_usual > USUAL_SLABS:
        shift = (vdev_bytes // USUAL_SLABS).bit_length()
    return 1 << min(max(shift, MIN_SLAB_SHIFT), MAX_SLAB_SHIFT)
