"""What a run shows of a load that decides which unknowns matter to it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import PARTS, Op, Requests, Run

#: Part of the requests that makes p99 what it is: as many below it as above it. At half, chance decides of short runs;
#: at double, requests count that are not slow.
SLOWEST = 0.02


class Seen(NamedTuple):
    """What disks did in a run.

    Attributes
    ----------
    in_disk : float
        Mean number of commands in the disk that had most.
    write_ratio : float
        Part of the commands to disks that were writes.
    asked_write_ratio : float
        Part of the requests of the load that were writes.
    is_sequential : bool
        Whether most requests go on where another one ended.
    positioning_ratio : float
        Part of the time that requests spent on seeks, rotation and transfer that was not transfer.
    has_flushes : bool
        Whether requests waited for a flush, or were flushes.
    slow_write_ratio : float
        Part of the slowest requests (`SLOWEST`) that were writes; nan where unknown.
    """

    in_disk: float
    write_ratio: float
    asked_write_ratio: float
    is_sequential: bool
    positioning_ratio: float
    has_flushes: bool = False
    slow_write_ratio: float = math.nan

    @classmethod
    def of(cls, requests: Requests, run: Run) -> Seen:
        """Return what a run shows."""
        devices = run.devices
        n_reads, n_writes = int(np.sum(devices.n_reads)), int(np.sum(devices.n_writes))
        done = run.completions
        spent = dict(zip(PARTS, done.parts_ns.sum(axis=0, dtype=np.float64).tolist(), strict=True))
        moved = spent["seek"] + spent["rotation"]
        served = moved + spent["transfer"]
        return cls(
            in_disk=float(np.max(devices.response_ns, initial=0)) / max(run.end_ns, 1),
            write_ratio=n_writes / max(n_reads + n_writes, 1),
            asked_write_ratio=float((requests.op == Op.WRITE).mean()),
            is_sequential=float(_continues(requests).mean()) > 0.5,
            positioning_ratio=moved / served if served else 1.0,
            has_flushes=spent["sync"] > 0 or bool(np.any(requests.op == Op.FLUSH)),
            slow_write_ratio=slow_write_ratio(requests.op, done.done_ns - done.issue_ns),
        )


def slow_write_ratio(op: NDArray[np.uint8], response_ns: NDArray[np.int64]) -> float:
    """Return the part of the slowest requests that were not reads; nan of none."""
    if not len(op):
        return math.nan
    n = max(round(SLOWEST * len(op)), 1)
    slowest = np.argpartition(response_ns, -n)[-n:]
    return float((op[slowest] != Op.READ).mean())


def _continues(requests: Requests) -> NDArray[np.bool_]:
    """Return which requests begin where another one of the run ends."""
    ends = np.sort(requests.offset + requests.length)
    nearest = np.minimum(np.searchsorted(ends, requests.offset), len(ends) - 1)
    found: NDArray[np.bool_] = ends[nearest] == requests.offset
    return found
