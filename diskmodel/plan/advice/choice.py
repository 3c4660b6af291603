"""Choosing the best candidate: of those that meet the objective with the chance that it asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.plan.advice.confident import with_confidence
from diskmodel.plan.advice.profile_risk import DRAWS
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.evaluation import Evaluate


def choose(plan: PlanDescription, candidates: Sequence[Candidate]) -> tuple[Candidate | None, str]:
    """Return the best feasible candidate and what it minimizes; ties: fewer disks, lower p99 latency, earlier.

    Candidates whose chance is known to be too low come after all others, and the one with the highest chance first.
    Among the others, those come last that are known to lose data too often, or whose rebuild does not end.
    """
    feasible = [c for c in candidates if c.is_feasible and c.trial]
    minimized = minimized_by(plan, feasible)
    if not feasible:
        return None, minimized
    sure = [c for c in feasible if c.is_sure]
    if sure:
        return min(sure, key=lambda c: (c.is_unsafe, *rank(c, minimized))), minimized
    return min(feasible, key=lambda c: (-(c.probability or 0.0), *rank(c, minimized))), minimized


def minimized_by(plan: PlanDescription, feasible: Sequence[Candidate]) -> str:
    """Return "cost" where the plan asks for it, or where it leaves the choice open and every price is known."""
    asked = plan.search.minimize
    costs = [c.trial.statics.cost_usd for c in feasible if c.trial]
    is_priced = bool(costs) and all(cost == cost and cost > 0 for cost in costs)
    return "cost" if asked == "cost" or (asked == "auto" and is_priced) else "disks"


def rank(candidate: Candidate, minimized: str) -> tuple[float, float, float]:
    """Return what makes a candidate better: lower cost, fewer disks, lower p99 latency."""
    assert candidate.trial is not None
    cost = candidate.trial.statics.cost_usd
    first = cost if minimized == "cost" and cost == cost else math.inf if minimized == "cost" else 0.0
    return (first, float(candidate.trial.disks), candidate.p99_ms or 0.0)


def assure(
    plan: PlanDescription,
    candidates: Sequence[Candidate],
    evaluate: Evaluate,
    *,
    n_draws: int = DRAWS,
    most: int | None = None,
) -> list[Candidate]:
    """Return the candidates, those that may be the best with the disks that have the chance that is asked for.

    `n_draws` are drawn of what is not known. `most` is the largest number of disks that is of interest; None: all that
    the plan allows.

    A candidate with its chance never needs fewer disks than as it is described, so that one that is worse already is
    worse with it, too, and is left as it is. Nor is one followed beyond the disks of another that has its chance.
    """
    found, tried = list(candidates), set[int]()
    is_by_disks = minimized_by(plan, [c for c in candidates if c.is_feasible and c.trial]) == "disks"
    while True:
        best, _ = choose(plan, found)
        if best is None:
            return found
        at = next(i for i, item in enumerate(found) if item is best)
        if at in tried or best.risk is not None:
            return found
        sure = [
            item.disks
            for item in found
            if item.risk is not None and item.risk.is_confident and item.disks and not item.is_unsafe
        ]
        most_here = min(sure) if sure and is_by_disks else most
        found[at] = with_confidence(plan, best, evaluate, n_draws=n_draws, most=most_here)
        if found[at].disks != best.disks:  # what a failed disk does was that of another number of disks
            found[at] = replace(found[at], safety=None)
        tried.add(at)
