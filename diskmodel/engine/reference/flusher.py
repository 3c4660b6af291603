"""Event adapter of write-back: when dirty pages go to the array, and in which order (rules P4, P5, P9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.host import PageCacheTables, Pages

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
    """The thread that writes dirty pages back, in a sweep over their places."""

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
        self.old_ns = tables.old_ns
        self.depth = tables.writeback_depth
        self.pages = pages
        self.device = device
        self.longest = longest
        self.send = send
        self.written = written
        self.has_blocked = has_blocked
        self.position = 0
        self.is_late = False
        self.under_way: set[int] = set()
        self.syncs: list[Sync] = []
        self.wake_ns: int | None = None

    def start(self) -> None:
        """Pages are dirty when the run begins, and old: write them at once (rules P5, Z6)."""
        self.pages.dirty_since_ns = -self.old_ns
        self._plan_to_wake()

    @property
    def is_pressing(self) -> bool:
        """Whether pages are to be written now (rule P5)."""
        is_syncing = any(sync.awaited is None for sync in self.syncs)
        return self.is_late or self.pages.n_dirty > self.pages.background or self.has_blocked() or is_syncing

    def sync(self, then: Callable[[], None]) -> None:
        """Let a writer wait until all pages that are dirty or in flight now are on the array (rule P9)."""
        self.syncs.append(Sync(self.clock.now, then))

    def look(self) -> None:
        """Pages became dirty, or have been written, or a writer waits, now: go on where there is something to do."""
        while self.pages.dirty and len(self.under_way) < self.depth and self.is_pressing:
            run = self.pages.next_run(self.position, self.longest)
            if not run:
                break
            self._start(run)
        self.is_late = self.is_late and bool(self.pages.dirty)
        if self.pages.dirty and not self.is_late:
            self._plan_to_wake()
        self._answer_syncs()

    def _plan_to_wake(self) -> None:
        if self.wake_ns is None:
            self.wake_ns = self.pages.dirty_since_ns + self.old_ns
            self.clock.at(self.wake_ns, ARRIVE, self.device, 0, self._wake)

    def _wake(self) -> None:
        """What is dirty may be old, if there was no moment without dirty pages (rule P5)."""
        self.wake_ns = None
        self.is_late = bool(self.pages.dirty) and self.clock.now >= self.pages.dirty_since_ns + self.old_ns
        self.look()

    def _start(self, run: list[int]) -> None:
        row = self.pages.dirty[run[0]].row
        self.pages.start(run)
        self.position = run[-1] + 1
        self.under_way.add(run[0])
        self.send(row, run, lambda: self._written(run))

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
