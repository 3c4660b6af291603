"""A layout in whole numbers, as the engines read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import pool_streams, pool_writes, scan_tables
from diskmodel.layout.description import (
    STRIPE_PAGE_BYTES,
    Layout,
    ReadPolicy,
    Rebuild,
    Rotation,
    SyncAction,
    WritePolicy,
)
from diskmodel.layout.journal import (
    PARTIAL_BYTES,
    PARTIAL_ENTRIES,
    PARTIAL_FIRST_BYTES,
    PARTIAL_ROOM_BYTES,
    RECLAIM_BYTES,
    SUPER_BYTES,
    JournalTables,
    PartialTables,
)
from diskmodel.layout.levels import Family
from diskmodel.layout.pool import (
    ACTIVE_READS,
    COPY_TURN_BYTES,
    GATHER_BYTES,
    GATHER_GAP_BYTES,
    NEAR_BYTES,
    PoolTables,
    swap_blocks_of,
)
from diskmodel.layout.pool_streams import ReadTables
from diskmodel.layout.pool_writes import WriteTables
from diskmodel.layout.scan import records_of, scanned_vdevs
from diskmodel.layout.scan_tables import ScanTables

#: How parity rotates; "none": it stays on the last disks of a group.
RowRotation = Rotation | Literal["none"]
#: "nearest" applies to RAID 1; "idle-or-nearest" and "lowest" are its meanings for near and far copies; "least-loaded"
#: is what OpenZFS does.
CopyPolicy = ReadPolicy | Literal["idle-or-nearest", "lowest", "least-loaded"]


@dataclass(frozen=True)
class LayoutTables:
    """Layout in sectors.

    Attributes
    ----------
    family : "concat", "copies", "parity" or "pool"
        Disks end to end; strips with `copies` copies (1: RAID 0); rows with parity; vdevs of OpenZFS.
    n_disks, n_spares : int
    strip : int
        Sectors of a strip.
    member : int
        Sectors of each disk that are used for data (whole strips).
    data_offset : int
        First sector of data on each disk.
    copies : int
    far : bool
    n_groups, n_data, n_parity : int
        Parity groups, and the strips of one of their rows; of a pool the vdevs, and the columns of a full record.
    rotation : str
        How parity rotates over the rows of a group.
    read_policy : str
        Which copy serves a read.
    write_policy : str
        What is read for a write of part of a row.
    failed : tuple of int
    capacity : int
        Sectors that the host sees.
    cuts_reads : bool
        Every strip of a read is a command of its own (rule L4).
    largest_request : int
        Sectors of the longest request that the members take, where longer ones come to their strips out of order; 0:
        all come in order (rule L14).
    huge_page_ppm : int
        Share of requests that are not cut there, in millionths.
    holds_disks : bool
        A disk is held between the read and the write of a read-modify-write (rule L12).
    sync_action : "none", "recover", "check" or "resync"
        Which pass over the members goes on; the other fields of a rebuild describe it.
    rebuild_disk : int
        Failed disk that is rebuilt onto the spare (disk number n_disks), or -1.
    rebuild_window : int
        Sectors of one rebuild step; of a pool what a record takes of a disk in the mean.
    rebuild_steps : int
        Rebuild steps that may be in progress at the same time.
    rebuild_gap_ns : int
        Least time between the starts of two rebuild steps (the rate limit).
    rebuild_speed_min : int
        Sectors per second below which the rebuild does not yield.
    rebuild_idle : int
        Sectors that others may use of a disk without the rebuild yielding.
    rebuild_front : int
        Sectors of the disk's data area already rebuilt at time 0; of a pool whole windows of records, of all vdevs.
    bitmap_chunk : int
        Sectors that a bit of the write-intent bitmap stands for; 0: no bitmap.
    bitmap_start, bitmap_end, bitmap_page : int
        First sector of the bitmap on each disk and the first one behind it, and sectors of one of its pages.
    bitmap_interval_ns, bitmap_flush_ns : int
        Time between wake-ups of the daemon, and of a flush.
    stripe_cache, stripe_page : int
        Pages of each disk that md's stripe cache keeps (0: none), and sectors of one of them.
    journal : JournalTables, optional
        Of an array with a journal (rule Y13).
    ppl : PartialTables, optional
        Of an array with a log of partial parity (rule Y16).
    pool : PoolTables, optional
        Of a pool.
    """

    family: Family
    n_disks: int
    n_spares: int
    strip: int
    member: int
    data_offset: int
    copies: int
    far: bool
    n_groups: int
    n_data: int
    n_parity: int
    rotation: RowRotation
    read_policy: CopyPolicy
    write_policy: WritePolicy
    failed: tuple[int, ...]
    capacity: int
    cuts_reads: bool = False
    largest_request: int = 0
    huge_page_ppm: int = 0
    holds_disks: bool = False
    sync_action: SyncAction | Literal["none"] = "none"
    rebuild_disk: int = -1
    rebuild_window: int = 0
    rebuild_steps: int = 1
    rebuild_gap_ns: int = 0
    rebuild_speed_min: int = 0
    rebuild_idle: int = 0
    rebuild_front: int = 0
    bitmap_chunk: int = 0
    bitmap_start: int = 0
    bitmap_end: int = 0
    bitmap_page: int = 0
    bitmap_interval_ns: int = 0
    bitmap_flush_ns: int = 0
    stripe_cache: int = 0
    stripe_page: int = 0
    journal: JournalTables | None = None
    ppl: PartialTables | None = None
    pool: PoolTables | None = None

    @property
    def logs_stripes(self) -> bool:
        """Whether stripes are in a log before they are on the members (rules Y13 and Y16)."""
        return self.journal is not None or self.ppl is not None

    @property
    def pieces_of_each(self) -> int:
        """Disks that a strip of data is written to: its own, those of its copies and its parity."""
        return (self.copies if self.family == "copies" else 1) + self.n_parity

    @property
    def rebuild_end(self) -> int:
        """Sectors of a disk that a pass over the members goes through; of a pool what is stored on it, of all vdevs."""
        if self.pool is None:
            return self.member
        n = self.pool.scan.records
        return sum(records_of(self, n, vdev) for vdev in scanned_vdevs(self)) * self.rebuild_window


#: What Linux md has in progress during a rebuild, bytes of a member: 256 stripes of 4 KiB with parity (`NR_STRIPES`),
#: 32 parts of 64 KiB with copies (`RESYNC_DEPTH`). At half, a step may wait for the one before.
IN_PROGRESS_BYTES = {"parity": 1 << 20, "copies": 2 << 20, "concat": 0, "pool": 0}
#: A speed that no disk reaches, bytes/s: a rebuild that is to reach it never yields.
MAX_SPEED = 1e12
#: The most steps at once, however small the window.
MAX_STEPS_AT_ONCE = 1024
#: What others may use of a disk while Linux md still takes the array for idle, bytes (64 sectors in `is_mddev_idle`).
IDLE_BYTES = 64 * 512

#: Where Linux md (superblock 1.2) keeps an internal bitmap, bytes from the start of a member: behind the superblock at
#: 4 KiB. Anywhere below the data the arm goes as far.
BITMAP_START_BYTES = 8192
#: What comes before the first bit, bits: the bitmap has a superblock of 256 bytes of its own.
HEADER_BITS = 256 * 8
#: A page of the bitmap, the unit in which it is written, bytes; of the last one only the sectors in use.
BITMAP_PAGE_BYTES = 4096


def layout_tables(layout: Layout, disk_sectors: int, sector_bytes: int) -> LayoutTables:
    """Return `layout` over disks of `disk_sectors` sectors.

    Raises
    ------
    DescriptionError
        When a size is no multiple of the sector, or does not fit on the disk.
    """
    if layout.kind.is_pool:
        return _pool_tables(layout, disk_sectors, sector_bytes)
    strip = layout.kind.strip_sectors or _sectors(layout.strip_bytes, sector_bytes, "layout.strip_bytes")
    offset = _sectors(layout.data_offset_bytes, sector_bytes, "layout.data_offset_bytes")
    used = disk_sectors
    if layout.member_bytes is not None:
        used = _sectors(layout.member_bytes, sector_bytes, "layout.member_bytes")
    if used > disk_sectors:
        raise _fault(
            "layout.member_bytes", used * sector_bytes, f"the disk has {disk_sectors * sector_bytes} bytes", "use less"
        )
    family = layout.kind.family
    slots = layout.n_copies if layout.arrangement == "far" else 1
    member = (used - offset) // (strip * slots) * strip * slots
    if member <= 0:
        raise _fault(
            "layout.strip_bytes", layout.strip_bytes, "no whole strip fits on the disk", "use a smaller strip or offset"
        )
    if family == "parity":
        capacity = member * layout.data_strips * layout.n_groups
    elif family == "copies":
        capacity = member // strip * layout.disks // layout.n_copies * strip
    else:
        capacity = member * layout.disks
    return LayoutTables(
        family=family,
        n_disks=layout.disks,
        n_spares=layout.spares,
        strip=strip,
        member=member,
        data_offset=offset,
        copies=layout.n_copies,
        far=layout.arrangement == "far",
        n_groups=layout.n_groups,
        n_data=layout.data_strips if family == "parity" else 0,
        n_parity=layout.parity_strips,
        rotation=layout.rotation if layout.kind.rotates else "none",
        read_policy=_read_policy(layout),
        write_policy=layout.write_policy,
        failed=tuple(sorted(layout.failed)),
        capacity=capacity,
        cuts_reads=_cuts_reads(layout),
        largest_request=_largest_request(layout, sector_bytes),
        huge_page_ppm=round(layout.huge_page_ratio * 1_000_000),
        holds_disks=layout.read_modify_write == "held",
        **_rebuild(layout, member, sector_bytes),
        **_bitmap(layout, capacity, member, disk_sectors, sector_bytes),
        **_stripes(layout, sector_bytes),
        journal=_journal(layout, offset, sector_bytes),
        ppl=_partial(layout, disk_sectors, sector_bytes),
    )


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
#: What was written in the first transaction group lies one metadata block further, bytes. Measured: 38 to 46 MiB of
#: files with records of 8 and 32 KiB, in a machine whose first group had 49 MiB. It matters where records always begin
#: on the same disk, and for the first files only.
EARLY_BYTES = 48 << 20
#: Space that a pool keeps to itself: 1/32 of it (`spa_slop_shift`), at least 128 MiB and at most 128 GiB.
SLOP_SHARE, MIN_SLOP_BYTES, MAX_SLOP_BYTES = 32, 128 << 20, 128 << 30


def _pool_tables(layout: Layout, disk_sectors: int, sector_bytes: int) -> LayoutTables:
    """Return a pool over disks of `disk_sectors` sectors (rules X1 to X4)."""
    block = _sectors(layout.block_bytes, sector_bytes, "layout.ashift")
    reserved = PARTITION_BYTES + LABELS_BEFORE_BYTES if layout.data_offset_bytes == 0 else layout.data_offset_bytes
    offset = _sectors(reserved, sector_bytes, "layout.data_offset_bytes")
    used = disk_sectors
    if layout.member_bytes is not None:
        used = _sectors(layout.member_bytes, sector_bytes, "layout.member_bytes")
    if used > disk_sectors:
        rule = f"the disk has {disk_sectors * sector_bytes} bytes"
        raise _fault("layout.member_bytes", used * sector_bytes, rule, "use less")
    n_parity, width = layout.parity_strips, layout.group_disks
    n_data = width - n_parity if n_parity else 1
    member_blocks = (used - offset - LABELS_BEHIND_BYTES // sector_bytes) // block
    vdev_bytes = member_blocks * (width if n_parity else 1) * layout.block_bytes
    slab_bytes = _slab_bytes(vdev_bytes)
    n_slabs = max(vdev_bytes, 0) // slab_bytes
    if n_slabs < 1:
        fix = "use larger disks"
        raise _fault("layout.disks", layout.disks, f"a vdev has no room for a metaslab of {slab_bytes} bytes", fix)
    n_blocks = layout.pool_record_bytes // layout.block_bytes
    stored = n_blocks
    shift = 0
    if n_parity:
        stored = n_blocks + n_parity * -(-n_blocks // n_data)
        stored = -(-stored // (n_parity + 1)) * (n_parity + 1)
        shift = n_parity + 1
    late = math.lcm(width, shift) if shift else 0
    slab_blocks = slab_bytes // layout.block_bytes
    slab_records = (slab_blocks - late) // stored
    half_records = slab_records // 2
    if half_records < 1:
        rule, fix = f"a metaslab of {slab_bytes} bytes has no room for two", "use smaller records"
        raise _fault("layout.record_bytes", layout.pool_record_bytes, rule, fix)
    record = layout.pool_record_bytes // sector_bytes
    vdevs = layout.n_groups
    slop = min(max(n_slabs * slab_bytes * vdevs // SLOP_SHARE, MIN_SLOP_BYTES), MAX_SLOP_BYTES)
    kept = -(-slop // (stored * layout.block_bytes))
    turn = max(TURN_BYTES * n_data // (stored * layout.block_bytes), 1)
    # whole turns of every vdev, so that no record lies behind the last metaslab
    records = n_slabs * slab_records // turn * turn * vdevs - kept
    if records < 1:
        raise _fault("layout.disks", layout.disks, "the pool has no room beside what it keeps", "use larger disks")
    tables = LayoutTables(
        family="pool",
        n_disks=layout.disks,
        n_spares=layout.spares,
        strip=record,
        member=member_blocks * block,
        data_offset=offset,
        copies=layout.n_copies,
        far=False,
        n_groups=vdevs,
        n_data=n_data,
        n_parity=n_parity,
        rotation="none",
        read_policy="least-loaded",
        write_policy="fewest",
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
            early_blocks=shift,
            late_blocks=late,
            swap_blocks=swap_blocks_of(layout.block_bytes) if n_parity == 1 else 0,
            near=max(NEAR_BYTES // sector_bytes, 1),
            turn_of_copies=max(COPY_TURN_BYTES // sector_bytes, 1),
            most_active=ACTIVE_READS,
            gather_gap=GATHER_GAP_BYTES // sector_bytes,
            gather=GATHER_BYTES // sector_bytes,
            reads=_read_tables(layout.pool_record_bytes),
            writes=_write_tables(layout, sector_bytes, records + kept, n_slabs, offset, member_blocks * block),
            scan=_scan_tables(layout, sector_bytes, records, n_data),
        ),
    )
    return _with_scan(layout, tables)


def _scan_tables(layout: Layout, sector_bytes: int, records: int, n_data: int) -> ScanTables:
    """Return how a scan goes on (rules X14 and X20 to X22)."""
    ratio = None if layout.rebuild is None else layout.rebuild.used_ratio
    ratio = scan_tables.USUAL_USED_RATIO if ratio is None else ratio
    is_scrub = layout.rebuild is not None and layout.rebuild.action != "recover"
    return ScanTables(
        records=int(records * ratio),
        in_flight=scan_tables.IN_FLIGHT_BYTES * n_data // sector_bytes,
        least_ns=scan_tables.SCRUB_LEAST_NS if is_scrub else scan_tables.RESILVER_LEAST_NS,
        active_least=scan_tables.ACTIVE_READS[0],
        active_most=scan_tables.ACTIVE_READS[1],
        quiet=scan_tables.QUIET_READS,
        credit=scan_tables.CREDIT,
    )


def _with_scan(layout: Layout, tables: LayoutTables) -> LayoutTables:
    """Return the tables of a pool with the scan of the layout, if it has one (rules X20 and X22)."""
    rebuild, pool = layout.rebuild, tables.pool
    if rebuild is None or pool is None:
        return tables
    lost = _lost_disk(layout, rebuild)
    window = max(pool.stored * pool.block // (layout.group_disks if layout.parity_strips else 1), 1)
    begun = replace(tables, sync_action=rebuild.action, rebuild_disk=lost, rebuild_window=window)
    return replace(begun, rebuild_front=int(begun.rebuild_end // window * rebuild.done_ratio) * window)


def _read_tables(record_bytes: int) -> ReadTables:
    """Return how a pool reads ahead (rules X18 and X19)."""
    return ReadTables(
        streams=pool_streams.STREAMS,
        reap_ns=pool_streams.REAP_NS,
        least=max(pool_streams.LEAST_AHEAD_BYTES // record_bytes, 1),
        most=max(pool_streams.MOST_AHEAD_BYTES // record_bytes, 1),
        held=max(pool_streams.STREAMS * pool_streams.MOST_AHEAD_BYTES // record_bytes, 1),
        active=pool_streams.ACTIVE_AHEAD,
    )


def _write_tables(
    layout: Layout, sector_bytes: int, n_records: int, n_slabs: int, data_offset: int, member: int
) -> WriteTables:
    """Return how a pool writes (rules X9 to X16)."""
    dirty_bytes = layout.dirty_data_max_bytes or pool_writes.DIRTY_BYTES
    label = layout.block_bytes // sector_bytes
    # rings of uberblocks fill the second half of a label of 256 KiB, two labels at each end
    before, half, apart = (n // sector_bytes for n in (LABELS_BEFORE_BYTES, 128 << 10, 256 << 10))

    def dirty(share: float) -> int:
        return max(round(dirty_bytes * share) // sector_bytes, 1)

    return WriteTables(
        is_logged=layout.sync != "disabled",
        group_ns=pool_writes.GROUP_NS,
        dirty_group=dirty(pool_writes.GROUP_SHARE),
        dirty_most=dirty(1.0),
        delay_from=dirty(pool_writes.DELAY_SHARE),
        more_from=dirty(pool_writes.MORE_FROM_SHARE),
        more_to=dirty(pool_writes.MORE_TO_SHARE),
        delay_ns=pool_writes.DELAY_NS,
        longest_delay_ns=pool_writes.LONGEST_DELAY_NS,
        active_least=pool_writes.ACTIVE_GROUP_WRITES[0],
        active_most=pool_writes.ACTIVE_GROUP_WRITES[1],
        allocated=pool_writes.ALLOCATED,
        allocated_first=pool_writes.ALLOCATED_FIRST,
        turn_blocks=max(TURN_BYTES * (layout.data_strips if layout.parity_strips else 1) // layout.block_bytes, 1),
        n_records=n_records,
        log_block=pool_writes.LOG_BLOCK_BYTES,
        log_header=pool_writes.LOG_HEADER_BYTES,
        direct_from=0 if layout.log is not None else max(pool_writes.DIRECT_BYTES // sector_bytes, 1),
        log_wait_percent=pool_writes.LOG_WAIT_PERCENT,
        log_bursts=pool_writes.LOG_BURSTS,
        log_device_ns=0 if layout.log is None else layout.log.write_ns,
        log_device_bytes_per_s=1 if layout.log is None else max(round(layout.log.bytes_per_s), 1),
        log_slab=1 % n_slabs,
        metadata_slab=2 % n_slabs,
        slabs_apart=max(n_slabs // 8, 1),
        pointers=pool_writes.POINTERS,
        indirect=max(pool_writes.INDIRECT_BYTES // sector_bytes, 1),
        record_ns=-1 if layout.record_work_ns is None else layout.record_work_ns,
        indirect_blocks=-(-pool_writes.POINTERS * pool_writes.POINTER_BYTES // layout.block_bytes),
        indirect_copies=pool_writes.INDIRECT_COPIES,
        above_file=pool_writes.ABOVE_FILE,
        rounds=pool_writes.ROUNDS,
        allocators=pool_writes.ALLOCATORS,
        objects=pool_writes.OBJECTS,
        object_blocks=-(-pool_writes.OBJECT_BYTES // layout.block_bytes),
        object_copies=pool_writes.METADATA_COPIES,
        gather_gap=pool_writes.WRITE_GAP_BYTES // sector_bytes if layout.parity_strips else 0,
        label_first=max(data_offset - before + half, 0),
        label_last=data_offset + member,
        label_apart=apart,
        label_sectors=label,
        labeled_vdevs=pool_writes.LABELED_VDEVS,
    )


def _slab_bytes(vdev_bytes: int) -> int:
    """Return the length of a metaslab (`vdev_metaslab_set_size`)."""
    n_usual = max(vdev_bytes, 1) >> USUAL_SLAB_SHIFT
    shift = USUAL_SLAB_SHIFT
    if n_usual < MIN_SLABS:
        shift = (max(vdev_bytes, 1) // MIN_SLABS).bit_length()
    elif n_usual > USUAL_SLABS:
        shift = (vdev_bytes // USUAL_SLABS).bit_length()
    return 1 << min(max(shift, MIN_SLAB_SHIFT), MAX_SLAB_SHIFT)


def _lost_disk(layout: Layout, rebuild: Rebuild) -> int:
    """Return the disk that is rebuilt; -1 where the pass goes through all disks."""
    if rebuild.action != "recover":
        return -1
    return layout.failed[0] if rebuild.disk is None else rebuild.disk


def _rebuild(layout: Layout, member: int, sector_bytes: int) -> dict[str, Any]:
    rebuild = layout.rebuild
    if rebuild is None:
        return {}
    window = _sectors(rebuild.window_bytes, sector_bytes, "layout.rebuild.window_bytes")
    steps = rebuild.steps_at_once
    if steps is None:
        steps = max(1, IN_PROGRESS_BYTES[layout.kind.family] // rebuild.window_bytes)
    return {
        "sync_action": rebuild.action,
        "rebuild_disk": _lost_disk(layout, rebuild),
        "rebuild_window": window,
        "rebuild_steps": min(steps, MAX_STEPS_AT_ONCE),
        "rebuild_gap_ns": int(rebuild.window_bytes * 1e9 / layout.fastest_rebuild(rebuild)),
        "rebuild_speed_min": int(min(rebuild.speed_min_bytes_per_s, MAX_SPEED) / sector_bytes),
        "rebuild_idle": IDLE_BYTES // sector_bytes,
        "rebuild_front": int(member * rebuild.done_ratio) // window * window,
    }


def _bitmap(layout: Layout, capacity: int, member: int, disk_sectors: int, sector_bytes: int) -> dict[str, Any]:
    bitmap = layout.bitmap
    if bitmap is None:
        return {}
    chunk = _sectors(bitmap.chunk_bytes, sector_bytes, "layout.bitmap.chunk_bytes")
    start, page = BITMAP_START_BYTES // sector_bytes, max(BITMAP_PAGE_BYTES // sector_bytes, 1)
    covered = member if layout.kind.family == "parity" else capacity
    n_bits = HEADER_BITS - (-covered // chunk)
    end = start - (-n_bits // (8 * sector_bytes))
    if end > disk_sectors:
        rule = f"needs the sectors {start} to {end - 1} on a disk of {disk_sectors}"
        raise _fault("layout.bitmap.chunk_bytes", bitmap.chunk_bytes, rule, "use larger chunks")
    return {
        "bitmap_chunk": chunk,
        "bitmap_start": start,
        "bitmap_end": end,
        "bitmap_page": page,
        "bitmap_interval_ns": bitmap.clear_interval_ns,
        "bitmap_flush_ns": bitmap.flush_ns,
    }


def _stripes(layout: Layout, sector_bytes: int) -> dict[str, Any]:
    if layout.stripe_cache_pages is None:
        return {}
    page = _sectors(STRIPE_PAGE_BYTES, sector_bytes, "layout.stripe_cache_pages")
    return {"stripe_cache": layout.stripe_cache_pages, "stripe_page": page}


def _journal(layout: Layout, data_offset: int, sector_bytes: int) -> JournalTables | None:
    log = layout.log
    if log is None:
        return None
    size = 4 * RECLAIM_BYTES if log.size_bytes is None else log.size_bytes
    blocks = size // STRIPE_PAGE_BYTES
    return JournalTables(
        write_ns=log.write_ns,
        bytes_per_s=max(round(log.bytes_per_s), 1),
        flush_ns=log.flush_ns,
        blocks=blocks,
        reclaimed=min(blocks // 4, RECLAIM_BYTES // STRIPE_PAGE_BYTES),
        page=_sectors(STRIPE_PAGE_BYTES, sector_bytes, "layout.log"),
        # disks without room before the data have it at their beginning: the arm goes as far
        super_first=SUPER_BYTES // sector_bytes if data_offset > SUPER_BYTES // sector_bytes else 0,
    )


def _partial(layout: Layout, disk_sectors: int, sector_bytes: int) -> PartialTables | None:
    if layout.consistency_policy != "ppl":
        return None
    page = _sectors(STRIPE_PAGE_BYTES, sector_bytes, "layout.consistency_policy")
    first = PARTIAL_FIRST_BYTES // sector_bytes // page * page
    end = first + PARTIAL_BYTES // sector_bytes
    if end > disk_sectors:
        rule = f"needs the sectors {first} to {end - 1} of a disk of {disk_sectors}"
        raise DescriptionError(Fault("layout.consistency_policy", "ppl", rule, "remove it, or use larger disks"))
    return PartialTables(page, first, end, PARTIAL_ROOM_BYTES // STRIPE_PAGE_BYTES, PARTIAL_ENTRIES)


def _read_policy(layout: Layout) -> CopyPolicy:
    """Return the policy that "nearest" means for an arrangement of copies (rule L5)."""
    if layout.read_policy != "nearest" or layout.kind.default_copies == 0:
        return layout.read_policy
    return "lowest" if layout.arrangement == "far" else "idle-or-nearest"


def _cuts_reads(layout: Layout) -> bool:
    """Return whether a read is cut into strips; disks with the same content need no cut (rule L4)."""
    is_plain_mirror = layout.n_copies == layout.disks and layout.arrangement == "near"
    return layout.read_strips == "separate" and layout.kind.family != "concat" and not is_plain_mirror


def _largest_request(layout: Layout, sector_bytes: int) -> int:
    """Return the length beyond which a request is out of order; 0: none is, as where there are no strips (rule L14)."""
    if layout.largest_request_bytes is None or (layout.n_copies == layout.disks and layout.arrangement == "near"):
        return 0
    return _sectors(layout.largest_request_bytes, sector_bytes, "layout.largest_request_bytes")


def _sectors(size_bytes: int, sector_bytes: int, field: str) -> int:
    if size_bytes % sector_bytes:
        nearest = max(round(size_bytes / sector_bytes), 1) * sector_bytes
        raise _fault(field, size_bytes, f"must be a multiple of the sector size {sector_bytes}", f"try {nearest}")
    return size_bytes // sector_bytes


def _fault(field: str, value: int, rule: str, fix: str) -> DescriptionError:
    return DescriptionError(Fault(field, value, rule, fix))
