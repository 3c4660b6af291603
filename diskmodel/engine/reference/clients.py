"""Event adapter of the workload: issues requests when their stream's rule says so (rules W1 to W4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.records import WRITE, Requests, Sync


class Clients:
    """All streams of a workload. Open ones follow the clock, closed ones their own completions."""

    def __init__(self, clock: Clock, requests: Requests, issue: Callable[[int, Sync], None]) -> None:
        self.clock = clock
        self.requests = requests
        self.issue = issue
        self.when: Sequence[int] = requests.when_ns.tolist()
        self.stream: Sequence[int] = requests.stream.tolist()
        self.rows = [np.flatnonzero(requests.stream == s).tolist() for s in range(len(requests.streams))]
        self.next = [0] * len(requests.streams)
        self.op: Sequence[int] = requests.op.tolist()
        #: Client that a row belongs to, and the writes of each since its last sync (rule Y1).
        self.client: dict[int, int] = {}
        self.n_unsynced: dict[tuple[int, int], int] = {}

    def start(self) -> None:
        """Schedule the first requests of every stream."""
        for stream, rule in enumerate(self.requests.streams):
            for client in range(min(rule.n_clients or 1, len(self.rows[stream]))):
                self._take(stream, client, earliest_ns=0, base_ns=0)

    def completed(self, row: int, issue_ns: int) -> None:
        """A request has completed, now: its client, if it has one, takes the stream's next row (rule W3)."""
        stream = self.stream[row]
        rule = self.requests.streams[stream]
        if rule.n_clients:
            self._take(stream, self.client.pop(row), earliest_ns=issue_ns + rule.pace_ns, base_ns=self.clock.now)

    def _take(self, stream: int, client: int, earliest_ns: int, base_ns: int) -> None:
        at = self.next[stream]
        if at == len(self.rows[stream]):
            return
        self.next[stream] = at + 1
        row = self.rows[stream][at]
        self.client[row] = client
        is_open = not self.requests.streams[stream].n_clients
        time_ns = self.when[row] if is_open else max(base_ns + self.when[row], earliest_ns)
        self.clock.at(time_ns, ARRIVE, 0, row, lambda: self._arrive(stream, row))

    def _arrive(self, stream: int, row: int) -> None:
        if not self.requests.streams[stream].n_clients:
            self._take(stream, 0, 0, 0)
        self.issue(row, self._sync(stream, row))

    def _sync(self, stream: int, row: int) -> Sync:
        """What follows a row: every so many writes of a client (rule Y1)."""
        rule = self.requests.streams[stream]
        if not rule.sync or self.op[row] != WRITE:
            return Sync.NONE
        key = (stream, self.client[row])
        n = self.n_unsynced.get(key, 0) + 1
        is_due = n == rule.sync_every
        self.n_unsynced[key] = 0 if is_due else n
        return Sync(rule.sync) if is_due else Sync.NONE
