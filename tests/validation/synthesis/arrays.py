"""Arrays that traces are replayed on, and what a replay finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.records import Requests
from diskmodel.workload import TraceWorkload, Workload

#: Largest mean utilization of a reference array: the smallest array below it is taken.
MOST_BUSY = 0.5
#: A trace that keeps the smallest array busy less than this is also replayed faster.
LEAST_BUSY = 0.3
#: Utilization that a faster replay is brought to.
FAST_BUSY = 0.4
#: Numbers of disks to choose from.
DISKS = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)


@dataclass(frozen=True)
class Figures:
    """What the requests of one run see; latency over all requests, from issue to completion."""

    mean_ms: float
    p99_ms: float
    utilization_ratio: float


@dataclass(frozen=True)
class Family:
    """Arrays of one drive and level."""

    title: str
    drive: str
    level: str
    disks: tuple[int, ...]

    def of(self, n_disks: int) -> Array:
        """Return the array with that many disks."""
        return _array(self.drive, self.level, n_disks)


FAMILIES = (
    Family("RAID 10 of generic-10k", "generic-10k", "raid10", DISKS),
    Family("RAID 5 of generic-10k", "generic-10k", "raid5", DISKS),
    Family("RAID 10 of 4 SATA SSDs", "samsung-pm893-960", "raid10", (4,)),
)


@cache
def _array(drive: str, level: str, n_disks: int) -> Array:
    layout = {"level": level, "disks": n_disks, "strip": "64 KiB"}
    return Array.parse({"name": f"{level} of {n_disks} {drive}", "drive": drive, "layout": layout})


@dataclass(frozen=True)
class Setting:
    """An array, and how much faster than recorded the load comes."""

    family: Family
    n_disks: int
    speed_up: float

    @property
    def array(self) -> Array:
        """The array."""
        return self.family.of(self.n_disks)


def replayed(requests: Requests, array: Array, speed_up: float = 1.0) -> Figures:
    """Return what a trace sees on an array; addresses beyond its end are wrapped."""
    trace = TraceWorkload(requests, wraps=True)
    return _figures(array, trace if speed_up == 1 else trace.scaled(speed_up), len(requests), 0)


def simulated(workload: Workload, array: Array, speed_up: float, n: int, seed: int) -> Figures:
    """Return what the first `n` requests of a synthetic workload see, drawn with `seed`."""
    return _figures(array, workload if speed_up == 1 else workload.scaled(speed_up), n, seed)


def _figures(array: Array, load: Workload | TraceWorkload, n: int, seed: int) -> Figures:
    result = simulate(array, load, n_requests=n, seed=seed, profile_draws=0, start="empty")
    done = result.run.completions
    response_ms = np.sort(done.done_ns - done.issue_ns) / 1e6
    return Figures(
        mean_ms=float(response_ms.mean()),
        p99_ms=float(response_ms[math.ceil(0.99 * len(response_ms)) - 1]),
        utilization_ratio=float(np.mean([disk.utilization_ratio for disk in result.per_disk[: array.layout.disks]])),
    )


def settings(requests: Requests) -> list[Setting]:
    """Return the reference arrays of a trace: the smallest below half busy, also with a faster replay if idle."""
    found = []
    for family in FAMILIES:
        n_disks = next((n for n in family.disks if _busy(requests, family.of(n)) < MOST_BUSY), family.disks[-1])
        found.append(Setting(family, n_disks, 1.0))
        if len(family.disks) > 1 and _busy(requests, family.of(n_disks)) < LEAST_BUSY:
            found.append(Setting(family, n_disks, _speed_up(requests, family.of(n_disks))))
    return found


def _busy(requests: Requests, array: Array, speed_up: float = 1.0) -> float:
    return replayed(requests, array, speed_up).utilization_ratio


def _speed_up(requests: Requests, array: Array) -> float:
    """Return the factor at which the replay keeps the array busy for `FAST_BUSY` of the time, within 2 %."""
    low, high = 1.0, 2.0
    while _busy(requests, array, high) < FAST_BUSY:
        low, high = high, 2 * high
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _busy(requests, array, middle) < FAST_BUSY else (low, middle)
    return float(f"{math.sqrt(low * high):.3g}")
