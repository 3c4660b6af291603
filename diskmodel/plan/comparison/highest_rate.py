"""The highest rate that an array sustains, and its latency on the way there."""

from __future__ import annotations

from collections.abc import Callable

from diskmodel.array import Array
from diskmodel.plan.answer.load_curve import LoadPoint
from diskmodel.plan.comparison.load_curve import LOADS
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.rule_of_thumb import rule_of_an_array
from diskmodel.workload import Workload

#: Runs that halve the gap between the highest rate that is sustained and the lowest that is not: five make a fifth of
#: the rate less than 1 %. One fewer doubles that.
_HALVINGS = 5
#: Loads that are simulated at the same time. At double, up to seven runs are of overloads, which take longest; at half,
#: one of two processors is idle for a quarter of the runs.
_AT_ONCE = 4
#: Rates beyond the last that is sustained, as multiples of it, until one is an overload. A busier log makes larger
#: batches, so that its disks are hardly busier: there is far more to go than they say.
_STEP, _STEP_OF_A_LOG = 1.3, 2.0


def points_to_overload(
    array: Array, workload: Workload, evaluate: Evaluate, *, seed: int, n_requests: int
) -> list[LoadPoint]:
    """Return the outcomes at rates from light load to the first overload, the last two of them less than 1 % apart.

    They do not depend on the rate of the workload, which must be open: all that name a highest rate of one array under
    one kind of load name the same.
    """
    own = workload.offered_rate_per_s

    def at(rate_per_s: float) -> LoadPoint:
        load = workload.scaled(rate_per_s / own)
        return LoadPoint(rate_per_s / own, rate_per_s, evaluate(array, load, n_requests=n_requests, seed=seed))

    full = _full_rate(at, rule_of_an_array(array, workload).host_iops or own)
    points: list[LoadPoint] = []
    with at_once(evaluate) as pool:
        for first in range(0, len(LOADS), _AT_ONCE):
            points += pool.map(at, [share * full for share in LOADS[first : first + _AT_ONCE]])
            if not all(point.outcome.is_stable for point in points):
                break
    return _closed_in(at, points, _STEP_OF_A_LOG if workload.is_a_log else _STEP)


def _full_rate(at: Callable[[float], LoadPoint], guess: float) -> float:
    """Return the rate at which the disks would be busy all the time at their present service time."""
    rate = guess / 2
    while True:
        point = at(rate)
        if point.outcome.is_stable and point.outcome.utilization_ratio > 0:
            return rate / point.outcome.utilization_ratio
        rate /= 8


def _closed_in(at: Callable[[float], LoadPoint], points: list[LoadPoint], step: float) -> list[LoadPoint]:
    """Return points in order of their rates up to the first overload, with others that close in on it."""
    while all(point.outcome.is_stable for point in points):
        points.append(at(step * points[-1].offered))
    first = next(index for index, point in enumerate(points) if not point.outcome.is_stable)
    while first == 0:
        points.insert(0, at(points[0].offered / 2))
        first = 0 if not points[0].outcome.is_stable else 1
    points = points[: first + 1]
    for _ in range(_HALVINGS):
        point = at((points[-2].offered + points[-1].offered) / 2)
        if point.outcome.is_stable:
            points.insert(-1, point)
        else:
            points[-1] = point
    return points
