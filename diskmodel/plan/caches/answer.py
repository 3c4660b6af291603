"""What a plan answers of arrays with and without a cache on SSDs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.array import Array
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.working_sets import WorkingSets
from diskmodel.plan.question.objective import Objective
from diskmodel.workload import Workload


@dataclass(frozen=True)
class CacheCandidate(Record):
    """The fewest disks of one kind and level, behind one cache or none.

    Attributes
    ----------
    drive, level : str
    cache : str
        The cache as asked; "none".
    disks : int
        Of the array, without those of the cache.
    feasible : bool
    binds : str
        What is missed at the most disks that were tried; of a feasible one what fewer would miss.
    array : Array
    iops, mean_ms, p99_ms : float
        Typical values.
    bad_mean_ms, bad_p99_ms : float
        Of the bad one of ten such arrays.
    cost_usd : float or None
        Of all drives; None where a price is not known.
    said : tuple of str
        What there is to say about the cache: hits, hours until it is warm, what is lost with it.
    """

    drive: str
    level: str
    cache: str
    disks: int
    feasible: bool
    binds: str
    array: Array
    iops: float
    mean_ms: float
    p99_ms: float
    bad_mean_ms: float
    bad_p99_ms: float
    cost_usd: float | None
    said: tuple[str, ...]

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        return {
            "drive": self.drive,
            "level": self.level,
            "cache": self.cache,
            "disks": self.disks,
            "feasible": self.feasible,
            "decided": True,
            "binds": self.binds,
            "iops": self.iops,
            "latency_ms": {"mean": self.mean_ms, "p99": self.p99_ms},
            "latency_p90_ms": {"mean": self.bad_mean_ms, "p99": self.bad_p99_ms},
            "cost_usd": self.cost_usd,
            "usable_bytes": self.array.usable_bytes,
            "array": self.array,
            "messages": list(self.said),
        }


@dataclass(frozen=True)
class CachePlan(Record):
    """The answer to a plan about caches on SSDs.

    Attributes
    ----------
    workload : Workload
        As designed for.
    objective : Objective
    candidates : tuple of CacheCandidate
        The best first: the cheapest where all prices are known, else that with the fewest disks.
    working_sets : WorkingSets or None
        What the cache of the best is worth with more and less data in use; None where it has none.
    """

    workload: Workload
    objective: Objective
    candidates: tuple[CacheCandidate, ...]
    working_sets: WorkingSets | None = None

    @property
    def alone(self) -> CacheCandidate | None:
        """The first that meets the objective without a cache, on the best's disks."""
        best = self.best
        same = [one for one in self.candidates if one.cache == "none" and one.feasible]
        return next((one for one in same if best and (one.drive, one.level) == (best.drive, best.level)), None)

    @property
    def best(self) -> CacheCandidate | None:
        """The first that meets the objective."""
        return next((one for one in self.candidates if one.feasible), None)

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        return {
            "best": self.best,
            "candidates": self.candidates,
            "workload": self.workload,
            "working_sets": self.working_sets,
        }
