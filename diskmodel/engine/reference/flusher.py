"""Event adapter of write-back: when dirty pages go to the array, and in which order (rules P4, P5, P9)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.host.pages import Pages, runs
from diskmodel.host.tables import PageCacheTables

#: Sends pages to the array for the request that first made them dirty; calls back when they are there.
Send = Callable[[int, list[int], Callable[[], None]], None]


@dataclass
class Sync:
    """A writer that waits until what is dirty now is on the array.

    Attributes
    ----------
    since_ns : int
    then : callable
    awaited : set of int or None
        First pages of the requests that it waits for, once all that was dirty has been sent.
    """

    since_ns: int
    then: Callable[[], None]
    awaited: set[int] | None = None


class Flusher:
    """The thread that writes dirty pages back, batch by batch, each in order of place."""

    def __init__(
        self,
        clock: Clock,
        tables: PageCacheTables,
        pages: Pages,
        device: int,
        longest: int,
        send: Send,
        written: Callable[[], None],
        has_blocked: Callable[[], bool],
    ) -> None:
        self.clock = clock
        self.expire_ns = tables.dirty_expire_ns
        self.interval_ns = tables.dirty_writeback_ns
        self.depth = tables.writeback_depth
        self.pages = pages
        self.device = device
        self.longest = longest
        self.send = send
        self.written = written
        self.has_blocked = has_blocked
        self.position = 0
        self.batch: deque[list[int]] = deque()
        self.is_background = False
        self.under_way: set[int] = set()
        self.syncs: list[Sync] = []
        self.wake_ns: int | None = None

    def start(self) -> None:
        """Pages are dirty when the run begins: wake up at once (rules P5, Z6)."""
        self.wake_ns = 0
        self.clock.at(self.wake_ns, ARRIVE, self.device, 0, self._wake)

    @property
    def is_pressing(self) -> bool:
        """Whether it writes whatever the age of the pages (rule P5)."""
        is_syncing = any(sync.awaited is None for sync in self.syncs)
        return self.pages.n_dirty > self.pages.background or self.has_blocked() or is_syncing

    def sync(self, then: Callable[[], None]) -> None:
        """Let a writer wait until all pages that are dirty or in flight now are on the array (rule P9)."""
        self.syncs.append(Sync(self.clock.now, then))

    def look(self) -> None:
        """Pages became dirty, or have been written, or a writer waits, now: go on where there is something to do."""
        if not self.batch and self.is_pressing:
            self._begin(self.clock.now, is_background=True)
        self._fill()
        if self.pages.dirty and self.wake_ns is None:
            self.wake_ns = (self.clock.now // self.interval_ns + 1) * self.interval_ns
            self.clock.at(self.wake_ns, ARRIVE, self.device, 0, self._wake)
        self._answer_syncs()

    def _wake(self) -> None:
        """At every interval: the pages that are old enough (rule P4)."""
        self.wake_ns = None
        if not self.batch:
            self._begin(self.clock.now - self.expire_ns, is_background=False)
        self.look()

    def _begin(self, latest_ns: int, *, is_background: bool) -> None:
        self.batch.extend(runs(self.pages.waiting_since(latest_ns), self.position, self.longest))
        self.is_background = is_background

    def _fill(self) -> None:
        while self.batch and len(self.under_way) < self.depth:
            if self.is_background and not self.is_pressing:
                self.batch.clear()
                return
            run = self.batch.popleft()
            row = self.pages.dirty[run[0]].row
            self.pages.start(run)
            self.position = run[-1] + 1
            self.under_way.add(run[0])
            self.send(row, run, lambda run=run: self._written(run))  # type: ignore[misc]

    def _written(self, run: list[int]) -> None:
        self.under_way.remove(run[0])
        self.pages.finish(run)
        for sync in self.syncs:
            if sync.awaited is not None:
                sync.awaited.discard(run[0])
        self.written()
        self.look()

    def _answer_syncs(self) -> None:
        oldest_ns = self.pages.oldest_ns
        for sync in self.syncs:
            if sync.awaited is None and (oldest_ns is None or oldest_ns > sync.since_ns):
                sync.awaited = set(self.under_way)
        done = [sync for sync in self.syncs if sync.awaited is not None and not sync.awaited]
        self.syncs = [sync for sync in self.syncs if sync not in done]
        for sync in done:
            sync.then()
