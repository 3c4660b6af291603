"""Fields of a layout of RAID, as the user writes them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from diskmodel.description import Description
from diskmodel.units import Bytes, Length, Nanoseconds, Ratio

Rotation = Literal["left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"]
ReadPolicy = Literal["nearest", "shortest-queue", "round-robin", "primary", "nearest-arm"]
WritePolicy = Literal["fewest", "read-modify-write", "reconstruct-write"]

#: A page of md's stripe cache, bytes; the most pages that it takes (`stripe_cache_size`); the most disks whose strips
#: fit into the bits of a word.
STRIPE_PAGE_BYTES = 4096
MAX_STRIPE_CACHE = 32_768
MAX_STRIPE_DISKS = 64


#: What keeps the rows of an array consistent when the power fails while they are written, in mdadm's words.
Consistency = Literal["resync", "bitmap", "journal", "ppl"]
#: Levels that have a journal in Linux md.
JOURNALED = ("raid4", "raid5", "raid6")
#: The most disks of an array with a journal: a block of 4 KiB of it lists a page of every disk of a stripe.
MAX_JOURNALED_DISKS = 203


class Bitmap(Description):
    """Write-intent bitmap, as of Linux md: which chunks may differ between members after a crash.

    Attributes
    ----------
    chunk_bytes : int
        What a bit stands for: of each member at levels with parity, of the array at mirrored ones. Default: 64 MiB,
        mdadm's for arrays of 100 GB and more. At half twice as many bits have to be set.
    clear_interval_ns : int
        Wake-ups of the daemon that clears bits. Default: 5 s, mdadm's.
    flush_ns : int
        Time that a drive takes to make its cache durable after a page of the bitmap was written. 0 where a write is
        durable when it ends; consumer SSDs take milliseconds.
    """

    chunk_bytes: Bytes = Field(default=64 << 20, gt=0)
    clear_interval_ns: Nanoseconds = Field(default=5_000_000_000, ge=1_000_000)
    flush_ns: Nanoseconds = 0


class StripFields(Description):
    """How strips, copies and parity lie on the disks, and how they are read and written.

    Attributes
    ----------
    strip_bytes : int
        Contiguous data on one disk before the next disk's turn.
    copies : int or None
        Copies of each block: all disks for raid1, 2 for raid1e and raid10 unless given.
    arrangement : "near" or "far"
        raid10: copies side by side, or in the other half of the next disk.
    groups : int or None
        raid50, raid60, erasure: parity groups the rows go round.
    n_parity : int or None
        erasure: parity strips in a row (k + m); implied by the other levels.
    rotation : str
        Where parity lies (raid5, raid6 and their groups, erasure).
    read_policy : str
        Which copy serves a read: "nearest" (as Linux md: an idle disk, else the one whose last completed request ended
        closest; RAID 1 keeps a sequential reader on its disk, far copies are read at their lowest address),
        "shortest-queue", "round-robin", "primary", "nearest-arm" (closest, idle or not).
    read_strips : "joined" or "separate"
        Strips of one read that adjoin on a disk: one command, or each its own, with a copy chosen for each (Linux md).
    largest_request_bytes : int or None
        raid10, raid1e: longest request that the members take. Linux md cuts longer ones there before it cuts them into
        strips, and then comes to the strips out of order: a revolution is lost in every such request. What
        `max_sectors_kb` says, or 4 KiB for each segment that the adapter takes (AHCI: 168, so 672 KiB). None: in order,
        as in other arrays.
    huge_page_ratio : float
        Share of requests whose data lies in huge pages of the host's memory: a few segments, so that they are not cut
        at `largest_request_bytes` where segments set that limit.
    write_policy : str
        Partial parity writes: "fewest" reads (a tie reconstructs), or one method always.
    read_modify_write : "released" or "held"
        What becomes of a disk between reading old data or parity and writing the new: others are served meanwhile, or
        the arm waits for the block to come round again (data first, then parity).
    """

    strip_bytes: Bytes = Field(default=64 << 10, gt=0)
    copies: int | None = Field(default=None, ge=1)
    arrangement: Literal["near", "far"] = "near"
    groups: int | None = Field(default=None, ge=1)
    n_parity: int | None = Field(default=None, ge=1)
    rotation: Rotation = "left-symmetric"
    read_policy: ReadPolicy = "nearest"
    read_strips: Literal["joined", "separate"] = "joined"
    largest_request_bytes: Length | None = Field(default=None, gt=0)
    huge_page_ratio: Ratio = 0.0
    write_policy: WritePolicy = "fewest"
    read_modify_write: Literal["released", "held"] = "released"


class ConsistencyFields(Description):
    """What Linux md does for stripes.

    Attributes
    ----------
    consistency_policy : "resync", "bitmap", "journal", "ppl" or None
        What keeps the disks of a row consistent after a power cut, in mdadm's words. None: a journal where there is a
        `log`, a bitmap where there is a `bitmap`, else what mdadm does: it gives arrays of 100 GB and more a bitmap.
        "resync": neither. "ppl": raid5 has a partial parity log on its own
        disks.
    bitmap : Bitmap or None
        Write-intent bitmap, near the beginning of each disk.
    stripe_cache_pages : int or None
        raid4, raid5, raid6: Linux md's `stripe_cache_size`, pages of 4 KiB of each disk that are kept of what was
        written last. Rows that two sequential writes share are not read for the second one, and rows that need no reads
        do not wait for those of others. md's default is 256. None: each request reads what it needs, and then writes.
    """

    consistency_policy: Consistency | None = None
    bitmap: Bitmap | None = None
    stripe_cache_pages: int | None = Field(default=None, ge=1, le=MAX_STRIPE_CACHE)
