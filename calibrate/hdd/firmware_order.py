"""How the firmware of a measured disk orders commands, where no ideal scheduler explains the reads.

The mechanics are known from reads one at a time. Margin, age weight and committed commands are fitted as for results of
fio, to rates and percentiles of the deeper reads.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from calibrate.arrays import Floats
from calibrate.closed_loop import with_queue
from calibrate.evidence import Key, Measurement
from calibrate.hdd.from_fio.conditions import Condition, conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.mechanics import Mechanics, Ordered
from diskmodel.array import Array
from diskmodel.drive import DriveQueue, Hdd

#: Chi-square for each measured figure up to which an order explains the reads. Of disks of known order the right one
#: has 0.2 to 0.5, another scheduler 6 and more, another depth 2 and more. At half noise passes for firmware, and at
#: double another depth passes for the right one.
MAX_EXPLAINED = 1.0
#: Percentile from which on responses of deep queues are compared.
MIDDLE = 50.0


@dataclass
class KnownMechanics(Mechanics):
    """A drive of known mechanics: only the order of commands moves."""

    free: ClassVar[slice] = slice(4, 6)

    def drive(self, x: Floats, committed: int) -> Hdd:
        """Return the drive at `x` whose firmware plans so many commands ahead."""
        return self.base.model_copy(update={"queue": self.queue(x, committed)})


def deep_reads(measurement: Measurement, keys: Collection[Key]) -> list[Condition]:
    """Return the random reads of these keys, over the whole drive, as conditions with percentiles."""
    depths = {(key.length_bytes, key.queue_depth) for key in keys}
    reads = (c for c in conditions_of([], [measurement]) if c.op == "read" and not c.is_mixed)
    return [_over_all(c) for c in reads if (c.length_bytes, c.depth) in depths]


def _over_all(condition: Condition) -> Condition:
    """Return the condition on the whole drive: what was measured is the drive, whose last block may be cut.

    The runs are short: the soonest responses of a deep queue are those of its first requests, which did not wait.
    """
    streams = tuple(stream.model_copy(update={"span_bytes": None}) for stream in condition.workload.streams)
    whole = {"streams": streams, "span_bytes": None, "span_ratio": 1.0}
    usual = {p: ns for p, ns in condition.percentiles_ns.items() if p >= MIDDLE or condition.depth == 1}
    workload = condition.workload.model_copy(update=whole)
    return replace(condition, workload=workload, percentiles_ns=usual)


def is_explained(drive: Hdd, reads: list[Condition], seed: int) -> bool:
    """Return whether the drive with its scheduler has the measured rates and percentiles, within their errors."""
    measured = alone(drive)
    off = [(measured.predict(drive, c, seed).values - c.targets) / c.errors for c in reads]
    return float(np.mean(np.concatenate(off) ** 2)) < MAX_EXPLAINED


def fit_order(drive: Hdd, reads: list[Condition], seed: int) -> Ordered | None:
    """Return the order of commands that fits the reads; None where they are too shallow for a choice.

    The drive is taken to accept as many commands as were measured, unless only fewer explain the reads.
    """
    depth = max(c.depth for c in reads)
    best: Ordered | None = None
    while depth > 2:
        sorting = with_queue(drive, DriveQueue(depth=depth, scheduler="sptf"))
        fit = KnownMechanics(alone(drive), sorting, reads, seed)
        found = fit.with_order(fit.usual[0])
        if best is None or found.misfit < best.misfit:
            best = found
        if is_explained(best.drive, reads, seed):
            break
        depth //= 2
    return best


def alone(drive: Hdd) -> MeasuredArray:
    """Return the disk alone; the measuring program hands over its requests in order."""
    return MeasuredArray(Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}}))
