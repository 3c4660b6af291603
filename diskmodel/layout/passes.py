"""Passes over all disks of an array, as the user writes them: rebuilds, resilvers, checks and scrubs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from diskmodel.description import Description, Reader
from diskmodel.layout.levels import RaidLevel
from diskmodel.units import BytesPerSecond, Length, Nanoseconds, Ratio

#: What md calls the passes over all members.
SyncAction = Literal["recover", "check", "resync"]
#: A step of a pass, bytes: what Linux md begins before it decides whether to yield.
STEP_BYTES = 128 << 10
#: Where a pass may be, as a share of the disks, where it may not be at its beginning: disks are as fast as on average.
PLACES_OF_A_PASS = (0.5, 0.25, 0.75)
#: Fields of a rebuild that belong to Linux md.
ONLY_OF_MD = (
    "speed_min_bytes_per_s",
    "speed_max_bytes_per_s",
    "window_bytes",
    "steps_at_once",
    "has_barriers",
    "page_ns",
)


class Rebuild(Description):
    """A pass over all members while the array serves its workload: a rebuild or a check as Linux md does it.

    Of a pool of OpenZFS it is a resilver, or a scrub where `action` is "check"; of these only `disk`, `done_ratio`,
    `used_ratio` and `sequential` are asked.

    Attributes
    ----------
    action : "recover", "check" or "resync"
        As in md's `sync_action`. "recover": a failed disk is rebuilt onto a spare. "check": everything is read and
        compared, as most Linux systems do once a month; of a pool it is a scrub. "resync": the first pass over a new
        array, or the one after a crash: everything is read, and parity or copies are written, because they differ.
    disk : int or None
        Which failed disk is rebuilt; None: the first.
    speed_min_bytes_per_s : float
        A rebuild that is slower does not yield to the host. Default: 1,000 KiB/s, Linux's `speed_limit_min`. What
        `mdadm` and administrators raise where a busy array is rebuilt too slowly.
    speed_max_bytes_per_s : float
        Limit of the rebuild rate. Default: 200,000 KiB/s, Linux's `speed_limit_max`.
    window_bytes : int or None
        Size of one step on each disk: read, then written where the action writes. None: 128 KiB, after which md
        decides whether to yield; 64 KiB where it takes turns with requests (`RESYNC_BLOCK_SIZE`).
    steps_at_once : int or None
        Steps that may be in progress at the same time while the rebuild does not yield. None: as many as md has room
        for, 1 MiB with parity (256 stripes of 4 KiB, `stripe_cache_size`) and 2 MiB with copies.
    has_barriers : bool or None
        RAID 10 and 1E: whether requests and steps wait for each other, as at the barriers of Linux md (rule R8). None:
        yes, unless a controller makes the array.
    done_ratio : float or None
        Share of each disk that the pass is already through at time 0; of a pool of what is stored on it. None: 0, where
        an array has lost most, or half where a stream in order begins there and goes the same way.
    used_ratio : float or None
        Pools: share of the pool's space that is in use, which is all that a resilver or a scrub goes through. None:
        80 %.
    sequential : bool or None
        Pools: whether a resilver goes through allocated space in its order (`zpool replace -s`), which mirrors and
        dRAID can, instead of through records. None: only onto a distributed spare, which OpenZFS fills in no other way.
    page_ns : int or None
        Time that md's thread takes for each request of 4 KiB to a member of a parity group; 0: no time. None: 0 as long
        as requests of adjacent stripes merge, which they do in groups of at most 32 disks (as many requests as the
        kernel plugs, 16 before Linux 5.16), and 3.5 us in wider ones: two published groups, of 20 and of 36 disks, take
        4.0 and 2.9 us.
    """

    action: SyncAction = "recover"
    disk: int | None = None
    speed_min_bytes_per_s: BytesPerSecond = 1000 * 1024
    speed_max_bytes_per_s: BytesPerSecond = 200_000 * 1024
    window_bytes: Length | None = Field(default=None, gt=0)
    steps_at_once: int | None = Field(default=None, ge=1, le=1024)
    has_barriers: bool | None = None
    done_ratio: Ratio | None = None
    used_ratio: Ratio | None = None
    sequential: bool | None = None
    page_ns: Nanoseconds | None = None

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which arrays, or plans, have a field."""
        return {
            "page_ns": Reader("levels of Linux md with parity", lambda whole: whole.has_rows),
            "has_barriers": Reader("RAID 10 and 1E", lambda whole: whole.has_striped_copies),
        }

    @property
    def front_ratio(self) -> float:
        """Share of each disk that the pass is already through at time 0."""
        return self.done_ratio or 0.0

    def halfway(self) -> Rebuild:
        """Return the same rebuild, half done.

        There its rate is about the mean of the whole: disks are faster in the zones before, and slower in those behind.
        """
        return self.model_copy(update={"done_ratio": 0.5})

    def of_pool(self, level: RaidLevel, used_ratio: float | None = None) -> Rebuild:
        """Return the resilver of a pool instead of this rebuild: without what only Linux md or other vdevs have."""
        used = self.used_ratio if self.used_ratio is not None else used_ratio
        sequential = self.sequential if level.has_fixed_rows else None
        return Rebuild(disk=self.disk, done_ratio=self.done_ratio, used_ratio=used, sequential=sequential)
