"""Description of the page cache of an operating system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.units import Bytes, Nanoseconds, Ratio

#: Writes of the flusher that Linux lets a hard disk have at once while it is read, too: a quarter of the 16 with which
#: write-back throttling begins (block/blk-wbt.c, `RWB_DEF_DEPTH` and `wb_background`). With it the model's waves last
#: as long as measured ones, and reads wait as long in them (`docs/reference/semantics-host.md`).
THROTTLED_DEPTH = 4
#: Requests of the flusher without throttling: `nr_requests` of many block queues.
UNTHROTTLED_DEPTH = 128


class PageCache(Description):
    """Memory between programs and the array: reads of cached pages need no disk, and writes complete in memory.

    Attributes
    ----------
    memory_bytes : int
        Memory available to the cache; the ratios are shares of it.
    dirty_background_ratio : float
        Above this share of dirty memory the flusher writes in the background.
    dirty_ratio : float
        Above this share writers wait.
    dirty_expire_ns : int
        Age at which a dirty page is always written.
    dirty_writeback_ns : int
        Interval at which the flusher looks for such pages; at least 1 ms (Linux: 10 ms).
    writeback_depth : int or None
        Requests that the flusher keeps outstanding. None: what Linux's write-back throttling leaves it beside reads,
        `THROTTLED_DEPTH` for each hard disk (a write to copies counts once), and 128 for flash. Without throttling
        (`wbt_lat_usec` 0, the scheduler BFQ, kernels before 4.10) it is `nr_requests` of the block queue, 128 for many.
    is_synchronous : bool
        Whether each write completes when it is on the array (files opened with O_SYNC).
    sync_every : int
        Every sync_every-th write is followed by fsync: it completes when all dirty pages are on the array. 0: never.

    References
    ----------
    Linux kernel, Documentation/admin-guide/sysctl/vm.rst: dirty_background_ratio, dirty_ratio,
    dirty_expire_centisecs, dirty_writeback_centisecs, whose defaults these are.
    """

    memory_bytes: Annotated[Bytes, Field(gt=0)]
    dirty_background_ratio: Ratio = 0.10
    dirty_ratio: Ratio = 0.20
    dirty_expire_ns: Nanoseconds = 30_000_000_000
    dirty_writeback_ns: Annotated[Nanoseconds, Field(ge=1_000_000)] = 5_000_000_000
    writeback_depth: int | None = Field(default=None, ge=1, le=65536)
    is_synchronous: bool = False
    sync_every: int = Field(default=0, ge=0, lt=2**31)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which memory has a flusher: where each write completes on the array, nothing is ever dirty."""
        dirty = Reader("writes that complete in memory", lambda array: not array.host.page_cache.is_synchronous)
        names = ("dirty_background_ratio", "dirty_ratio", "dirty_expire_ns", "dirty_writeback_ns", "writeback_depth")
        return dict.fromkeys(names, dirty)

    def depth_on(self, n_disks: int, copies: int, *, is_rotational: bool) -> int:
        """Return the requests that the flusher keeps outstanding on an array of so many disks."""
        if self.writeback_depth is not None:
            return self.writeback_depth
        if not is_rotational:
            return UNTHROTTLED_DEPTH
        return min(THROTTLED_DEPTH * max(n_disks // copies, 1), UNTHROTTLED_DEPTH)

    @model_validator(mode="after")
    def _check(self) -> Self:
        background, limit = self.dirty_background_ratio, self.dirty_ratio
        if background > limit:
            raise ValueError(f"dirty_background_ratio={background}: is above dirty_ratio={limit}; lower it")
        if self.is_synchronous and self.sync_every:
            raise ValueError("sync_every: has no effect on synchronous writes; leave it or is_synchronous out")
        return self
