"""A layout in whole numbers, as the engines read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import Family
from diskmodel.layout.md.fields import STRIPE_PAGE_BYTES, ReadPolicy, Rotation, WritePolicy
from diskmodel.layout.md.journal import (
    PARTIAL_BYTES,
    PARTIAL_ENTRIES,
    PARTIAL_FIRST_BYTES,
    PARTIAL_ROOM_BYTES,
    RECLAIM_BYTES,
    SUPER_BYTES,
    JournalTables,
    PartialTables,
)
from diskmodel.layout.own_devices import own_device_tables
from diskmodel.layout.passes import Rebuild, SyncAction
from diskmodel.layout.pools.records import PoolTables
from diskmodel.layout.pools.scan import records_of, scanned_vdevs

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
        Sectors of one rebuild step; of a pool what a record takes of a disk in the mean, of dRAID of all disks of its
        vdev.
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
    def has_rows(self) -> bool:
        """Whether rows of strips have parity."""
        return self.family == "parity"

    @property
    def is_striped(self) -> bool:
        """Whether blocks go round the disks, and not from one disk's end to the next one's beginning."""
        return self.family != "concat"

    @property
    def unit(self) -> int:
        """Sectors of the host that lie next to each other on a disk: a strip, or all of a disk."""
        return self.strip if self.is_striped else self.member

    @property
    def copies_written(self) -> int:
        """Copies of a strip that a write goes to."""
        return self.copies if self.family == "copies" else 1

    @property
    def logs_stripes(self) -> bool:
        """Whether stripes are in a log before they are on the members (rules Y13 and Y16)."""
        return self.journal is not None or self.ppl is not None

    @property
    def pieces_of_each(self) -> int:
        """Disks that a strip of data is written to: its own, those of its copies and its parity."""
        return self.copies_written + self.n_parity

    @property
    def window_disks(self) -> int:
        """Disks that a window of a rebuild is of: 1, or those of a vdev of dRAID."""
        return 1 if self.pool is None or self.pool.draid is None else self.n_disks // self.n_groups

    @property
    def has_new_disk(self) -> bool:
        """Whether disk `n_disks`, of its own, takes what a rebuild writes: none does where a spare is distributed."""
        return self.rebuild_disk >= 0 and not (self.pool is not None and self.pool.fills_spare)

    @property
    def rebuild_end(self) -> int:
        """Sectors that a pass over the members goes through of a disk; of a pool what is stored, of all vdevs.

        Of dRAID they are those of `window_disks`.
        """
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
    """Return a RAID `layout` over disks of `disk_sectors` sectors; that of a pool is `pools.tables.pool_tables`.

    Raises
    ------
    DescriptionError
        When a size is no multiple of the sector, or does not fit on the disk.
    """
    strip = layout.kind.strip_sectors or sectors_of(layout.strip_bytes, sector_bytes, "layout.strip_bytes")
    offset = sectors_of(layout.data_offset_bytes, sector_bytes, "layout.data_offset_bytes")
    used = disk_sectors
    if layout.member_bytes is not None:
        used = sectors_of(layout.member_bytes, sector_bytes, "layout.member_bytes")
    if used > disk_sectors:
        raise fault(
            "layout.member_bytes", used * sector_bytes, f"the disk has {disk_sectors * sector_bytes} bytes", "use less"
        )
    family = layout.kind.family
    slots = layout.n_copies if layout.arrangement == "far" else 1
    member = (used - offset) // (strip * slots) * strip * slots
    if member <= 0:
        raise fault(
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


def lost_disk(layout: Layout, rebuild: Rebuild) -> int:
    """Return the disk that is rebuilt; -1 where the pass goes through all disks."""
    if rebuild.action != "recover":
        return -1
    return layout.failed[0] if rebuild.disk is None else rebuild.disk


def _rebuild(layout: Layout, member: int, sector_bytes: int) -> dict[str, Any]:
    rebuild = layout.rebuild
    if rebuild is None:
        return {}
    window = sectors_of(rebuild.window_bytes, sector_bytes, "layout.rebuild.window_bytes")
    steps = rebuild.steps_at_once
    if steps is None:
        steps = max(1, IN_PROGRESS_BYTES[layout.kind.family] // rebuild.window_bytes)
    return {
        "sync_action": rebuild.action,
        "rebuild_disk": lost_disk(layout, rebuild),
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
    chunk = sectors_of(bitmap.chunk_bytes, sector_bytes, "layout.bitmap.chunk_bytes")
    start, page = BITMAP_START_BYTES // sector_bytes, max(BITMAP_PAGE_BYTES // sector_bytes, 1)
    covered = member if layout.kind.family == "parity" else capacity
    n_bits = HEADER_BITS - (-covered // chunk)
    end = start - (-n_bits // (8 * sector_bytes))
    if end > disk_sectors:
        rule = f"needs the sectors {start} to {end - 1} on a disk of {disk_sectors}"
        raise fault("layout.bitmap.chunk_bytes", bitmap.chunk_bytes, rule, "use larger chunks")
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
    page = sectors_of(STRIPE_PAGE_BYTES, sector_bytes, "layout.stripe_cache_pages")
    return {"stripe_cache": layout.stripe_cache_pages, "stripe_page": page}


def _journal(layout: Layout, data_offset: int, sector_bytes: int) -> JournalTables | None:
    log = layout.log
    if log is None:
        return None
    size = 4 * RECLAIM_BYTES if log.size_bytes is None else log.size_bytes
    blocks = size // STRIPE_PAGE_BYTES
    return JournalTables(
        device=own_device_tables(log),
        flush_ns=log.flush_ns,
        blocks=blocks,
        reclaimed=min(blocks // 4, RECLAIM_BYTES // STRIPE_PAGE_BYTES),
        page=sectors_of(STRIPE_PAGE_BYTES, sector_bytes, "layout.log"),
        # disks without room before the data have it at their beginning: the arm goes as far
        super_first=SUPER_BYTES // sector_bytes if data_offset > SUPER_BYTES // sector_bytes else 0,
    )


def _partial(layout: Layout, disk_sectors: int, sector_bytes: int) -> PartialTables | None:
    if layout.consistency_policy != "ppl":
        return None
    page = sectors_of(STRIPE_PAGE_BYTES, sector_bytes, "layout.consistency_policy")
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
    return layout.read_strips == "separate" and layout.has_strips_to_cut


def _largest_request(layout: Layout, sector_bytes: int) -> int:
    """Return the length beyond which a request is out of order; 0: none is, as where there are no strips (rule L14)."""
    if layout.largest_request_bytes is None or (layout.n_copies == layout.disks and layout.arrangement == "near"):
        return 0
    return sectors_of(layout.largest_request_bytes, sector_bytes, "layout.largest_request_bytes")


def sectors_of(size_bytes: int, sector_bytes: int, field: str) -> int:
    if size_bytes % sector_bytes:
        nearest = max(round(size_bytes / sector_bytes), 1) * sector_bytes
        raise fault(field, size_bytes, f"must be a multiple of the sector size {sector_bytes}", f"try {nearest}")
    return size_bytes // sector_bytes


def fault(field: str, value: int, rule: str, fix: str) -> DescriptionError:
    return DescriptionError(Fault(field, value, rule, fix))
