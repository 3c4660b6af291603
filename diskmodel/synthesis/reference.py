"""Reference arrays of a trace, and what requests see on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.loading import dataclass
from diskmodel.records import Requests
from diskmodel.result.statistics import PERCENTILES
from diskmodel.result.statistics.quantiles import quantiles
from diskmodel.workload import TraceWorkload, Workload

#: Largest mean utilization of a reference array; the smallest array below it is taken. Plans end there, and latency is
#: neither that of idle disks nor that of an overload.
MAX_BUSY = 0.5
#: A trace that keeps the smallest array less busy than this is also replayed faster, until the array is `FAST_BUSY`.
MIN_BUSY = 0.3
FAST_BUSY = 0.4
#: Relative distance from `FAST_BUSY` that is good enough, and replays to get there.
_FAST_WITHIN = 0.05
_FAST_REPLAYS = 12


#: Runs that figures are averaged over: at least, at most, and the relative standard error of mean and p99 at which they
#: are enough. In a burst that fills its queue for a while, runs of one trace that differ only in the angles of the
#: spindles differ by a factor of two in p99. With half as many, the average of such a trace is off by a tenth; with
#: twice as many, a fit takes twice as long.
_LEAST_RUNS, _MOST_RUNS = 3, 16
_STANDARD_ERROR = 0.025


@dataclass(frozen=True)
class Run:
    """What the requests of one run see: latency over all of them, from issue to completion; the array began empty."""

    mean_ns: float
    p99_ns: float
    utilization_ratio: float


@dataclass(frozen=True)
class Figures:
    """What requests see in several runs that differ in their seed.

    The seed decides the angles of the spindles and, of a workload, where its course of phases begins.
    """

    runs: tuple[Run, ...]

    @property
    def mean_ns(self) -> float:
        """Average over the runs."""
        return self._average("mean_ns")

    @property
    def p99_ns(self) -> float:
        """Average over the runs."""
        return self._average("p99_ns")

    @property
    def utilization_ratio(self) -> float:
        """Average over the runs."""
        return self._average("utilization_ratio")

    def spread_ratio(self, name: str) -> float:
        """Return the standard deviation of `mean_ns` or `p99_ns` between runs, relative to their average."""
        values = [getattr(run, name) for run in self.runs]
        return float(np.std(values, ddof=1)) / max(self._average(name), 1.0) if len(values) > 1 else 0.0

    def _average(self, name: str) -> float:
        return float(np.mean([getattr(run, name) for run in self.runs]))


@dataclass(frozen=True)
class Family:
    """Arrays of one drive and level, with these numbers of disks; their controller may have a read cache."""

    level: str
    drive: str
    disks: tuple[int, ...]
    read_cache: str = ""

    def of(self, n_disks: int) -> Array:
        """Return the array with that many disks."""
        return _array(self.drive, self.level, n_disks, self.read_cache)


_DISKS = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)

#: Mirrors and parity on disks that position, and drives that do not.
FAMILIES = (
    Family("raid10", "generic-10k", _DISKS),
    Family("raid5", "generic-10k", _DISKS),
    Family("raid10", "samsung-pm893-960", (4,)),
)


@cache
def _array(drive: str, level: str, n_disks: int, read_cache: str) -> Array:
    name = f"{level} of {n_disks} {drive}" + (f", {read_cache} read cache" if read_cache else "")
    layout = {"level": level, "disks": n_disks, "strip": "64 KiB"}
    controller = {"controller": {"read_cache": {"size": read_cache}}} if read_cache else {}
    return Array.parse({"name": name, "drive": drive, "layout": layout, **controller})


@dataclass(frozen=True)
class Setting:
    """An array, and how many times faster than recorded the load comes."""

    array: Array
    speed_up: float
    trace: Figures

    @property
    def title(self) -> str:
        """The array in words."""
        return self.array.name


def replayed(requests: Requests, array: Array, speed_up: float = 1.0) -> Figures:
    """Return what a trace sees on an array, from seed 0 on; addresses beyond its end are wrapped."""
    return _figures(lambda seed: _replay(requests, array, speed_up, seed), 0)


def simulated(workload: Workload, array: Array, speed_up: float, n: int, first_seed: int) -> Figures:
    """Return what the first `n` requests of a workload see; a region that does not fit the array is moved."""
    load = within(workload, array.usable_bytes)
    load = load if speed_up == 1 else load.scaled(speed_up)
    return _figures(lambda seed: _run(array, load, n, seed), first_seed)


def _replay(requests: Requests, array: Array, speed_up: float, seed: int) -> Run:
    trace = TraceWorkload(requests, wraps=True)
    return _run(array, trace if speed_up == 1 else trace.scaled(speed_up), len(requests), seed)


def _figures(run_of: Callable[[int], Run], first_seed: int) -> Figures:
    """Return the runs of as many seeds as their averages need."""
    found = Figures(tuple(run_of(first_seed + i) for i in range(_LEAST_RUNS)))
    while len(found.runs) < _MOST_RUNS and not _is_precise(found):
        found = Figures((*found.runs, run_of(first_seed + len(found.runs))))
    return found


def _is_precise(found: Figures) -> bool:
    spread = max(found.spread_ratio(name) for name in ("mean_ns", "p99_ns"))
    return spread / math.sqrt(len(found.runs)) <= _STANDARD_ERROR


def within(workload: Workload, capacity_bytes: int) -> Workload:
    """Return a fitted workload whose region lies on an array of so many bytes."""
    (stream,) = workload.streams
    first, span = stream.region(capacity_bytes, None)
    if first + span <= capacity_bytes:
        return workload
    first %= capacity_bytes
    if first + span > capacity_bytes:
        first, span = 0, min(span, capacity_bytes)
    shorter = stream.model_copy(update={"offset_bytes": first, "span_bytes": span})
    return workload.model_copy(update={"streams": (shorter,)})


def _run(array: Array, load: Workload | TraceWorkload, n: int, seed: int) -> Run:
    result = simulate(array, load, n_requests=n, seed=seed, profile_draws=0, start="empty")
    done = result.run.completions
    response_ns = done.done_ns - done.issue_ns
    return Run(
        mean_ns=float(response_ns.mean()),
        p99_ns=float(quantiles(response_ns, PERCENTILES["p99"])),
        utilization_ratio=float(np.mean([disk.utilization_ratio for disk in result.per_disk[: array.layout.disks]])),
    )


def settings(requests: Requests, families: tuple[Family, ...] = FAMILIES) -> list[Setting]:
    """Return the reference arrays of a trace with what it sees there.

    The smallest array of each family that the trace keeps less than half busy, at the recorded speed; and where that
    is less than 30 % and the family has several arrays, also at the speed that keeps it 40 % busy.
    """
    found = []
    for family in families:
        for n_disks in family.disks:
            array = family.of(n_disks)
            busy = _replay(requests, array, 1.0, 0).utilization_ratio
            if busy < MAX_BUSY:
                break
        found.append(Setting(array, 1.0, replayed(requests, array)))
        if len(family.disks) > 1 and busy < MIN_BUSY:
            speed_up = _speed_up(requests, array, busy)
            found.append(Setting(array, speed_up, replayed(requests, array, speed_up)))
    return found


def _speed_up(requests: Requests, array: Array, busy: float) -> float:
    """Return the speed that keeps the array 40 % busy; at the recorded speed it is `busy`."""
    slow = speed = 1.0
    fast = math.inf
    for _ in range(_FAST_REPLAYS):
        if abs(busy / FAST_BUSY - 1) <= _FAST_WITHIN:
            break
        slow, fast = (speed, fast) if busy < FAST_BUSY else (slow, speed)
        speed *= FAST_BUSY / max(busy, 1e-6)
        if not slow < speed < fast:
            speed = math.sqrt(slow * fast) if math.isfinite(fast) else 2 * slow
        speed = float(f"{speed:.3g}")
        busy = _replay(requests, array, speed, 0).utilization_ratio
    return speed
