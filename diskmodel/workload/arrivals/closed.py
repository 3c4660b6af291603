"""Clients that wait for their request to complete, think, and issue the next one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from diskmodel.records import Int64
from diskmodel.units import Pause, PerSecond
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.draws import Draws, Kind, same

#: Response time supposed for closed streams where rows have to be divided among streams before anything has run.
SUPPOSED_RESPONSE_S = 0.005


class Closed(ArrivalLaw):
    """Closed stream: `clients` outstanding at most (the queue depth).

    Attributes
    ----------
    clients : int
    think_ns : int, ns
        Mean time between a completion and the same client's next request.
    think_distribution : "fixed" or "exponential"
        How that time is distributed.
    client_rate_per_s : float or None
        Least distance of two issues of one client, as a rate ("40 clients of 80/s each"). Its clients begin at
        uniformly random phases.
    """

    title: ClassVar[str] = "clients that wait for completions"
    example: ClassVar[Mapping[str, object]] = {"clients": 16}

    kind: Literal["closed"] = "closed"
    clients: int = Field(ge=1, le=1 << 30)
    think_ns: Pause = 0
    think_distribution: Literal["fixed", "exponential"] = "fixed"
    client_rate_per_s: PerSecond | None = None

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields that were given and have no effect: how pauses are distributed that nobody makes."""
        yield from super().unread(whole, path)
        if self.think_distribution != "fixed" and not self.think_ns:
            yield f"{path}think_distribution", "clients that think"

    @property
    def expected_rate_per_s(self) -> float:
        """Rate that the clients would reach at a response time of 5 ms, or their own limit where that is less."""
        per_client = 1.0 / (self.think_ns / 1e9 + SUPPOSED_RESPONSE_S)
        if self.client_rate_per_s is not None:
            per_client = min(per_client, self.client_rate_per_s)
        return self.clients * per_client

    @property
    def pace_ns(self) -> int:
        """Least time between two issues of one client; 0: none."""
        return 0 if self.client_rate_per_s is None else round(1e9 / self.client_rate_per_s)

    def scaled(self, factor: float) -> Closed:
        """`factor` times the clients, rounded, at least one."""
        return self.with_clients(max(round(self.clients * factor), 1))

    def with_clients(self, clients: int) -> Closed:
        """The same stream with another number of clients."""
        return self.model_copy(update={"clients": clients})

    def when(self, n: int, draws: Draws) -> Int64:
        """Think time before each issue; int64, shape (n,), ns."""
        if self.think_distribution == "exponential" and self.think_ns:
            think_ns = np.rint(draws.exponential(Kind.THINK, n) * self.think_ns).astype(np.int64)
        else:
            think_ns = same(np.int64(self.think_ns), n)
        if self.pace_ns:
            think_ns = think_ns.copy() if think_ns.strides == (0,) else think_ns
            n_first = max(min(self.clients - draws.first_row, n), 0)
            think_ns[:n_first] += (draws.uniform(Kind.PHASE, n_first) * self.pace_ns).astype(np.int64)
        return think_ns
