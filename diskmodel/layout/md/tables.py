"""RAID of Linux md, or of a controller, in whole numbers, as the engines read it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.auxiliary_devices import MIN_JOURNAL_BYTES
from diskmodel.layout.description import Layout
from diskmodel.layout.md.fields import STRIPE_PAGE_BYTES, Rotation, WritePolicy
from diskmodel.layout.md.journal import (
    PARTIAL_BYTES,
    PARTIAL_ENTRIES,
    PARTIAL_FIRST_BYTES,
    PARTIAL_ROOM_BYTES,
    RECLAIM_BYTES,
    SUPER_BYTES,
    JournalTables,
    PartialTables,
    journal_bytes,
)
from diskmodel.layout.passes import STEP_BYTES, Rebuild
from diskmodel.layout.tables import CopyPolicy, LayoutTables, fault, lost_disk, sectors_of, used_sectors
from diskmodel.loading import dataclass

#: How parity rotates; "none": it stays on the last disks of a group.
RowRotation = Rotation | Literal["none"]


@dataclass(frozen=True, kw_only=True)
class MdTables(LayoutTables):
    """RAID in sectors: what other kinds do not have.

    Attributes
    ----------
    family : "concat", "copies" or "parity"
        Disks end to end; strips with `copies` copies (1: RAID 0); rows with parity.
    far : bool
    rotation : str
        How parity rotates over the rows of a group.
    write_policy : str
        What is read for a write of part of a row.
    cuts_reads : bool
        Every strip of a read is a command of its own (rule L4).
    largest_request : int
        Sectors of the longest request that the members take, where longer ones come to their strips out of order; 0:
        all come in order (rule L14).
    huge_page_ppm : int
        Share of requests that are not cut there, in millionths.
    holds_disks : bool
        A disk is held between the read and the write of a read-modify-write (rule L12).
    rebuild_steps : int
        Rebuild steps that may be in progress at the same time.
    rebuild_gap_ns : int
        Least time between the starts of two rebuild steps (the rate limit).
    rebuild_speed_min : int
        Sectors per second below which the rebuild does not yield.
    rebuild_idle : int
        Sectors that others may use of a disk without the rebuild yielding.
    rebuild_pause_ns : int
        Time that the rebuild sleeps where requests wait for its steps (rule R8); 0: neither waits for the other.
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
    """

    kind: ClassVar[str] = "md"
    #: Of pools alone.
    pool: ClassVar[None] = None

    family: Literal["concat", "copies", "parity"]
    far: bool
    rotation: RowRotation
    write_policy: WritePolicy
    cuts_reads: bool = False
    largest_request: int = 0
    huge_page_ppm: int = 0
    holds_disks: bool = False
    rebuild_steps: int = 1
    rebuild_gap_ns: int = 0
    rebuild_speed_min: int = 0
    rebuild_idle: int = 0
    rebuild_pause_ns: int = 0
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

    @property
    def md(self) -> Self:
        """These tables."""
        return self

    @property
    def logs_stripes(self) -> bool:
        """Whether stripes are in a log before they are on the members (rules Y13 and Y16)."""
        return self.journal is not None or self.ppl is not None


#: What Linux md has in progress during a rebuild, bytes of a member: 256 stripes of 4 KiB with parity (`NR_STRIPES`),
#: 32 parts of 64 KiB with copies (`RESYNC_DEPTH`). At half, a step may wait for the one before.
IN_PROGRESS_BYTES = {"parity": 1 << 20, "copies": 2 << 20, "concat": 0}
#: The part of a step for which Linux md raises a barrier (`RESYNC_BLOCK_SIZE`), bytes: all that passes between requests
#: that wait.
BARRIER_BYTES = 64 << 10
#: How long its thread sleeps where requests wait (`schedule_timeout_uninterruptible(1)`): a tick at 250 Hz, as Debian
#: and SUSE have it; at the 1,000 Hz of others a rebuild of flash is faster beside a load.
JIFFY_NS = 4_000_000
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


def shape_of(layout: Layout, disk_sectors: int, sector_bytes: int) -> dict[str, Any]:
    """Return what strips over disks of `disk_sectors` sectors have, one disk or several: fields of their tables.

    Raises
    ------
    DescriptionError
        When a size is no multiple of the sector, or does not fit on the disk.
    """
    strip = layout.kind.strip_sectors or sectors_of(layout.strip_bytes, sector_bytes, "layout.strip_bytes")
    offset = sectors_of(layout.data_offset_bytes, sector_bytes, "layout.data_offset_bytes")
    used = used_sectors(layout, disk_sectors, sector_bytes)
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
    return {
        "family": family,
        "n_disks": layout.disks,
        "n_spares": layout.spares,
        "strip": strip,
        "member": member,
        "data_offset": offset,
        "copies": layout.n_copies,
        "n_groups": layout.n_groups,
        "n_data": layout.data_strips if family == "parity" else 0,
        "n_parity": layout.parity_strips,
        "read_policy": _read_policy(layout),
        "failed": tuple(sorted(layout.failed)),
        "capacity": capacity,
    }


def md_tables(layout: Layout, disk_sectors: int, sector_bytes: int) -> MdTables:
    """Return RAID over disks of `disk_sectors` sectors.

    Raises
    ------
    DescriptionError
        When a size is no multiple of the sector, or does not fit on the disk.
    """
    shape = shape_of(layout, disk_sectors, sector_bytes)
    capacity, member, offset = shape["capacity"], shape["member"], shape["data_offset"]
    return MdTables(
        **shape,
        far=layout.arrangement == "far",
        rotation=layout.rotation if layout.kind.rotates else "none",
        write_policy=layout.write_policy,
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


def _rebuild(layout: Layout, member: int, sector_bytes: int) -> dict[str, Any]:
    rebuild = layout.rebuild
    if rebuild is None:
        return {}
    window_bytes = step_bytes(layout, rebuild)
    window = sectors_of(window_bytes, sector_bytes, "layout.rebuild.window_bytes")
    steps = rebuild.steps_at_once
    if steps is None:
        steps = max(1, IN_PROGRESS_BYTES[layout.kind.family] // window_bytes)
    return {
        "sync_action": rebuild.action,
        "rebuild_disk": lost_disk(layout, rebuild),
        "rebuild_window": window,
        "rebuild_steps": min(steps, MAX_STEPS_AT_ONCE),
        "rebuild_gap_ns": int(window_bytes * 1e9 / layout.fastest_rebuild(rebuild)),
        "rebuild_speed_min": int(min(rebuild.speed_min_bytes_per_s, MAX_SPEED) / sector_bytes),
        "rebuild_idle": IDLE_BYTES // sector_bytes,
        "rebuild_pause_ns": JIFFY_NS * has_barriers(layout, rebuild),
        "rebuild_front": int(member * rebuild.front_ratio) // window * window,
    }


def has_barriers(layout: Layout, rebuild: Rebuild) -> bool:
    """Whether requests and steps wait for each other, at the barriers of Linux's RAID 10, which are for all of it."""
    return layout.kind.has_striped_copies and rebuild.has_barriers is not False


def step_bytes(layout: Layout, rebuild: Rebuild) -> int:
    """Return the size of a step of a rebuild on a disk."""
    if rebuild.window_bytes is not None:
        return rebuild.window_bytes
    return BARRIER_BYTES if has_barriers(layout, rebuild) else STEP_BYTES


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
    size = journal_bytes(log)
    if size < MIN_JOURNAL_BYTES:
        fix = "use a larger drive"
        raise DescriptionError(Fault("layout.log", log.in_words, "has no room for a journal", fix))
    blocks = size // STRIPE_PAGE_BYTES
    return JournalTables(
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
