"""What members do to an array that repeat some of their accesses: a closed network of queues, simulated.

Most accesses take what they always do, and a few of them many times as long. Meanwhile the requests of all clients end
up waiting for that member, so neither a mean nor a mixture says what becomes of the others. The model of it is the
smallest one that has these queues: clients that ask again as soon as all parts of their request are done, members that
serve one part at a time, and accesses that are repeated. Only ratios to the same network without repeats are used; all
else is as simulated.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from functools import cache

import numpy as np

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import Law, is_sequential
from diskmodel.explanation.causes.uneven import DEPTH, ORDERED, accesses_of, touched_members
from diskmodel.explanation.measured import ALL_PARTS, SHAPE, Measured
from diskmodel.uncertainty import AnyWorkload

#: Requests of the network, and of those that are left out at its start. At half, p99 is off by a fifth.
_REQUESTS, _START = 2_000, 200
#: Clients of it at most; more of them only wait.
_CLIENTS = 64
#: Shortest and longest access, over its mean: a seek and a turn that differ.
_FROM, _TO = 0.5, 1.5
#: Times that a repeated access takes, over their mean: no two of them need as many turns.
_TIMES = (0.5, 1.0, 1.5)
#: Turns of a platter that a random access takes with its seek, where the drive has no others to choose from.
_ACCESS = 1.5

#: Strengths: share of the accesses that are repeated, and for how many turns.
REPEATS = {
    f"{ratio:g} % of the accesses, {turns} revolutions": (ratio / 100, turns)
    for ratio in (0.3, 1, 3, 10, 30)
    for turns in (12, 40)
}


@dataclass(frozen=True)
class Network:
    """Members, requests and repeats.

    Attributes
    ----------
    members, clients, touched : int
        A request needs so many members at the same time.
    ratio : float
        Of the accesses of a bad member that are repeated.
    length : float
        Of a repeat, over an access.
    bad : int
        Members that repeat: the first ones.
    """

    members: int
    clients: int
    touched: int
    ratio: float
    length: float
    bad: int


@dataclass(frozen=True)
class Outcome:
    """Requests per access time, and the mean and percentiles of their times."""

    rate: float
    times: dict[str, float]


@cache
def outcome_of(network: Network) -> Outcome:
    """Return what clients of a network see."""
    draws = np.random.default_rng(1)
    n, clients = network.members, network.clients
    queues: list[deque[int]] = [deque() for _ in range(n)]
    left, began = [0] * clients, [0.0] * clients
    events: list[tuple[float, int, int]] = []
    done: list[tuple[float, float]] = []
    plain = iter(draws.uniform(_FROM, _TO, _REQUESTS * network.touched * 2 + clients * n).tolist())
    lots = iter(draws.random(_REQUESTS * network.touched * 2 + clients * n).tolist())
    firsts = iter(draws.integers(n, size=_REQUESTS + 2 * clients).tolist())

    def serve(now: float, member: int) -> None:
        time = next(plain)
        lot = next(lots)
        if member < network.bad and lot < network.ratio:
            time += network.length * _TIMES[int(lot / network.ratio * len(_TIMES))]
        heapq.heappush(events, (now + time, member, queues[member][0]))

    def ask(now: float, client: int) -> None:
        began[client], left[client] = now, network.touched
        first = next(firsts)
        for at in range(network.touched):
            queue = queues[(first + at) % n]
            queue.append(client)
            if len(queue) == 1:
                serve(now, (first + at) % n)

    for client in range(clients):
        ask(0.0, client)
    while len(done) < _REQUESTS:
        now, member, client = heapq.heappop(events)
        queues[member].popleft()
        if queues[member]:
            serve(now, member)
        left[client] -= 1
        if not left[client]:
            done.append((now, now - began[client]))
            ask(now, client)
    own = done[_START:]
    times = np.array([time for _, time in own])
    percentiles = {name: float(np.quantile(times, level)) for name, level in SHAPE.items()}
    return Outcome(len(own) / (own[-1][0] - done[_START - 1][0]), percentiles | {"mean": float(times.mean())})


def _access_turns(array: Array, workload: AnyWorkload, touched: int, outstanding: int, turn_ns: int) -> float:
    """Return what an access to a member takes that is not repeated: a seek and a turn, unless it is in order."""
    transfer = workload.mean_size_bytes / touched / array.drive.sequential_bytes_per_s * 1e9 / turn_ns
    if is_sequential(workload):
        return transfer
    waiting = min(max(outstanding * touched / array.layout.disks, 1.0), DEPTH)
    return float(transfer + _ACCESS / waiting**ORDERED)


def repeating(array: Array, workload: AnyWorkload, strength: tuple[float, float], *, is_one: bool) -> Law | None:
    """Return what becomes of figures where one member, or all, repeat a share of their accesses for so many turns.

    None where members have no arms, or one of them has no equals.
    """
    n, (ratio, turns) = array.layout.disks, strength
    turn_ns = array.drive.period_ns
    if turn_ns is None or (is_one and n < 2):
        return None

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        outstanding = max(round(workload.queue_depth), 1) if measured.is_closed else 1
        found: dict[str, float] = {}
        rate = math.inf
        for part in (own for own in ALL_PARTS if f"{own}.mean" in figures):
            is_write = part != "reads"
            touched = touched_members(array, workload, is_write=is_write)
            length = turns / _access_turns(array, workload, touched, outstanding, turn_ns)
            several = 1 - (1 - ratio) ** accesses_of(array, workload, is_write=is_write)
            clients = min(outstanding, _CLIENTS)
            sick = outcome_of(Network(n, clients, touched, several, length, 1 if is_one else n))
            sound = outcome_of(Network(n, clients, touched, 0.0, 0.0, 0))
            rate = min(rate, sick.rate / sound.rate)
            # in a closed load the mean follows from the rate
            scale = sound.rate / sick.rate * sound.times["mean"] / sick.times["mean"] if measured.is_closed else 1.0
            for name, value in sick.times.items():
                if f"{part}.{name}" in figures:
                    found[f"{part}.{name}"] = figures[f"{part}.{name}"] * scale * value / sound.times[name]
        if measured.is_closed and "iops" in figures and math.isfinite(rate):
            found["iops"] = figures["iops"] * rate
        return figures | found

    return law
