"""The processors of the host: one resource of requests, blocks of a pool's log and records of its groups."""

from __future__ import annotations

from heapq import heapreplace


class Processors:
    """When each processor of the host is free (rules H1 and X17)."""

    def __init__(self, n: int) -> None:
        #: Of all that has been given to it, the earliest first; and of what is done at once.
        self.free_ns = [0] * n
        self.urgent_ns = [0] * n

    @property
    def first_free_ns(self) -> int:
        """When the first one is free."""
        return self.free_ns[0]

    def take_until(self, free_ns: int) -> None:
        """Let the first one work until then on what waited for it."""
        heapreplace(self.free_ns, free_ns)

    def take_at_once(self, now_ns: int, work_ns: int) -> int:
        """Work for so long at once, and return when it is done; who comes later waits for it."""
        done_ns = max(now_ns, self.urgent_ns[0]) + work_ns
        heapreplace(self.urgent_ns, done_ns)
        heapreplace(self.free_ns, max(now_ns, self.free_ns[0]) + work_ns)
        return done_ns
