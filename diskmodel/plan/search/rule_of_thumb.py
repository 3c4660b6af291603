"""The calculators' answer: spindles times IOPS over write penalties. Beside the simulation, or instead of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diskmodel.analytic.rule import RuleOfThumb, rule_of_thumb, usual_disk_iops
from diskmodel.array import Array
from diskmodel.drive import Flash, Hdd
from diskmodel.plan.answer.outcome import Figure, Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, array_of, design_workload, read_fraction
from diskmodel.plan.search.statics import space_bytes
from diskmodel.workload import Workload


def calculator_disk_iops(drive: Hdd | Flash) -> float:
    """IOPS that a calculator grants one drive: by spindle speed; of flash, its data sheet's 4 KiB reads."""
    if isinstance(drive, Hdd):
        return usual_disk_iops(drive.rpm)
    limits = [drive.channels * drive.dies_per_channel * 1e9 / drive.read_ns, drive.interface_bytes_per_s / 4096]
    if drive.read_overhead_ns:
        limits.append(1e9 / drive.read_overhead_ns)
    return min(limits)


def calculator_cache_hit(array: Array, space: int = 0) -> float:
    """Hit ratio that a calculator is told: the stated one, else the share of the data that the cache holds."""
    cache = array.controller.read_cache
    if cache is None:
        return 0.0
    if cache.hit_ratio is not None:
        return cache.hit_ratio
    assert cache.size_bytes is not None
    return min(1.0, cache.size_bytes / (space or array.usable_bytes))


@dataclass(frozen=True)
class Counted:
    """Evaluates an array by counting operations: no mechanics, no queueing, no cache but a stated hit ratio.

    Attributes
    ----------
    required_iops : float or None, per second
        What a closed workload is meant to do, whose rate counting cannot find.
    """

    required_iops: float | None = None

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Outcome by the rule of thumb; it knows of no latency."""
        offered = workload.offered_rate_per_s if not workload.queue_depth else self.required_iops
        rule = _rule(array, workload, offered, array.layout.disks - len(array.layout.failed))
        assert rule.host_iops is not None
        is_open = not workload.queue_depth
        size = sum(s.mean_size_bytes * s.expected_rate_per_s for s in workload.streams)
        size /= sum(s.expected_rate_per_s for s in workload.streams)
        utilization = math.nan if rule.utilization_ratio is None else rule.utilization_ratio
        is_stable = not (is_open and utilization > 1)
        iops = min(offered or math.inf, rule.host_iops) if is_open else rule.host_iops
        return Outcome(
            is_stable=is_stable,
            iops=Figure.exact(iops),
            bytes_per_s=Figure.exact(iops * size),
            latency_ns={"": {}},
            utilization_ratio=utilization,
            back_end_per_host=rule.back_end_per_host,
            method="rule",
        )


def _rule(array: Array, workload: Workload, iops: float | None, disks: int, space: int = 0) -> RuleOfThumb:
    return rule_of_thumb(
        array.layout.level,
        read_fraction=read_fraction(workload),
        cache_hit=calculator_cache_hit(array, space),
        disks=disks,
        iops=iops,
        per_disk_iops=calculator_disk_iops(array.drive),
        n_parity=array.layout.n_parity,
    )


def rule_of_thumb_disks(plan: PlanDescription, family: Family, counts: list[int]) -> int | None:
    """Disks that a calculator would ask for: enough operations under the ceiling, enough space, a count the level has.

    None where the plan names no rate that could be counted; the first count beyond the plan's range where none in it
    is enough.
    """
    workload = design_workload(plan)
    iops = plan.objective.design_iops or (workload.offered_rate_per_s if not workload.queue_depth else None)
    space = space_bytes(plan.objective, workload)
    if not counts or (iops is None and not space):
        return None
    array = array_of(plan, family, counts[0])
    needed = 1
    if iops is not None:
        ceiling = plan.objective.utilization_ceiling_ratio or 1.0
        rule = rule_of_thumb(
            family.level,
            read_fraction=read_fraction(workload),
            cache_hit=calculator_cache_hit(array, space),
            iops=iops,
            per_disk_iops=calculator_disk_iops(family.drive),
            utilization_ceiling=ceiling,
        )
        needed = rule.disks_needed or 1
    fitting = [n for n in counts if n >= needed]
    return next((n for n in fitting if array_of(plan, family, n).usable_bytes >= space), max(needed, counts[-1] + 1))
