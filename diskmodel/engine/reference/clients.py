"""Event adapter of the workload: issues requests when their stream's rule says so (rules W1 to W4)."""

from __future__ import annotations

from collections.abc import Callable

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.records import WRITE, Requests, Sync
from diskmodel.workload import Streams


class Clients(Streams):
    """All streams of a workload on the clock, and what follows the writes of their clients."""

    def __init__(self, clock: Clock, requests: Requests, issue: Callable[[int, Sync], None]) -> None:
        super().__init__(
            requests,
            lambda time_ns, row, action: clock.at(time_ns, ARRIVE, 0, row, action),
            lambda row: issue(row, self._sync(row)),
        )
        #: Writes of each client since its last sync (rule Y1).
        self.n_unsynced: dict[tuple[int, int], int] = {}

    def _sync(self, row: int) -> Sync:
        """What follows a row: every so many writes of a client (rule Y1)."""
        stream = self.stream[row]
        rule = self.requests.streams[stream]
        if not rule.sync or self.op[row] != WRITE:
            return Sync.NONE
        key = (stream, self.client[row])
        n = self.n_unsynced.get(key, 0) + 1
        is_due = n == rule.sync_every
        self.n_unsynced[key] = 0 if is_due else n
        return Sync(rule.sync) if is_due else Sync.NONE
