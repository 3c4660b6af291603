"""How often intervals contain what was measured, how wide they are, and the rule of thumb as a reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import stats

from diskmodel.analytic.rule import WRITE_PENALTIES
from diskmodel.array import Array
from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops
from diskmodel.workload import Workload
from tests.validation.coverage.spread import Figure, Spread, Spreads, family_of_array, tail_of

#: Of all intervals here.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Judged:
    """A figure with an interval.

    Attributes
    ----------
    figure : Figure
    low, high : float
        In the figure's own unit.
    """

    figure: Figure
    low: float
    high: float

    @property
    def is_inside(self) -> bool:
        """Return whether the interval contains what was measured."""
        return self.low <= self.figure.measured <= self.high

    @property
    def width(self) -> float:
        """Return the width as a logarithm."""
        return width(self.low, self.high)

    @property
    def score(self) -> float:
        """Return the interval score of the logarithm."""
        return interval_score(self.figure.measured, self.low, self.high)


def width(low: float, high: float) -> float:
    """Return the width of an interval as a logarithm; infinite where an end is 0 or infinite."""
    return math.log(high / low) if low > 0 and math.isfinite(high) else math.inf


def interval_score(measured: float, low: float, high: float) -> float:
    """Return the interval score of the logarithm: the width, and a penalty for what lies outside.

    References
    ----------
    Gneiting and Raftery, *Strictly proper scoring rules, prediction, and estimation*, JASA 102 (2007), section 6.2.
    """
    below = math.log(low / measured) if low > 0 else 0.0
    above = math.log(measured / high) if math.isfinite(high) else 0.0
    return width(low, high) + 2 / (1 - CONFIDENCE) * max(0.0, below, above)


def of_statistic(judged: Iterable[Judged], statistic: str) -> list[Judged]:
    """Return those of a statistic."""
    return [item for item in judged if item.figure.statistic == statistic]


def inside(judged: Sequence[Judged]) -> str:
    """Return how many contain what was measured, of how many."""
    return f"{sum(item.is_inside for item in judged)} of {len(judged)}"


def inside_ratio(judged: Sequence[Judged]) -> float:
    """Return the share that contains what was measured."""
    return float(np.mean([item.is_inside for item in judged]))


def of_spread(figure: Figure, spreads: Spreads) -> tuple[float, float]:
    """Return the interval of a figure from the spreads of its load's quantities alone, as if their effects added up."""
    family, load = family_of_array(figure.case.array), figure.load
    names = {"single reads": ("positioning",), "queued reads": ("positioning", "queue"), "sequential": ("sequential",)}
    if family.startswith("flash"):
        names = {"single reads": ("flash_read_time",), "queued reads": ("flash_parallelism",)}
        others: tuple[str, ...] = ("flash_write",)
    else:
        others = ("positioning", "cached_writes")
    found = [_of_family(spreads, family, quantity) for quantity in names.get(load, others)]
    if figure.statistic.endswith("p99"):
        found.append(_of_family(spreads, family, tail_of(family, load)))
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, min(one.dof for one in found)))
    half *= math.sqrt(sum(one.log_sd**2 for one in found))
    return figure.nominal * math.exp(-half), figure.nominal * math.exp(half)


def _of_family(spreads: Spreads, family: str, quantity: str) -> Spread:
    return spreads.get((family, quantity)) or spreads[family.partition("-")[0], quantity]


class Asked(Protocol):
    """A load of one stream of clients on an array."""

    @property
    def array(self) -> Array: ...
    @property
    def workload(self) -> Workload: ...


def _usual_iops(asked: Asked) -> float:
    return calculator_disk_iops(asked.array.drive)


def rule_of(asked: Asked, disk_iops: Callable[[Asked], float] = _usual_iops) -> dict[str, float]:
    """Return the rule of thumb of a load: rate, mean and p99.

    The rate is that of all disks by the usual rating of one, over the operations that a request needs; at most as many
    disks are busy as requests are outstanding, and a RAID-Z group counts as one. Clients who wait have a mean of their
    number over the rate, and the rule of thumb ignores the tail: p99 is that of an exponential distribution.
    """
    (stream,) = asked.workload.streams
    reads, depth = float(stream.read_ratio), int(stream.to_dict()["arrival"]["clients"])
    layout = asked.array.layout
    level = str(layout.level)
    n_disks = 1 if level.startswith("raidz") else layout.disks
    penalty = WRITE_PENALTIES.get("raid10" if level == "mirror" else level, 1)
    disks = min(n_disks, depth) if reads == 1 else n_disks
    rate = disks * disk_iops(asked) / (reads + (1 - reads) * penalty)
    mean_ms = 1e3 * depth / rate
    return {"iops": rate, "mean": mean_ms, "p99": math.log(100) * mean_ms}
