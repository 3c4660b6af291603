"""Requests that fork to several disks and join again, against the theory of fork–join queues.

The engine's own layout, queues and joins, over disks whose service times are drawn: each is exponential with mean 1 ms
and independent of the others, requests are a Poisson stream. A read of one strip of each of K disks is a fork–join
request of K independent servers. 30,000 requests, seed 3, the first tenth left out; consecutive responses are
correlated, so the standard error is taken from 30 batches, and four of them are allowed.

References
----------
Flatto, Hahn, *Two parallel queues created by arrivals with two demands I*, SIAM J. Appl. Math. 44(5), 1984.
Nelson, Tantawi, *Approximate analysis of fork/join synchronization in parallel queues*, IEEE Trans. Comp. 37(6), 1988.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import simpy

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Device
from diskmodel.engine.reference.raid import Access, Raid
from diskmodel.layout.description import Layout
from diskmodel.layout.md.tables import md_tables
from diskmodel.queue import Waiting
from diskmodel.queue.fcfs import Fcfs

pytestmark = pytest.mark.slow

SERVICE_NS = 1e6
N, SEED, BATCHES = 30_000, 3, 30
STRIP = 8


class Server(Device):
    """A disk that takes one command at a time, for a drawn time."""

    def __init__(self, clock: Clock, index: int, service_ns: list[int]) -> None:
        super().__init__(clock, index, Fcfs(), depth=1)
        self.service_ns = iter(service_ns)

    def overhead_ns(self, command: Command) -> int:
        return 0

    def positioning(self, now: int) -> Callable[[Waiting], int]:
        return lambda command: 0

    def take(self, command: Command, now: int) -> None:
        self.finish(command, now + next(self.service_ns))

    def dispatch(self, now: int) -> None:
        """Nothing waits inside."""


@cache
def _responses_ms(disks: int, load: float) -> np.ndarray:
    rng = np.random.default_rng(SEED)
    clock = Clock(simpy.Environment(initial_time=0))
    services = np.ceil(rng.exponential(SERVICE_NS, (disks, N))).astype(np.int64)
    servers = [Server(clock, i, services[i].tolist()) for i in range(disks)]
    tables = md_tables(Layout.parse({"level": "raid0", "disks": disks, "strip_bytes": STRIP * 512}), 1 << 20, 512)
    raid = Raid(clock, tables, servers, split_at=1 << 20)
    arrivals = np.cumsum(rng.exponential(SERVICE_NS / load, N)).astype(np.int64).tolist()
    responses = np.zeros(N)

    def arrive(i: int) -> None:
        def done(access: Access, last: Command) -> None:
            responses[i] = (clock.now - arrivals[i]) / 1e6

        raid.access(0, 0, disks * STRIP, done)
        if i + 1 < N:
            clock.at(arrivals[i + 1], ARRIVE, 0, i + 1, lambda: arrive(i + 1))

    clock.at(arrivals[0], ARRIVE, 0, 0, lambda: arrive(0))
    clock.env.run()
    assert (responses > 0).all()
    return responses[N // 10 :]


def _mean_and_error(disks: int, load: float) -> tuple[float, float]:
    batches = _responses_ms(disks, load).reshape(BATCHES, -1).mean(axis=1)
    return float(batches.mean()), float(batches.std(ddof=1) / np.sqrt(BATCHES))


def _harmonic(n: int) -> float:
    return sum(1 / i for i in range(1, n + 1))


def _two_servers_ms(load: float) -> float:
    """Exact for two servers: (12 - rho) / 8 of the M/M/1 response."""
    return (12 - load) / 8 / (1 - load)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_one_server_is_m_m_1(load: float) -> None:
    mean, error = _mean_and_error(1, load)
    assert mean == pytest.approx(1 / (1 - load), abs=4 * error)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_two_servers_are_flatto_and_hahn(load: float) -> None:
    mean, error = _mean_and_error(2, load)
    assert error < 0.05 * mean
    assert mean == pytest.approx(_two_servers_ms(load), abs=4 * error)


@pytest.mark.parametrize("disks", [4, 8])
@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_more_servers_are_nelson_and_tantawi(disks: int, load: float) -> None:
    """An approximation, good to 5 %; and never above the bound of independent queues."""
    mean, error = _mean_and_error(disks, load)
    share = _harmonic(disks) / _harmonic(2)
    expected = (share + 4 / 11 * (1 - share) * load) * _two_servers_ms(load)
    assert mean == pytest.approx(expected, rel=0.05, abs=4 * error)
    assert mean < _harmonic(disks) / (1 - load) + 4 * error
