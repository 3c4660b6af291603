"""A drive that reorders its queue up to an age limit: how long a command may wait, from reads at several depths.

From some depth on every command is older than the limit, and the rate falls back to that of the order of arrival. How
far below this depth the limit lies is shown by the percentiles of shallower queues, where only the oldest are old.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.closed_loop import with_queue
from calibrate.hdd.firmware_order import alone
from calibrate.hdd.from_fio.conditions import Condition
from diskmodel.drive import DriveQueue, Hdd

#: Ratio of neighboring limits that are tried, first and around the best. With 1.3 the rate at one depth differs by a
#: quarter where commands begin to be old; the second is half the error of a limit that was measured in a minute.
COARSE, FINE = 1.3, 1.04
#: Limits that are tried around the best one, to both sides.
N_FINE = 8
#: Shortest and longest limits that are tried, as parts of the shortest and the longest mean response among the reads.
#: Shorter ones are the order of arrival at every depth, longer ones are no limit.
SHORTEST, LONGEST = 0.5, 6.0
#: Chi-square by which other limits may fit worse and still be the drive's: two standard errors.
MAX_WORSE = 4.0
#: Limits that fit as well are kept up to so many, from the shortest to the longest.
N_KEPT = 5


@dataclass(frozen=True)
class AgeLimit:
    """The queue with the limit that fits best, its standard error, and queues with others that fit as well."""

    queue: DriveQueue
    stderr_ns: float
    near: tuple[DriveQueue, ...]


def fit_age_limit(drive: Hdd, reads: list[Condition], seed: int) -> AgeLimit | None:
    """Return the limit that fits rates and percentiles of the reads best; None where they leave a drive no choice.

    The drive is taken to accept as many commands as were measured.
    """
    deep = [c for c in reads if c.depth > 2]
    if not deep:
        return None
    measured, depth = alone(drive), max(c.depth for c in deep)
    means = [c.mean_ns for c in deep]
    known: dict[int, float] = {}

    def queue(age_ns: int) -> DriveQueue:
        return DriveQueue(depth=depth, scheduler="sptf-aged", age_ns=age_ns)

    def misfit(age_ns: int) -> float:
        if age_ns not in known:
            aged = with_queue(drive, queue(age_ns))
            off = [(measured.predict(aged, c, seed).values - c.targets) / c.errors for c in deep]
            known[age_ns] = float(np.sum(np.concatenate(off) ** 2))
        return known[age_ns]

    best = min(_limits(SHORTEST * min(means), LONGEST * max(means), COARSE), key=misfit)
    near = sorted(_limits(best / FINE**N_FINE, best * FINE ** (N_FINE + 0.5), FINE), key=misfit)
    best = near[0]
    # errors of a model that is off are those that bring its chi-square to one for each figure
    scale = max(known[best] / sum(len(c.targets) for c in deep), 1.0)
    as_good = sorted(age for age in near if known[age] - known[best] < MAX_WORSE * scale)
    kept = [as_good[i] for i in np.unique(np.linspace(0, len(as_good) - 1, N_KEPT).round().astype(int))]
    stderr = max(as_good[-1] - as_good[0], best * (FINE - 1)) / 4
    return AgeLimit(queue(best), stderr, tuple(queue(age) for age in dict.fromkeys([best, *kept])))


def _limits(low_ns: float, high_ns: float, ratio: float) -> list[int]:
    """Return limits from one to the other, each longer by a factor."""
    n = int(np.log(high_ns / low_ns) / np.log(ratio)) + 1
    return [round(low_ns * ratio**k) for k in range(n)]
