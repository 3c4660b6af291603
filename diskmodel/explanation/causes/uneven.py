"""What one member that is slower than its equals does to an array: a closed network of queues, one of them slow.

Every access to the slow member takes so many times as long. The model of it is the smallest one that has the queue
before that member: stations of equal demand but for one, as many requests among them as are outstanding, in product
form (Buzen, *Computational algorithms for closed queueing networks*, Communications of the ACM 16(9), 1973). Only
ratios to the same network without the slow one are used; all else is as simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import Law
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.uncertainty import AnyWorkload

Floats = NDArray[np.float64]

#: Gain of a disk that orders its commands, as a power of those that wait: 32 of them are served twice as fast as one
#: by one (rates of single disks over depths, docs/explanation/validation/disks.md). At half, a slow
#: member costs a third more of a deep queue.
ORDERED = 0.2
#: Commands that a drive orders, at most, and requests in the network.
DEPTH, _MOST = 32, 256


#: Places of a distribution between which percentiles are interpolated, as logarithms of their odds.
_RANKS = np.linspace(0.0025, 0.9975, 200)
_PLACES = np.log(_RANKS / (1 - _RANKS))
_LOGITS = {name: math.log(level / (1 - level)) for name, level in SHAPE.items()}


@dataclass(frozen=True)
class Slowed:
    """What becomes of a load.

    Attributes
    ----------
    rate : float
        Of its rate, over that without the slow member.
    fast, slow : float
        Of the time of requests that do not, and that do need the slow member.
    share : float
        Of the requests that need it.
    """

    rate: float
    fast: float
    slow: float
    share: float

    @property
    def mean(self) -> float:
        """Of the mean time."""
        return self.share * self.slow + (1 - self.share) * self.fast


@cache
def slowed(n_members: int, touched: int, outstanding: int, factor: float, ordered: float) -> Slowed:
    """Return what one member does whose accesses take `factor` times as long.

    Parameters
    ----------
    n_members : int
    touched : int
        Members that a request needs at the same time.
    outstanding : int
        Requests that clients have in flight.
    factor : float
    ordered : float
        By what power of its queue a member gets faster.
    """
    n_tasks = min(outstanding * touched, _MOST)
    share = touched / n_members
    if touched >= n_members:
        # every request waits for the slow one
        return Slowed(1 / factor, factor, factor, 1.0)
    healthy = _network(n_members, n_tasks, 1.0, ordered)
    sick = _network(n_members, n_tasks, factor, ordered)
    rate = sick[0] / healthy[0]
    if touched > 1:
        # a request that needs several waits for its slow part before the next one comes
        alone = (1 - share) + share * factor
        rate = min(rate, max(1 / alone, 1 / factor))
    base = healthy[2]
    return Slowed(min(rate, 1.0), max(sick[2] / base, 1e-9), sick[1] / base, share)


def _network(n_stations: int, n_tasks: int, factor: float, ordered: float) -> tuple[float, float, float]:
    """Return throughput, and the mean time at the slow station and at one of the others; service takes 1 at most."""
    places = np.arange(1, n_tasks + 1, dtype=np.float64)
    rates = np.minimum(places, DEPTH) ** ordered
    one = np.concatenate([[0.0], -np.cumsum(np.log(rates))])
    fast = one
    for _ in range(n_stations - 2):
        fast = _convolved(fast, one)
    slow = one + np.arange(n_tasks + 1) * math.log(factor)
    whole = _convolved(fast, slow)
    rate = float(np.exp(whole[-2] - whole[-1]))
    # how many are at the slow one: the others have the rest
    at_slow = np.exp(slow + fast[::-1] - whole[-1])
    n_slow = float(np.sum(np.arange(n_tasks + 1) * at_slow))
    each = (n_tasks - n_slow) / max(n_stations - 1, 1)
    return rate, n_slow / rate, each / rate


def _convolved(one: Floats, other: Floats) -> Floats:
    """Return the logarithms of the convolution of two sequences that are given by their logarithms."""
    n = len(one)
    return np.array([np.logaddexp.reduce(one[: k + 1] + other[k::-1]) for k in range(n)])


def one_slow_member(array: Array, workload: AnyWorkload, factor: float) -> Law | None:
    """Return what becomes of figures with one slow member; None where an array has no equals."""
    n = array.layout.disks
    if n < 2:
        return None

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        outstanding = workload.queue_depth if measured.is_closed else 1
        ordered = ORDERED if array.drive.has_arms else 0.0
        found: dict[str, float] = {}
        rate = 0.0
        for part in measured.parts or ("reads",):
            touched = touched_members(array, workload, is_write=part != "reads")
            own = slowed(n, touched, max(round(outstanding), 1), factor, ordered)
            rate = own.rate if not rate else min(rate, own.rate)
            found |= _parts(figures, part, own)
        if measured.is_closed and "iops" in figures:
            found["iops"] = figures["iops"] * rate
        return figures | found

    return law


def _parts(figures: dict[str, float], part: str, own: Slowed) -> dict[str, float]:
    """Return mean and percentiles of a mixture of requests that need the slow member and such that do not."""
    if f"{part}.mean" not in figures:
        return {}
    # in a closed load the mean follows from the rate, whatever the network says of single requests
    scale = 1 / own.rate / own.mean if own.rate < 1 and own.mean > 0 else 1.0
    found = {f"{part}.mean": figures[f"{part}.mean"] * own.mean * scale}
    names = [name for name in SHAPE if f"{part}.{name}" in figures]
    values = [figures[f"{part}.{name}"] for name in names]
    if len(values) < 2 or min(values) <= 0:
        return found
    logs, known = np.log(values), np.array([_LOGITS[name] for name in names])
    steep = (logs[-1] - logs[0]) / (known[-1] - known[0])
    spread = np.interp(_PLACES, known, logs)
    spread += steep * (np.minimum(_PLACES - known[0], 0) + np.maximum(_PLACES - known[-1], 0))
    both = np.concatenate([spread + math.log(own.fast * scale), spread + math.log(own.slow * scale)])
    weights = np.repeat([1 - own.share, own.share], len(_PLACES)) / len(_PLACES)
    order = np.argsort(both)
    ends = np.interp([SHAPE[name] for name in names], np.cumsum(weights[order]), both[order])
    return found | {f"{part}.{name}": math.exp(end) for name, end in zip(names, ends, strict=True)}


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
        # its records do not lie behind each other
        records = max(math.ceil(size / layout.pool_record_bytes), 1)
        return max(math.ceil(records / layout.disks), 1) if not is_write else 1
    is_read_first = is_write and layout.parity_strips and size < layout.strip_bytes * layout.data_strips
    return 2 if is_read_first else 1
