"""Latency against load, up to the knee and beyond."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.load_curve import Curves, Headroom, LoadPoint
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial.evaluation import Evaluate, evaluator
from diskmodel.result.statistics import Interval
from diskmodel.workload import Workload

#: Loads as shares of the load at which the disks would be 100 % busy at the present service time. An elevator makes
#: service times shorter under load, hence the loads beyond 1. The first overload ends the curve.
LOADS = (0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 1.05, 1.2, 1.4, 1.7, 2.0)

#: Of the loads, those that are simulated when the question has no time for all: at least each of so many.
_SELDOM = 3
#: How many times as long as there is time for all of them may look to take from the first: runs become shorter, but not
#: what they begin with. At half, curves that would fit are thinned; at double, caches of 64 GiB are drawn for 40 s.
_SHORTER = 3
#: What is left out then.
CLOSER = "a closer look at the highest rate"


def loads(each_s: float = 0.0) -> tuple[float, ...]:
    """Return the loads of a curve; fewer where the question has no time left, or not enough for runs of `each_s`."""
    left_s = current().left_s
    if left_s and len(LOADS) * each_s <= _SHORTER * left_s:
        return LOADS
    current().leave_out([CLOSER])
    return LOADS[_SELDOM - 1 :: _SELDOM]


#: Multiples of the load of a log alone: a busier log makes larger batches, and its disks are hardly busier, so that
#: their utilization says nothing about how much more they could take. The first overload ends the curve.
LOADS_OF_A_LOG = tuple(2.0**k for k in range(-3, 16))

#: Runs that halve the gap between the last load that meets a limit and the next: three make it an eighth, about 2 % of
#: the load. One fewer doubles that.
REFINEMENTS = 3

#: Outstanding requests of closed workloads, as multiples of the workload's own; and those that are simulated when the
#: question has no time for all.
DEPTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_SELDOM_DEPTHS = (0.25, 1.0, 4.0)


def load_points(
    array: Array, workload: Workload, at_one: Outcome, evaluate: Evaluate, *, seed: int, n_requests: int
) -> list[LoadPoint]:
    """Return the outcomes at loads from light to beyond the knee, the workload's own load among them.

    An open workload is scaled to shares of the load at which the disks of `at_one` would be 100 % busy, a log to
    multiples of its rate, a closed one to multiples of its clients.
    """
    if workload.is_open and workload.is_a_log:
        factors = list(LOADS_OF_A_LOG)
    elif workload.is_open:
        full = 1 / at_one.utilization_ratio if 0 < at_one.utilization_ratio < 1 and at_one.is_stable else 1.0
        factors = sorted({1.0, *(share * full for share in loads())})
    else:
        factors = _depths(workload, DEPTHS)
    seldom = () if workload.is_open else _depths(workload, _SELDOM_DEPTHS)
    points = []
    n_beyond = 0
    for factor in factors:
        if current().is_spent and seldom and factor not in seldom:
            current().leave_out([CLOSER])
            continue
        outcome = at_one
        if factor != 1.0:
            outcome = evaluate(array, workload.scaled(factor), n_requests=n_requests, seed=seed)
        offered = (workload.offered_rate_per_s if workload.is_open else workload.queue_depth) * factor
        points.append(LoadPoint(factor, offered, outcome))
        n_beyond += not outcome.is_stable
        if n_beyond and factor >= 1:
            break
    return points


def _depths(workload: Workload, multiples: Sequence[float]) -> list[float]:
    """Return factors of the clients of a closed workload that make whole numbers of them."""
    return sorted({max(1, round(m * workload.queue_depth)) / workload.queue_depth for m in multiples})


def find_headroom(
    curve: Sequence[LoadPoint],
    workload: Workload,
    growth_ratio: float | None,
    p99_limit_ms: float | None = None,
    tried: Sequence[LoadPoint] | None = None,
    *,
    is_whole: bool = True,
) -> Headroom:
    """Return the knee and the headroom of a curve: up to the p99 limit, or up to the knee without one.

    The knee and the highest rate are those of `tried`: of the points that do not depend on the load that was asked
    about, where there are such; default: of all. Of a curve that is not whole, which has loads next to the highest
    alone, no more than the highest rate is known.
    """
    points = sorted(curve, key=lambda point: point.load_factor)
    stable = [point for point in (points if tried is None else tried) if point.outcome.is_stable]
    if not stable:
        return Headroom(math.nan, 0.0, 0.0, math.nan, p99_limit_ms, -1.0, None if growth_ratio is None else 0.0)
    most_iops = max(_rate(point, workload) for point in stable)
    if not is_whole:
        return Headroom(math.nan, most_iops, math.nan, math.nan, p99_limit_ms, math.nan, None)
    knee = max(stable, key=power)
    if p99_limit_ms is None:
        last: LoadPoint | None = knee
    else:
        met = list(itertools.takewhile(lambda point: meets(point, p99_limit_ms), points))
        last = met[-1] if met else None
    now = next((point for point in points if point.load_factor == 1.0), points[0])
    ratio = -1.0 if last is None else _rate(last, workload) / _rate(now, workload) - 1
    months = None
    if growth_ratio is not None and growth_ratio > 0:
        months = max(0.0, 12 * math.log1p(ratio) / math.log1p(growth_ratio)) if ratio > -1 else 0.0
    p99 = None if last is None else last.outcome.latency_of("p99")
    return Headroom(
        knee_iops=_rate(knee, workload),
        most_iops=most_iops,
        rate=0.0 if last is None else _rate(last, workload),
        p99_ms=math.nan if p99 is None else p99.value / 1e6,
        limit_ms=p99_limit_ms,
        ratio=ratio,
        months=months,
    )


def meets(point: LoadPoint, p99_limit_ms: float) -> bool:
    """Return whether the whole interval of p99 is below the limit."""
    p99 = point.outcome.latency_of("p99")
    return point.outcome.is_stable and p99 is not None and _upper(p99) <= p99_limit_ms * 1e6


def refined(
    curve: Sequence[LoadPoint],
    array: Array,
    workload: Workload,
    p99_limit_ms: float,
    evaluate: Evaluate,
    *,
    seed: int,
    n_requests: int,
) -> list[LoadPoint]:
    """Return the curve of an open workload with more loads between the last that meets the limit and the next."""
    points = sorted(curve, key=lambda point: point.load_factor)
    if not workload.is_open:
        return points
    for _ in range(0 if current().is_spent else REFINEMENTS):
        at = sum(1 for _ in itertools.takewhile(lambda point: meets(point, p99_limit_ms), points))
        if at == 0 or at == len(points):
            break
        factor = (points[at - 1].load_factor + points[at].load_factor) / 2
        outcome = evaluate(array, workload.scaled(factor), n_requests=n_requests, seed=seed)
        points.insert(at, LoadPoint(factor, workload.offered_rate_per_s * factor, outcome))
    return points


def _rate(point: LoadPoint, workload: Workload) -> float:
    """Return the rate offered by an open workload, the rate achieved by a closed one."""
    return point.offered if workload.is_open else point.outcome.iops.value


def _upper(interval: Interval) -> float:
    return interval.high if math.isfinite(interval.high) else interval.value


def power(point: LoadPoint) -> float:
    mean = point.outcome.latency_of("mean")
    return point.outcome.iops.value / mean.value if mean is not None and mean.value > 0 else 0.0


def latency_curves(result: PlanResult, evaluate: Evaluate | None = None, *, most: int = 4) -> Curves:
    """Return latency against load of the answers: the best, then the best of each other level, up to `most` in all."""
    plan = result.plan
    decide = evaluate if evaluate is not None else evaluator(plan)
    feasible = sorted((c for c in result.candidates if c.disks is not None), key=lambda c: c.disks or 0)
    if result.best is not None:
        feasible.insert(0, result.best)
    chosen: dict[str, Candidate] = {}
    for candidate in feasible:
        chosen.setdefault(candidate.family.level, candidate)
    curves = []
    for candidate in list(chosen.values())[:most]:
        assert candidate.disks is not None
        assert candidate.trial is not None
        if candidate.trial.outcome is None:
            continue
        case = Case(plan, candidate.family)
        array = case.array(candidate.disks)
        points = load_points(
            array,
            case.workload,
            candidate.trial.outcome,
            decide,
            seed=plan.search.seed,
            n_requests=plan.search.requests,
        )
        curves.append((array.name, points))
    return curves
