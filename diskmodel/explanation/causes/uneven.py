"""What members do to an array that are slower than their equals: a closed network of queues, simulated.

Every access to a bad member takes so many times as long, or a few of them take many times as long. Meanwhile the
requests of all clients end up waiting for that member, so neither a mean nor a mixture says what becomes of the others.
The model of it is the smallest one that has these queues: clients that ask again as soon as all parts of their request
are done, members that serve one part at a time and faster the more they can choose from, and reads of mirrors that
avoid the half with the queue as Linux md and OpenZFS do. Only ratios to the same network without the bad member are
used; all else is as simulated.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.explanation.causes.cause import Law, is_sequential
from diskmodel.explanation.measured import ALL_PARTS, SHAPE, Measured
from diskmodel.loading import dataclass
from diskmodel.uncertainty import AnyWorkload

Floats = NDArray[np.float64]

#: Gain of a disk that orders its commands, as a power of those that wait: 32 of them are served twice as fast as one
#: by one (rates of single disks over depths, docs/explanation/validation/disks.md). At half, a slow
#: member costs a third more of a deep queue.
ORDERED = 0.2
#: Commands that a drive orders, at most.
_DEPTH = 32
#: Requests of the network, and of those that are left out at its start. At half, p99 is off by a fifth.
_REQUESTS, _START = 2_000, 200
#: Members that a request of it needs, at most: of 48 to 100 that it needs, 32 leave the ratios as they are within the
#: noise of so many requests, and 16 let the slowest sound one end 3 % sooner.
_TOUCHED = 32
#: What a part of one of them takes, seconds: 2,000 requests to 100 members took 0.33.
_PART_S = 1.6e-6
#: Clients of it at most; more of them only wait.
_CLIENTS = 64
#: Shortest and longest access, over its mean: a seek and a turn that differ.
_FROM, _TO = 0.5, 1.5
#: Part by which the share of requests that meet a bad member is another one than the network's: who is read when two
#: can be is known of no system so well. Where a percentile lies between requests that met it and others, it may be
#: either's: at half, a member that repeats is called a slow one for certain; at double, hardly a percentile says more.
_SHARE_ERROR = 0.25
#: Percentiles by which that is found.
_LEVELS = 9
#: Times that a repeated access takes, over their mean: no two of them need as many turns.
_TIMES = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Network:
    """Members, requests, and what is wrong.

    Attributes
    ----------
    members, clients, touched : int
        A request needs so many members at the same time.
    servers : int
        Parts that a member serves at a time.
    moving : float
        Part of an access that is shorter the more commands a member can choose from.
    copies : int
        Members that hold the same, beside each other: a read needs one of them.
    chooses : "idle", "even", "shortest" or "first"
        Of the copies: the first without requests, else any; any of those with fewest commands in the drive, as OpenZFS
        does; the first of the shortest queue; always the first.
    bad : tuple of int
        Members of which something is wrong.
    factor : float
        Of the time of each of their accesses.
    ratio, length : float
        Of their accesses that are repeated, and for how long, over an access.
    """

    members: int
    clients: int
    touched: int
    servers: int = 1
    moving: float = 0.0
    copies: int = 1
    chooses: str = "first"
    bad: tuple[int, ...] = ()
    factor: float = 1.0
    ratio: float = 0.0
    length: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What clients see.

    Attributes
    ----------
    rate : float
        Requests per access time.
    times : dict of str to float
        Mean and percentiles of their times.
    left_open : dict of str to float
        Standard deviation of each percentile, as a logarithm, by how many requests meet a bad member.
    """

    rate: float
    times: dict[str, float]
    left_open: dict[str, float]


@cache
def outcome_of(network: Network) -> Outcome:
    """Return what clients of a network see."""
    draws = np.random.default_rng(1)
    n, copies, clients = network.members, network.copies, network.clients
    queues: list[deque[int]] = [deque() for _ in range(n)]
    pending = [0] * n
    left, began, has_met = [0] * clients, [0.0] * clients, [False] * clients
    events: list[tuple[float, int, int]] = []
    done: list[tuple[float, float, bool]] = []
    n_parts = _REQUESTS * network.touched * 2 + clients * n
    plain = iter(draws.uniform(_FROM, _TO, n_parts).tolist())
    lots = iter(draws.random(n_parts).tolist())
    choices = iter(draws.integers(copies, size=n_parts).tolist())
    firsts = iter(draws.integers(n // copies, size=_REQUESTS + 2 * clients).tolist())
    gains = [1 - network.moving + network.moving / min(max(k, 1), _DEPTH) ** ORDERED for k in range(clients * n + 1)]

    def serve(now: float, member: int) -> None:
        time = next(plain) * gains[pending[member]]
        lot = next(lots)
        client = queues[member].popleft()
        if member in bad:
            is_repeated = lot < network.ratio
            has_met[client] |= is_repeated or network.factor > 1
            time *= network.factor
            if is_repeated:
                time += network.length * _TIMES[int(lot / network.ratio * len(_TIMES))]
        heapq.heappush(events, (now + time, member, client))

    bad = frozenset(network.bad)
    groups = [range(first, first + copies) for first in range(0, n, copies)]
    chooses = network.chooses

    def chosen(group: int) -> int:
        own = groups[group]
        if chooses == "first":
            return own[0]
        if chooses == "even":
            active = [min(pending[at], _ACTIVE) for at in own]
            equal = [at for at, n_active in zip(own, active, strict=True) if n_active == min(active)]
            return int(equal[next(choices) % len(equal)])
        waiting = pending[own[0] : own[-1] + 1]
        fewest = min(waiting)
        return own[int(next(choices)) if chooses == "idle" and fewest else waiting.index(fewest)]

    def ask(now: float, client: int) -> None:
        began[client], left[client], has_met[client] = now, network.touched, False
        first = next(firsts)
        for at in range(network.touched):
            member = (first + at) % n if copies == 1 else chosen((first + at) % (n // copies))
            queues[member].append(client)
            pending[member] += 1
            if pending[member] <= network.servers:
                serve(now, member)

    for client in range(clients):
        ask(0.0, client)
    while len(done) < _REQUESTS:
        now, member, client = heapq.heappop(events)
        pending[member] -= 1
        if queues[member]:
            serve(now, member)
        left[client] -= 1
        if not left[client]:
            done.append((now, now - began[client], has_met[client]))
            ask(now, client)
    own = done[_START:]
    times = np.array([time for _, time, _ in own])
    share = sum(met for *_, met in own) / len(own)
    near = {name: _near(times, level, _SHARE_ERROR * min(share, 1 - share)) for name, level in SHAPE.items()}
    percentiles = {name: float(np.quantile(times, level)) for name, level in SHAPE.items()}
    spreads = {name: float(np.sqrt(np.mean((logs - np.log(percentiles[name])) ** 2))) for name, logs in near.items()}
    rate = len(own) / (own[-1][0] - done[_START - 1][0])
    return Outcome(rate, percentiles | {"mean": float(times.mean())}, spreads)


def _near(times: Floats, level: float, part: float) -> Floats:
    """Return the logarithms of percentiles as far below and above a level as is not known, equally likely ones."""
    levels = np.linspace(level - part, min(level + part, (1 + level) / 2), _LEVELS) if part else np.array([level])
    return np.asarray(np.log(np.quantile(times, levels)))


#: What is wrong with the members of a network, of a part of the load ("reads", "writes" …).
Wrong = Callable[[Network, str], Network]


@dataclass(frozen=True)
class UnevenLaw:
    """What becomes of figures where something is wrong with members.

    Attributes
    ----------
    array, workload
        As they are without it.
    wrong : callable
    """

    array: Array
    workload: AnyWorkload
    wrong: Wrong

    def __call__(self, figures: dict[str, float], measured: Measured) -> dict[str, float]:
        """Return figures with it."""
        found: dict[str, float] = {}
        rate = math.inf
        for part in (own for own in ALL_PARTS if f"{own}.mean" in figures):
            sick, sound = self._outcomes(measured, part)
            rate = min(rate, sick.rate / sound.rate)
            # in a closed load the mean follows from the rate
            scale = sound.rate / sick.rate * sound.times["mean"] / sick.times["mean"] if measured.is_closed else 1.0
            for name, value in sick.times.items():
                if f"{part}.{name}" in figures:
                    found[f"{part}.{name}"] = figures[f"{part}.{name}"] * scale * value / sound.times[name]
        if measured.is_closed and "iops" in figures and math.isfinite(rate):
            found["iops"] = figures["iops"] * rate
        return figures | found

    def left_open(self, measured: Measured) -> dict[str, float]:
        """Return the standard deviation of each percentile, as a logarithm, by how many requests meet a bad member."""
        return {
            f"{part}.{name}": value
            for part in measured.parts
            for name, value in self._outcomes(measured, part)[0].left_open.items()
        }

    def _outcomes(self, measured: Measured, part: str) -> tuple[Outcome, Outcome]:
        """Return what clients see of the part of a load, and what they would with nothing wrong."""
        outstanding = max(round(self.workload.queue_depth), 1) if measured.is_closed else 1
        healthy = _network(self.array, self.workload, outstanding, is_write=part != "reads")
        networks = _of_few(self.wrong(healthy, part)), _of_few(healthy)
        for network in networks:
            current().enter_once(network, _PART_S * _REQUESTS * network.touched)
        return outcome_of(networks[0]), outcome_of(networks[1])


def _of_few(network: Network) -> Network:
    """Return a network whose requests need few members, of which each has as much to do as in this one."""
    if network.touched <= _TOUCHED:
        return network
    groups = round(network.members * _TOUCHED / network.touched / network.copies)
    return replace(network, members=groups * network.copies, touched=_TOUCHED)


def _network(array: Array, workload: AnyWorkload, outstanding: int, *, is_write: bool) -> Network:
    """Return the network of a part of a load, with nothing wrong."""
    layout, has_arms = array.layout, array.drive.has_arms
    found = Network(
        members=layout.disks,
        clients=min(outstanding, _CLIENTS),
        touched=touched_members(array, workload, is_write=is_write),
        servers=_served_at_once(array, workload),
        moving=float(has_arms and not is_sequential(workload)),
    )
    if not layout.kind.keeps_copies or is_write:
        return found
    if is_sequential(workload) and layout.n_copies == layout.disks:
        return replace(found, copies=layout.n_copies, touched=1)
    if not layout.has_strips:
        return replace(found, copies=layout.n_copies, chooses="even")  # vdev_mirror_child_select of OpenZFS
    return replace(found, copies=layout.n_copies, chooses="idle" if has_arms else "shortest")


#: Reads that OpenZFS gives a disk at once (`zfs_vdev_sync_read_max_active`): of a mirror it compares only these
#: (`vdev_queue_length`), and not what waits for them.
_ACTIVE = 10
#: Bytes that OpenZFS joins to one read of a rotating disk (`zfs_vdev_aggregation_limit`).
_JOINED = 1 << 20
#: Time of a read of a flash drive by itself, s: a page's and its way, 75 to 110 us on sheets.
FLASH_READ_S = 90e-6


def _served_at_once(array: Array, workload: AnyWorkload) -> int:
    """Return the requests that a member serves at a time: one by a disk, and as many by flash as make its rate."""
    drive = array.drive
    if drive.has_arms or not drive.rated_iops > 0:
        return 1
    rate = min(drive.rated_iops, drive.sequential_bytes_per_s / workload.mean_size_bytes)
    return max(round(rate * FLASH_READ_S), 1)


#: A half of a mirror of flash that is read although many wait for it. In RAID 10, of two disks as well, Linux md chose
#: by places until it counted requests as it does in RAID 1 ("md: raid10: Improve random reads performance", Linux 5.3);
#: others take turns.
BLINDLY = 2


def bad_member(array: Array, half: int) -> tuple[int, ...] | None:
    """Return a member with equals: of mirrors the half that is read first (0) or not (1); None where there is none."""
    layout = array.layout
    has_halves = layout.kind.keeps_copies and layout.n_copies > 1
    if layout.disks < 2 or (half and not has_halves):
        return None
    if half != BLINDLY:
        return (half,)
    return None if array.drive.has_arms else (0,)


def one_slow_member(array: Array, workload: AnyWorkload, factor: float, half: int = 0) -> Law | None:
    """Return what becomes of figures with one slow member; None where an array has no equals."""
    bad = bad_member(array, half)
    if bad is None:
        return None

    def wrong(network: Network, _: str) -> Network:
        chooses = "idle" if half == BLINDLY and network.copies > 1 else network.chooses
        return replace(network, bad=bad, factor=factor, chooses=chooses)

    return UnevenLaw(array, workload, wrong)


def touched_members(array: Array, workload: AnyWorkload, *, is_write: bool) -> int:
    """Return the members that a request needs at once: those of its strips, its parity or copies, or its record."""
    layout, size = array.layout, workload.mean_size_bytes
    n = layout.disks
    if not layout.has_strips:
        if is_write:
            return n  # a group of writes ends when its last one does
        return max(layout.data_strips, 1) if layout.parity_strips else 1
    strips = max(math.ceil(size / layout.strip_bytes), 1) if layout.strip_bytes else 1
    if not is_write:
        return min(strips, n)
    if layout.kind.keeps_copies:
        return min(strips * layout.n_copies, n)
    if layout.parity_strips:
        return min(strips + layout.parity_strips, n)
    return min(strips, n)


def accesses_of(array: Array, workload: AnyWorkload, *, is_write: bool) -> int:
    """Return the accesses that a request makes on each member that it needs, one after the other."""
    layout, size = array.layout, workload.mean_size_bytes
    if not layout.has_strips:
        # records of a file lie behind each other, and what is read of a disk at once is joined (OpenZFS)
        touched = touched_members(array, workload, is_write=False)
        return max(math.ceil(size / touched / _JOINED), 1) if not is_write else 1
    is_read_first = is_write and layout.parity_strips and size < layout.strip_bytes * layout.data_strips
    return 2 if is_read_first else 1
