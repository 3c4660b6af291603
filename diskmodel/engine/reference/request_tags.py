"""Event adapter of write throttling above a single disk: who waits for a place there (rule Q10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.queue import WriteThrottle
from diskmodel.records import READ


class RequestTags:
    """Tags of a disk for flushes and for writes of files, each a place; programs sleep until one is free, in order."""

    def __init__(self, clock: Clock, block_queue: int, *, has_cache: bool) -> None:
        self.clock = clock
        self.throttle = WriteThrottle(block_queue, has_cache=has_cache)
        self.waiting: deque[Callable[[], None]] = deque()
        self.n_reads = 0

    def take(self, action: Callable[[], None]) -> None:
        """Begin what needs a place: now, or when there is one, behind all that waits."""
        if not self.throttle.is_open:
            self._open_window()
        if self.waiting or self.throttle.n_writes >= self.throttle.limit:
            self.waiting.append(action)
            return
        self.throttle.n_writes += 1
        action()

    def read_begins(self) -> int:
        """Return the number of a read that is sent to the disk now, for `read_ended`."""
        self.n_reads += 1
        self.throttle.issued(self.n_reads, READ, self.clock.now)
        return self.n_reads

    def read_ended(self, number: int, response_ns: int) -> None:
        self.throttle.completed(number, READ, response_ns)

    def exempt_ended(self) -> None:
        """A direct write has ended, which took no place."""
        self.throttle.exempt_completed()

    def write_ended(self) -> None:
        self.throttle.exempt_completed()
        self.flush_ended()

    def flush_ended(self) -> None:
        if self.throttle.left():
            self._wake()

    def _wake(self) -> None:
        while self.waiting and self.throttle.n_writes < self.throttle.limit:
            self.throttle.n_writes += 1
            self.waiting.popleft()()

    def _open_window(self) -> None:
        self.clock.at(self.clock.now + self.throttle.open_window(), ARRIVE, 0, LAST, self._window_ended)

    def _window_ended(self) -> None:
        limit = self.throttle.limit
        if self.throttle.close_window(self.clock.now):
            self._open_window()
        if self.throttle.limit > limit:
            self._wake()
