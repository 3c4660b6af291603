"""The rule of thumb of RAID calculators: disks times IOPS over write penalties; beside the simulation, or instead."""

from __future__ import annotations

import math
from dataclasses import replace

from diskmodel.analytic import RuleOfThumb, back_end_per_host, rule_of_thumb, usual_disk_iops, write_penalty
from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.loading import dataclass
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import GroupWidth
from diskmodel.result.statistics import Interval
from diskmodel.workload import Workload


def read_fraction(workload: Workload) -> float:
    """Return the share of reads among reads and writes, streams weighted by their expected rates; 1 without any."""
    reads = sum(stream.expected_rate_per_s * stream.read_ratio for stream in workload.streams)
    writes = sum(stream.expected_rate_per_s * stream.write_ratio for stream in workload.streams)
    return reads / (reads + writes) if reads + writes else 1.0


def calculator_disk_iops(drive: Drive) -> float:
    """Return the IOPS that the rule of thumb assumes for one drive: by spindle speed; otherwise rated 4 KiB reads."""
    return usual_disk_iops(drive.spindle_rpm) if drive.has_arms else drive.rated_iops


def calculator_cache_hit(array: Array, space: int = 0) -> float:
    """Return the hit ratio that the rule of thumb assumes: the stated one, else the share of the data that fits."""
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
        Rate that a closed workload has to achieve; counting cannot determine it.
    """

    required_iops: float | None = None

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome by the rule of thumb, which has no latency."""
        offered = workload.offered_rate_per_s if not workload.queue_depth else self.required_iops
        rule = _rule(array, workload, offered, array.layout.disks - len(array.layout.failed))
        assert rule.host_iops is not None
        is_open = not workload.queue_depth
        utilization = math.nan if rule.utilization_ratio is None else rule.utilization_ratio
        is_stable = not (is_open and utilization > 1)
        iops = min(offered or math.inf, rule.host_iops) if is_open else rule.host_iops
        return Outcome(
            is_stable=is_stable,
            iops=Interval.exact(iops),
            bytes_per_s=Interval.exact(iops * workload.mean_size_bytes),
            latency_ns={"": {}},
            utilization_ratio=utilization,
            back_end_per_host=rule.back_end_per_host,
            method="rule",
        )


def operations_of(array: Array, workload: Workload, space: int = 0) -> float:
    """Return the disk operations of a request that calculators count.

    Of RAID a penalty for each write. Of a vdev of RAID-Z one disk's worth of requests: each keeps all its disks busy.
    Of dRAID as many disks' worth as groups are next to each other (zpoolconcepts.7).
    """
    layout, hit = array.layout, calculator_cache_hit(array, space)
    reads = read_fraction(workload)
    of_all = layout.busy_together
    if of_all is not None:
        per_read = of_all if layout.parity_strips else 1
        return reads * (1 - hit) * per_read + (1 - reads) * of_all
    return back_end_per_host(write_penalty(layout.level, n_parity=layout.n_parity), reads, hit)


def _rule(array: Array, workload: Workload, iops: float | None, disks: int, space: int = 0) -> RuleOfThumb:
    layout = array.layout
    if layout.busy_together is not None:
        per_host, rating = operations_of(array, workload, space), calculator_disk_iops(array.drive)
        return RuleOfThumb(
            level=layout.level,
            write_penalty=layout.group_disks,
            back_end_per_host=per_host,
            iops=iops,
            back_end_iops=None if iops is None else iops * per_host,
            per_disk_iops=rating,
            array_iops=rating * disks,
            # a cache that has all data leaves the disks nothing
            host_iops=rating * disks / per_host if per_host else math.inf,
            disks=disks,
            utilization_ratio=None if iops is None else iops * per_host / (rating * disks),
        )
    return rule_of_thumb(
        array.layout.level,
        read_fraction=read_fraction(workload),
        cache_hit=calculator_cache_hit(array, space),
        disks=disks,
        iops=iops,
        per_disk_iops=calculator_disk_iops(array.drive),
        n_parity=array.layout.n_parity,
        counts_only=True,
    )


def rule_of_an_array(array: Array, workload: Workload) -> RuleOfThumb:
    """Return what the rule of thumb makes of an array, with the disks that have not failed."""
    return _rule(array, workload, None, array.layout.disks - len(array.layout.failed))


def rule_of_thumb_disks(case: Case) -> int | None:
    """Return the fewest disks by the rule of thumb: operations under the ceiling, enough space, an allowed count.

    The rule of thumb has no limit on the width of a group. None where the plan states no rate to count with; the first
    count beyond the plan's range where none in it is enough.
    """
    case = _of_any_width(case)
    objective, workload, counts = case.objective, case.workload, case.plan.candidates.counts
    stated = None if objective.commits_per_s is not None else objective.design_iops
    iops = stated or (workload.offered_rate_per_s if not workload.queue_depth else None)
    space = case.required_bytes
    # most counts are never looked at: in groups of any width, more disks have more room
    first = next((n for n in counts if case.usable_bytes(n) is not None), None)
    if first is None or (iops is None and not space):
        return None
    array = case.array(first)
    needed = 1
    if iops is not None and array.layout.busy_together is not None:
        return _pool_disks(case, iops, space)
    if iops is not None:
        ceiling = objective.utilization_ceiling_ratio or 1.0
        rule = rule_of_thumb(
            case.family.level,
            read_fraction=read_fraction(workload),
            cache_hit=calculator_cache_hit(array, space),
            iops=iops,
            per_disk_iops=calculator_disk_iops(case.family.drive),
            n_parity=array.layout.n_parity,
            utilization_ceiling=ceiling,
            counts_only=True,
        )
        needed = rule.disks_needed or 1
    for n in counts:
        if n >= needed and (case.usable_bytes(n) or 0) >= max(space, 1):
            return n
    last = next(n for n in reversed(counts) if case.usable_bytes(n) is not None)
    return max(needed, last + 1)


def _pool_disks(case: Case, iops: float, space: int) -> int | None:
    """Return the first count of disks whose vdevs have rate and space by the rule; else one beyond the last."""
    ceiling = case.objective.utilization_ceiling_ratio or 1.0
    possible = [n for n in case.plan.candidates.counts if case.usable_bytes(n) is not None]
    for n in possible:
        rule = _rule(case.array(n), case.workload, iops, n, space)
        is_enough = rule.utilization_ratio is not None and rule.utilization_ratio <= ceiling
        if is_enough and (case.usable_bytes(n) or 0) >= max(space, 1):
            return n
    return possible[-1] + 1


def _of_any_width(case: Case) -> Case:
    widest = GroupWidth(raid5=10_000, raid6=10_000)
    if max(case.plan.candidates.counts) <= min(case.plan.candidates.max_group_width.to_dict().values()):
        return case
    candidates = case.plan.candidates.model_copy(update={"max_group_width": widest})
    return replace(case, plan=case.plan.model_copy(update={"candidates": candidates}))
