"""What a plan answers of pools of clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from diskmodel.analytic import HOURS_PER_YEAR
from diskmodel.array import Array
from diskmodel.drive import ClusterPool
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.question.objective import Objective
from diskmodel.workload import Workload


@dataclass(frozen=True)
class State(Record):
    """A pool under the load, whole or with a node failed.

    Attributes
    ----------
    is_stable : bool
    iops, mean_ms, p99_ms : float
        Typical values.
    bad_mean_ms, bad_p99_ms : float
        Of the bad one of ten clusters that may be like this one; infinite in an overload.
    busiest : str
        Which part is busiest, and how busy.
    """

    is_stable: bool
    iops: float
    mean_ms: float
    p99_ms: float
    bad_mean_ms: float
    bad_p99_ms: float
    busiest: str


@dataclass(frozen=True)
class ClusterCandidate(Record):
    """The fewest drives of one kind in so many nodes.

    Attributes
    ----------
    drive, level : str
        Names of the drive and of the scheme, as asked.
    nodes, drives_per_node : int
    feasible : bool
    binds : str
        What is missed at the most drives that were tried; of a feasible one what one drive a node fewer would miss.
    array : Array
        Whole.
    whole, failed, recovering : State or None
        With all nodes; with one failed; and while what it had is copied. None where that cannot be, or was not tried.
    """

    drive: str
    level: str
    nodes: int
    drives_per_node: int
    feasible: bool
    binds: str
    array: Array
    whole: State | None = None
    failed: State | None = None
    recovering: State | None = None

    @property
    def pool(self) -> ClusterPool:
        """The pool."""
        pool = self.array.drive
        assert isinstance(pool, ClusterPool)
        return pool

    @property
    def disks(self) -> int:
        """Drives for data, of all nodes."""
        return self.nodes * self.drives_per_node

    @property
    def heals(self) -> bool:
        """Whether what a failed node had can be copied to the others."""
        return self.nodes > self.pool.width or self.pool.failure_domain == "osd"

    @property
    def usable_bytes(self) -> int:
        """What may be stored below nearfull, so that a node may fail and be copied where that is possible."""
        pool = self.pool
        return pool.capacity_bytes * (self.nodes - 1) // self.nodes if self.heals else pool.capacity_bytes

    @property
    def recovery_hours(self) -> float:
        """Hours until what a failed node had has been copied; nan where it cannot be."""
        return self.pool.recovery_hours if self.heals else math.nan

    @property
    def loss_per_year(self) -> float:
        """Chance of losing data within a year, by failures of drives alone."""
        return -math.expm1(-HOURS_PER_YEAR / (self.pool.mttf_hours or math.inf))

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        whole = self.whole
        found: dict[str, Any] = {
            "drive": self.drive,
            "level": self.level,
            "nodes": self.nodes,
            "drives_per_node": self.drives_per_node,
            "disks": self.disks,
            "feasible": self.feasible,
            "decided": True,
            "binds": self.binds,
            "usable_bytes": self.usable_bytes,
            "recovery_hours": self.recovery_hours,
            "data_loss_per_year": self.loss_per_year,
            "array": self.array,
        }
        if whole is not None:
            found |= {"iops": whole.iops, "latency_ms": {"mean": whole.mean_ms, "p99": whole.p99_ms}}
            found |= {"latency_p90_ms": {"mean": whole.bad_mean_ms, "p99": whole.bad_p99_ms}}
        for name, state in (("node_failed", self.failed), ("recovering", self.recovering)):
            found[name] = None if state is None else {"mean": state.mean_ms, "p99": state.p99_ms}
        return found


@dataclass(frozen=True)
class ClusterPlan(Record):
    """The answer to a plan about pools of clusters.

    Attributes
    ----------
    workload : Workload
        As designed for.
    objective : Objective
    candidates : tuple of ClusterCandidate
        The best first.
    asked : str
        The objective in words.
    """

    workload: Workload
    objective: Objective
    candidates: tuple[ClusterCandidate, ...]
    asked: str

    @property
    def best(self) -> ClusterCandidate | None:
        """The feasible candidate with the fewest drives; of these that with the fewest nodes."""
        feasible = [one for one in self.candidates if one.feasible]
        return min(feasible, key=lambda one: (one.disks, one.nodes), default=None)

    @property
    def is_feasible(self) -> bool:
        """Whether any candidate meets the objective."""
        return self.best is not None

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        return {"best": self.best, "candidates": self.candidates, "workload": self.workload, "asked": self.asked}
