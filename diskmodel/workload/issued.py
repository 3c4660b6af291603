"""When requests of a workload are issued, on whatever calendar: of open streams by the clock, else by completions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diskmodel.records import Requests


class Streams:
    """All streams of a workload (rules W1 to W4).

    Parameters
    ----------
    requests : Requests
    schedule : callable
        Takes a time in ns, a row, and what is to happen then.
    issue : callable
        Takes the row that is issued, now.
    """

    def __init__(
        self,
        requests: Requests,
        schedule: Callable[[int, int, Callable[[], None]], None],
        issue: Callable[[int], None],
    ) -> None:
        self.requests = requests
        self._schedule = schedule
        self._issue = issue
        self.when: Sequence[int] = requests.when_ns.tolist()
        self.stream: Sequence[int] = requests.stream.tolist()
        self.op: Sequence[int] = requests.op.tolist()
        self._rows = [np.flatnonzero(requests.stream == s).tolist() for s in range(len(requests.streams))]
        self._next = [0] * len(requests.streams)
        #: Client that a row belongs to.
        self.client: dict[int, int] = {}

    def start(self) -> None:
        """Schedule the first requests of every stream."""
        for stream, rule in enumerate(self.requests.streams):
            for client in range(min(rule.n_clients or 1, len(self._rows[stream]))):
                self._take(stream, client, earliest_ns=0, base_ns=0)

    def completed(self, row: int, issue_ns: int, now_ns: int) -> None:
        """A request has completed, now: its client, if it has one, takes the stream's next row (rule W3)."""
        stream, client = self.stream[row], self.client.pop(row)
        rule = self.requests.streams[stream]
        if rule.n_clients:
            self._take(stream, client, earliest_ns=issue_ns + rule.pace_ns, base_ns=now_ns)

    def _take(self, stream: int, client: int, earliest_ns: int, base_ns: int) -> None:
        at = self._next[stream]
        if at == len(self._rows[stream]):
            return
        self._next[stream] = at + 1
        row = self._rows[stream][at]
        self.client[row] = client
        is_open = not self.requests.streams[stream].n_clients
        time_ns = self.when[row] if is_open else max(base_ns + self.when[row], earliest_ns)
        self._schedule(time_ns, row, lambda: self._arrive(stream, row))

    def _arrive(self, stream: int, row: int) -> None:
        if not self.requests.streams[stream].n_clients:
            self._take(stream, 0, 0, 0)
        self._issue(row)
