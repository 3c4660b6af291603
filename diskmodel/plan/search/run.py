"""Answering a plan: search every family, choose the best, and report what would change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.case import cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.evaluation import Evaluate, evaluator
from diskmodel.plan.search.memory import Remembered
from diskmodel.plan.search.pareto import pareto_front, points_of
from diskmodel.plan.search.pool import Progress, search_all
from diskmodel.plan.search.profile_risk import profile_risk
from diskmodel.plan.search.relax import relaxations
from diskmodel.plan.search.sensitivity import sensitivity
from diskmodel.plan.search.waterfall import waterfall


def run_plan(
    plan: PlanDescription,
    *,
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    memory: str | Path | None = None,
    with_relaxations: bool = True,
    with_sensitivity: bool = False,
    with_waterfalls: bool = False,
) -> PlanResult:
    """Return the answer to a plan.

    Parameters
    ----------
    plan : PlanDescription
    evaluate : Evaluate, optional
        Evaluates arrays; default: the simulation, or the rule of thumb where the plan asks for it.
    executor : concurrent.futures.Executor, optional
        Searches families at the same time; default: a pool on this machine. The answer does not depend on it.
    progress : callable, optional
        Called in this thread after each family.
    memory : path, optional
        File that keeps every outcome; an interrupted search with the same file continues where it stopped.
    with_relaxations, with_sensitivity : bool
        Whether to find which changes would help, and how the answer moves with its inputs (a search for each).
    with_waterfalls : bool
        Whether every feasible candidate gets the steps from the rule of thumb to it, not only the best.

    Returns
    -------
    PlanResult
        "No feasible array" is a result: `best` is None and `reason` says why.
    """
    decide = evaluate if evaluate is not None else evaluator(plan)
    if memory is not None:
        decide = Remembered(decide, str(memory))
    found = search_all(cases(plan), decide, executor, progress)
    best, minimized = choose(plan, found)
    if best is not None:
        explained = [
            replace(item, waterfall=waterfall(plan, item, decide)) if with_waterfalls or item is best else item
            for item in found
        ]
        best, found = explained[next(i for i, item in enumerate(found) if item is best)], explained
    shown = best or nearest(found)
    return PlanResult(
        plan=plan,
        candidates=tuple(found),
        best=best,
        minimized=minimized,
        reason="" if best else _why_none(found),
        relaxations=tuple(relaxations(plan, shown, decide)) if with_relaxations and shown else (),
        sensitivities=tuple(sensitivity(plan, shown, decide)) if with_sensitivity and best and shown else (),
        front=tuple(pareto_front(points_of(found))),
        profile_risk=profile_risk(plan, best, decide) if best else None,
    )


def choose(plan: PlanDescription, candidates: Sequence[Candidate]) -> tuple[Candidate | None, str]:
    """Return the best feasible candidate and what it minimizes; ties: fewer disks, lower p99 latency, earlier."""
    feasible = [c for c in candidates if c.is_feasible and c.trial]
    asked = plan.search.minimize
    costs = {id(c): c.trial.statics.cost_usd for c in feasible if c.trial}
    is_priced = bool(costs) and all(cost == cost and cost > 0 for cost in costs.values())
    minimized = "cost" if asked == "cost" or (asked == "auto" and is_priced) else "disks"

    def rank(candidate: Candidate) -> tuple[float, float, float]:
        assert candidate.trial is not None
        latency = candidate.p99_ms or 0.0
        cost = costs[id(candidate)]
        first = cost if minimized == "cost" and cost == cost else float("inf") if minimized == "cost" else 0.0
        return (first, float(candidate.trial.disks), latency)

    return (min(feasible, key=rank), minimized) if feasible else (None, minimized)


def nearest(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the infeasible candidate that misses the objective by least."""
    missed = [c for c in candidates if c.binding is not None]
    return max(missed, key=lambda c: c.binding.margin_ratio if c.binding else 0.0, default=None)


def _why_none(candidates: Sequence[Candidate]) -> str:
    lines = "; ".join(f"{candidate.family}: {candidate.reason}" for candidate in candidates)
    return f"no feasible array: {lines}"
