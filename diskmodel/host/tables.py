"""Integer tables of a host, which both engines read."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from diskmodel.host.description import Host
from diskmodel.host.page_cache import UNTHROTTLED_DEPTH, PageCache
from diskmodel.loading import dataclass
from diskmodel.records import Int64

_NO_PAUSES = np.empty((0, 2), np.int64)


class PageCacheTables(NamedTuple):
    """Size of the page cache in pages, and when dirty ones are written (rules P2, P5 to P7, P9).

    Attributes
    ----------
    memory_pages, background_pages, limit_pages : int
        Pages that fit in memory; number of dirty ones above which the flusher writes, and above which writers wait.
    old_ns : int
        Time after which dirty memory is old: the first interval of the flusher at which its age is reached.
    writeback_depth : int
    is_synchronous : bool
    sync_every : int
    """

    memory_pages: int
    background_pages: int
    limit_pages: int
    old_ns: int
    writeback_depth: int
    is_synchronous: bool
    sync_every: int

    @classmethod
    def of(cls, cache: PageCache, page_bytes: int) -> Self:
        """Return the tables of a page cache with pages of `page_bytes`, whose `writeback_depth` is known."""
        n = max(cache.memory_bytes // page_bytes, 1)
        return cls(
            memory_pages=n,
            background_pages=int(n * cache.dirty_background_ratio),
            limit_pages=int(n * cache.dirty_ratio),
            old_ns=max(-(-cache.dirty_expire_ns // cache.dirty_writeback_ns), 1) * cache.dirty_writeback_ns,
            writeback_depth=cache.writeback_depth or UNTHROTTLED_DEPTH,
            is_synchronous=cache.is_synchronous,
            sync_every=cache.sync_every,
        )

    def beside(self, n_pages: int) -> PageCacheTables:
        """Return the tables of what is left beside so many dirty pages that stay."""
        return self._replace(
            memory_pages=self.memory_pages - n_pages,
            background_pages=max(self.background_pages - n_pages, 0),
            limit_pages=self.limit_pages - n_pages,
        )


class Costs(NamedTuple):
    """Time of a read and of a write, ns; by `Op`."""

    read: int
    write: int


@dataclass(frozen=True, eq=False)
class HostTables:
    """Processor time of a request, and how the host buffers (rules H1 to H5).

    Attributes
    ----------
    submission_ns, submission_sequential_ns : Costs
    n_processors : int
    lock_ns : Costs
    pause_gap_ns, pause_ns : int64, shape (n,)
        The processor's pauses: the time before each, and how long it lasts.
    is_buffered : bool
    read_ahead_sectors, largest_request_sectors, page_sectors : int
    page_cache : PageCacheTables or None
    """

    submission_ns: Costs
    submission_sequential_ns: Costs
    n_processors: int
    lock_ns: Costs
    pause_gap_ns: Int64
    pause_ns: Int64
    is_buffered: bool
    read_ahead_sectors: int
    largest_request_sectors: int
    page_sectors: int
    page_cache: PageCacheTables | None

    @classmethod
    def of(cls, host: Host, sector_bytes: int, pauses_ns: Int64 = _NO_PAUSES) -> Self:
        """Return the tables of a host above an array with sectors of `sector_bytes`.

        `pauses_ns` are gaps and lengths of its pauses, of shape (n, 2).
        """
        page = max(host.page_bytes // sector_bytes, 1)
        submission_ns, lock_ns = host.submission_ns or 0, host.lock_ns or 0
        cache = host.page_cache
        return cls(
            submission_ns=_read_and_write(submission_ns, host.write_cost_ratio),
            submission_sequential_ns=_read_and_write(
                submission_ns if host.submission_sequential_ns is None else host.submission_sequential_ns,
                host.write_cost_ratio,
            ),
            n_processors=host.processors or 1,
            lock_ns=Costs(lock_ns, lock_ns if host.write_lock_ns is None else host.write_lock_ns),
            pause_gap_ns=np.ascontiguousarray(pauses_ns[:, 0]),
            pause_ns=np.ascontiguousarray(pauses_ns[:, 1]),
            is_buffered=host.is_buffered,
            read_ahead_sectors=host.window_bytes // sector_bytes,
            largest_request_sectors=max(host.largest_request_bytes // sector_bytes, 1),
            page_sectors=page,
            page_cache=None if cache is None else PageCacheTables.of(cache, page * sector_bytes),
        )

    def beside(self, n_pages: int) -> HostTables:
        """Return the tables of what is left of memory beside so many dirty pages that stay."""
        cache = self.page_cache
        return replace(self, page_cache=cache.beside(n_pages)) if cache is not None and n_pages else self


def _read_and_write(cost_ns: int, write_cost_ratio: float) -> Costs:
    return Costs(cost_ns, round(cost_ns * write_cost_ratio))
