"""Answering a question about several volumes: one plan for each array, and what sharing does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diskmodel.engine import current, with_part
from diskmodel.plan.answer.arrangement import Arrangement, PlacedArray, ServerResult, Sharing
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.server import ServerPlan
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation, evaluator
from diskmodel.result.statistics import Interval

#: Computing time of each further array by counts, and of all of them at most, seconds. Without it the last of four has
#: what three others left, and its runs are too short to decide; at double, four hard ones take half a minute.
_MORE_S, _MOST_MORE_S = 5.0, 15.0
#: Answers one plan; `run_plan` with everything but the plan filled in.
Answer = Callable[[PlanDescription], PlanResult]


def run_server(
    plan: ServerPlan,
    *,
    evaluate: Evaluate | None = None,
    memory: str | Path | None = None,
    answer: Answer | None = None,
    **options: Any,
) -> ServerResult:
    """Return the answer to a question about several volumes.

    Parameters
    ----------
    plan : ServerPlan
    evaluate : Evaluate, optional
        Evaluates arrays; default: the simulation, or the rule of thumb where the plan asks for it.
    memory : path, optional
        File that keeps every outcome.
    answer : callable, optional
        Answers the plan of one array in place of `run_plan`.
    options
        Of `run_plan`, for every array.

    Returns
    -------
    ServerResult
        An array that several arrangements have is answered once.
    """

    def of_one_array(one: PlanDescription) -> PlanResult:
        return run_plan(one, evaluate=evaluate, memory=memory, **options)

    answer = answer or of_one_array
    known: dict[tuple[str, ...], PlacedArray] = {}
    found = []
    n_left = len({volumes for arrays in plan.arrangements.values() for volumes in arrays})
    current().enlarge(min(_MORE_S * (n_left - 1), _MOST_MORE_S))
    for name, arrays in plan.arrangements.items():
        for volumes in arrays:
            if volumes not in known:
                # an even share of what is left: the last one has what the others did not take
                with with_part(1 / n_left):
                    known[volumes] = _placed(plan, volumes, answer, evaluate, memory)
                n_left -= 1
        found.append(Arrangement(name, tuple(known[volumes] for volumes in arrays)))
    best, minimized = choose(plan, found)
    return ServerResult(plan, tuple(found), best, minimized)


def choose(plan: ServerPlan, arrangements: Sequence[Arrangement]) -> tuple[Arrangement | None, str]:
    """Return the best feasible arrangement and what it minimizes; ties: fewer disks, fewer arrays, earlier."""
    feasible = [item for item in arrangements if item.is_feasible]
    costs = [item.cost_usd for item in feasible]
    is_priced = bool(costs) and all(math.isfinite(cost) and cost > 0 for cost in costs)
    asked = plan.search.minimize
    minimized = "cost" if asked == "cost" or (asked == "auto" and is_priced) else "disks"

    def rank(item: Arrangement) -> tuple[float, int, int]:
        cost = item.cost_usd if math.isfinite(item.cost_usd) else math.inf
        return (cost if minimized == "cost" else 0.0, item.disks or 0, len(item.arrays))

    return min(feasible, key=rank, default=None), minimized


def _placed(
    plan: ServerPlan, volumes: tuple[str, ...], answer: Answer, evaluate: Evaluate | None, memory: str | Path | None
) -> PlacedArray:
    one = plan.plan_of(volumes)
    result = answer(one)
    best = result.best
    if len(volumes) == 1 or best is None or best.array is None or one.search.method == "rule":
        return PlacedArray(volumes, result)
    decide = Evaluation(evaluate if evaluate is not None else evaluator(one), memory=memory)
    assert best.trial is not None
    outcome, workload = best.trial.outcome, one.design_workload
    sharing = []
    for name, streams in workload.volumes.items():
        alone = decide(
            best.array,
            workload.model_copy(update={"streams": streams}),
            n_requests=one.search.requests,
            seed=one.search.seed,
        )
        figures = [
            item.latency_of("p99", name) if item is not None and item.is_stable else None for item in (alone, outcome)
        ]
        nothing = Interval(math.nan, math.nan, math.nan)
        sharing.append(Sharing(name, *(nothing if figure is None else figure.scaled(1e-6) for figure in figures)))
    return PlacedArray(volumes, result, tuple(sharing))
