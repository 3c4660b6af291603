"""The space of candidates: families of arrays that differ in the number of disks only."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import Flash, Hdd
from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import LEVELS
from diskmodel.plan.question.description import PlanDescription
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Family:
    """Everything about an array except its number of disks.

    Attributes
    ----------
    drive : Drive
    level : str
    strip_bytes : int
    cache_bytes : int
        0: the controller as the plan describes it.
    groups : int
        Of RAID 50 and RAID 60; 1 elsewhere.
    """

    drive: Hdd | Flash
    level: str
    strip_bytes: int
    cache_bytes: int
    groups: int

    def key(self) -> dict[str, Any]:
        """Names of the family's parts, for JSON."""
        return {
            "drive": self.drive.name,
            "level": self.level,
            "strip_bytes": self.strip_bytes,
            "cache_bytes": self.cache_bytes,
            "groups": self.groups,
        }

    def __str__(self) -> str:
        cache = f", cache {self.cache_bytes / 2**20:.0f} MiB" if self.cache_bytes else ""
        groups = f" in {self.groups} groups" if self.groups > 1 else ""
        return f"{self.drive.name}, {self.level}{groups}, strip {self.strip_bytes // 1024} KiB{cache}"


def families(plan: PlanDescription) -> list[Family]:
    """All families of a plan, in the order of the file."""
    wanted = plan.candidates
    found = []
    for drive, level, strip, cache in itertools.product(
        wanted.drives, wanted.levels, wanted.strip_bytes, wanted.cache_bytes
    ):
        for groups in wanted.groups if LEVELS[level].default_groups > 1 else (1,):
            found.append(Family(drive, level, strip, cache, groups))
    return found


def array_of(
    plan: PlanDescription, family: Family, disks: int, *, n_failed: int = 0, is_rebuilding: bool = False
) -> Array:
    """The array of a family with so many disks, the first `n_failed` of them missing, the first being rebuilt or not.

    Raises
    ------
    DescriptionError
        When the level cannot have this number of disks, or loses data with so many missing.
    """
    layout: dict[str, Any] = {
        "level": family.level,
        "disks": disks,
        "strip_bytes": family.strip_bytes,
        "spares": plan.candidates.spares,
        "failed": list(range(n_failed)),
    }
    if is_rebuilding:
        layout |= {"rebuild": plan.candidates.rebuild.to_dict(), "spares": max(1, plan.candidates.spares)}
    if family.groups > 1:
        layout["groups"] = family.groups
    controller = plan.controller
    if family.cache_bytes:
        cache = {"size_bytes": family.cache_bytes}
        controller = type(controller).parse({**controller.to_dict(), "read_cache": cache})
    return Array(
        name=f"{family.drive.name} {family.level} x {disks}",
        drive=family.drive,
        layout=Layout.parse(layout),
        queue=plan.queue,
        controller=controller,
        spindles=plan.spindles,
    )


def allowed_counts(plan: PlanDescription, family: Family) -> list[int]:
    """Counts of the plan that the family's level can have, ascending."""
    found = []
    for disks in plan.candidates.counts:
        if family.level == "raid1" and disks > 2:
            continue  # more mirrors of the same data hold nothing more; RAID 10 is what grows
        try:
            array_of(plan, family, disks)
        except DescriptionError:
            continue
        found.append(disks)
    return found


def design_workload(plan: PlanDescription) -> Workload:
    """The load to be designed for: growth and peak included.

    An open workload is scaled to the designed rate (the objective's IOPS, or its own rate, times growth and peak). A
    closed one keeps its clients where an IOPS objective says what they have to achieve; otherwise the clients grow.
    A mixture is scaled as a whole by growth and peak.
    """
    workload, objective = plan.workload, plan.objective
    is_closed = not workload.is_open
    wanted = objective.design_iops
    if wanted is not None and is_closed:
        return workload
    factor = objective.load_factor
    if wanted is not None and not workload.queue_depth:
        factor = wanted / workload.offered_rate_per_s
    return workload if factor == 1 else workload.scaled(factor)


def read_fraction(workload: Workload) -> float:
    """Share of reads among all requests, streams weighted by their expected rates."""
    rates = [stream.expected_rate_per_s for stream in workload.streams]
    reads = sum(rate * stream.read_ratio for rate, stream in zip(rates, workload.streams, strict=True))
    return reads / sum(rates)
