"""Event adapter of write-back: when dirty pages go to the array, and in which order (rules P4, P5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from diskmodel.engine.clock import ARRIVE, Clock
from diskmodel.host.pages import Pages, runs
from diskmodel.host.tables import PageCacheTables

#: Sends pages to the array for the request that first made them dirty; calls back when they are there.
Send = Callable[[int, list[int], Callable[[], None]], None]


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
        self.outstanding = 0
        self.wake_ns: int | None = None

    @property
    def is_pressing(self) -> bool:
        """Whether it writes whatever the age of the pages (rule P5)."""
        return self.pages.n_dirty > self.pages.background or self.has_blocked()

    def look(self) -> None:
        """Pages became dirty, or have been written, or a writer waits, now: go on where there is something to do."""
        if not self.batch and self.is_pressing:
            self._begin(self.clock.now, is_background=True)
        self._fill()
        if self.pages.dirty and self.wake_ns is None:
            self.wake_ns = (self.clock.now // self.interval_ns + 1) * self.interval_ns
            self.clock.at(self.wake_ns, ARRIVE, self.device, 0, self._wake)

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
        while self.batch and self.outstanding < self.depth:
            if self.is_background and not self.is_pressing:
                self.batch.clear()
                return
            run = self.batch.popleft()
            row = self.pages.dirty[run[0]].row
            self.pages.start(run)
            self.position = run[-1] + 1
            self.outstanding += 1
            self.send(row, run, lambda run=run: self._written(run))  # type: ignore[misc]

    def _written(self, run: list[int]) -> None:
        self.outstanding -= 1
        self.pages.finish(run)
        self.written()
        self.look()
