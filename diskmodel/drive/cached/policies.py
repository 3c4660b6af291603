"""What programs that cache on SSDs do where nobody says otherwise: one entry for each, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

#: "none": everything passes by, as where the cache is detached (bcache's none, dm-cache's passthrough, Open CAS's pt).
Mode = Literal["writethrough", "writeback", "writearound", "none"]


class Policy(NamedTuple):
    """How a program caches.

    Attributes
    ----------
    title : str
    modes : tuple of str
        Those that it has, its default first.
    unit_bytes : int
        What is cached at a time; 0: as much as makes a million units (`lvmcache`), at least 64 KiB.
    keeps : "recent", "logged" or "popular"
        What stays. "recent": what was used last (LRU). "logged": what was written last, in buckets that are reused as a
        whole. "popular": what is used often, because few of those that miss are taken.
    promotes : float
        Share of the requests that miss and are taken into the cache.
    keeps_reads, fills_by_writes : bool
        Whether reads that miss are taken, and whether writes are that find nothing.
    dirty_ratio : float
        Share of the cache that is dirty when as much is cleaned as becomes dirty.
    most_dirty_ratio : float
        Share that is dirty at most.
    when_full : "bypass" or "wait"
        What a write does that finds this share dirty.
    cleans : "in order" or "oldest"
        Where what is cleaned next lies.
    cleans_ahead : bool
        Whether it is cleaned as soon as the share `dirty_ratio` is dirty, and not when its room is needed.
    in_flight : int
        Pieces that are cleaned at a time.
    bypass_bytes : int
        Length from which a run of requests in order passes by; 0: never.
    bypasses_writes : bool
        Whether such writes pass by in write-back mode.
    clean_writes, dirty_writes : int
        Writes of metadata before a write is answered that makes a clean unit dirty, and one that finds it dirty.
    commit_writes : int
        Writes of metadata, with a flush, that a sync waits for.
    """

    title: str
    modes: tuple[Mode, ...]
    unit_bytes: int
    keeps: Literal["recent", "logged", "popular"]
    promotes: float = 1.0
    keeps_reads: bool = True
    fills_by_writes: bool = True
    dirty_ratio: float = 0.5
    most_dirty_ratio: float = 0.95
    when_full: Literal["bypass", "wait"] = "wait"
    cleans: Literal["in order", "oldest"] = "oldest"
    cleans_ahead: bool = False
    in_flight: int = 64
    bypass_bytes: int = 0
    bypasses_writes: bool = True
    clean_writes: int = 0
    dirty_writes: int = 0
    commit_writes: int = 1


#: Sources: Linux, drivers/md/bcache (request.c, writeback.c and .h, alloc.c, super.c) and its admin guide; drivers/md
#: (dm-cache-target.c, dm-cache-policy-smq.c, dm-writecache.c) and lvmcache(7); Open CAS Linux, casadm(8) and issue 976.
POLICIES: Mapping[str, Policy] = {
    # Writes with O_DIRECT or a sync are "sync": they pass by at 70 % of the buckets in use (CUTOFF_WRITEBACK_SYNC), and
    # never for being in order. The writeback rate keeps 10 % dirty (writeback_percent); 64 pieces in flight.
    "bcache": Policy(
        "bcache",
        ("writethrough", "writeback", "writearound", "none"),
        4096,
        "logged",
        dirty_ratio=0.1,
        most_dirty_ratio=0.7,
        when_full="bypass",
        cleans="in order",
        cleans_ahead=True,
        bypass_bytes=4 << 20,
        bypasses_writes=False,
    ),
    # smq promotes from the upper eighth of its 64 levels at most (default_promote_level), by whole blocks; it cleans
    # only when nothing has been asked for a second, else what it has to give up.
    "dm-cache": Policy(
        "dm-cache",
        ("writethrough", "writeback", "none"),
        0,
        "popular",
        promotes=1 / 8,
        fills_by_writes=False,
        most_dirty_ratio=1.0,
        when_full="bypass",
        in_flight=8,
        commit_writes=2,
    ),
    # Writes alone; written back from 50 % (high_watermark) to 45 %, what was written longest ago first, with what is
    # next to it (writecache_writeback): in order of place only while all is written back, before it is taken away. No
    # number limits what is in flight (writeback_jobs); queues of disks hold 64 each. A flush commits the blocks since
    # the last one.
    "dm-writecache": Policy(
        "dm-writecache",
        ("writeback",),
        4096,
        "recent",
        keeps_reads=False,
        dirty_ratio=0.475,
        most_dirty_ratio=1.0,
        cleans_ahead=True,
        in_flight=256,
        commit_writes=2,
    ),
    # ALRU cleans when nothing has been asked for 10 s; else a line is cleaned when its room is needed, and who needs it
    # waits. A change of a line's state is written before the write is answered.
    "open-cas": Policy(
        "Open CAS",
        ("writethrough", "writeback", "writearound", "none"),
        4096,
        "recent",
        most_dirty_ratio=1.0,
        in_flight=32,
        bypass_bytes=1 << 20,
        clean_writes=1,
        commit_writes=0,
    ),
}

#: Other names of them.
OTHER_NAMES: Mapping[str, str] = {
    "lvmcache": "dm-cache",
    "lvm-cache": "dm-cache",
    "lvm cache": "dm-cache",
    "dmcache": "dm-cache",
    "dm cache": "dm-cache",
    "writecache": "dm-writecache",
    "dm writecache": "dm-writecache",
    "opencas": "open-cas",
    "open cas": "open-cas",
    "cas": "open-cas",
}

#: What people call the modes.
MODES: Mapping[str, Mode] = {
    "writethrough": "writethrough",
    "write-through": "writethrough",
    "write through": "writethrough",
    "wt": "writethrough",
    "writeback": "writeback",
    "write-back": "writeback",
    "write back": "writeback",
    "wb": "writeback",
    "writearound": "writearound",
    "write-around": "writearound",
    "write around": "writearound",
    "wa": "writearound",
    "none": "none",
    "passthrough": "none",
    "pass-through": "none",
    "pass through": "none",
    "detached": "none",
    "pt": "none",
}

#: `lvmcache` makes blocks so large that a million are enough, in steps of 32 KiB, at least 64 KiB.
_MOST_BLOCKS, _STEP_BYTES, _LEAST_BYTES = 1_000_000, 32 << 10, 64 << 10


def unit_bytes(policy: Policy, cache_bytes: int) -> int:
    """Return what a program caches at a time on a device of a size.

    Examples
    --------
    >>> unit_bytes(POLICIES["dm-cache"], 1_920_000_000_000) >> 10, unit_bytes(POLICIES["bcache"], 1 << 40)
    (1888, 4096)
    """
    if policy.unit_bytes:
        return policy.unit_bytes
    steps = -(-cache_bytes // (_MOST_BLOCKS * _STEP_BYTES))
    return max(steps * _STEP_BYTES, _LEAST_BYTES)
