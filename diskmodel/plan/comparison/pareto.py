"""Cost against latency: the arrays that meet the objective and are not beaten in both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.pareto import ParetoPoint
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.family import Family
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.trier import Trier


def points_of(candidates: Iterable[Candidate]) -> list[ParetoPoint]:
    """Return the points of all trials that meet the objective, by cost where every cost is known, else by disks."""
    return _points((candidate.family, trial) for candidate in candidates for trial in candidate.trials)


def _points(trials: Iterable[tuple[Family, Trial]]) -> list[ParetoPoint]:
    met = []
    for family, trial in trials:
        p99 = trial.outcome.latency_of("p99") if trial.outcome else None
        if trial.is_met and p99 is not None:
            met.append((family, trial, p99.value / 1e6))
    is_cost = bool(met) and all(math.isfinite(trial.statics.cost_usd) for _, trial, _ in met)
    return [
        ParetoPoint(family, trial.disks, trial.statics.cost_usd if is_cost else float(trial.disks), is_cost, latency)
        for family, trial, latency in met
    ]


def pareto_front(points: Sequence[ParetoPoint]) -> list[ParetoPoint]:
    """Return the points that no other beats in price and latency, cheapest first."""
    front: list[ParetoPoint] = []
    for point in sorted(points, key=lambda p: (p.price, p.latency_ms)):
        if not front or point.latency_ms < front[-1].latency_ms:
            front.append(point)
    return front


def tried(case: Case, evaluate: Evaluate, counts: Sequence[int]) -> list[Trial]:
    """Return the trials of a family at the given counts."""
    trier = Trier(case, evaluate)
    return [trier(disks) for disks in counts]


def pareto_search(
    plan: PlanDescription, evaluate: Evaluate, *, per_family: int = 12, executor: Executor | None = None
) -> list[ParetoPoint]:
    """Return the whole front: every family at up to `per_family` counts, spread over the allowed ones.

    `PlanResult.front` contains only arrays that the search happened to try; this tries large ones, too.
    """
    asked = cases(plan)
    grids = []
    for case in asked:
        step = max(1, (len(case.counts) - 1) // max(1, per_family - 1))
        grids.append(case.counts[::step])
    if executor is None:
        results = [tried(case, evaluate, grid) for case, grid in zip(asked, grids, strict=True)]
    else:
        futures = [executor.submit(tried, case, evaluate, grid) for case, grid in zip(asked, grids, strict=True)]
        results = [future.result() for future in futures]
    return pareto_front(
        _points((case.family, trial) for case, trials in zip(asked, results, strict=True) for trial in trials)
    )
