"""Cost against latency: which of the arrays that hold the objective are not beaten in both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, allowed_counts, families
from diskmodel.plan.search.fewest_disks import Candidate
from diskmodel.plan.search.trial import Trial, Trier


@dataclass(frozen=True)
class ParetoPoint:
    """An array that holds the objective.

    Attributes
    ----------
    family : Family
    disks : int
    price : float
        Cost in USD where it is known, else the number of disks.
    is_cost : bool
    latency_ms : float
        99th percentile of all requests.
    """

    family: Family
    disks: int
    price: float
    is_cost: bool
    latency_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **self.family.key(),
            "disks": self.disks,
            "cost_usd": self.price if self.is_cost else None,
            "p99_ms": self.latency_ms,
        }


def points_of(candidates: Iterable[Candidate]) -> list[ParetoPoint]:
    """Points of all trials that hold, compared by cost where every cost is known, else by disks."""
    return _points((candidate.family, trial) for candidate in candidates for trial in candidate.trials)


def _points(trials: Iterable[tuple[Family, Trial]]) -> list[ParetoPoint]:
    met = []
    for family, trial in trials:
        figures = trial.outcome.latency_ns.get("", {}) if trial.outcome else {}
        if trial.is_met and "p99" in figures:
            met.append((family, trial, figures["p99"].value / 1e6))
    is_cost = bool(met) and all(math.isfinite(trial.statics.cost_usd) for _, trial, _ in met)
    return [
        ParetoPoint(family, trial.disks, trial.statics.cost_usd if is_cost else float(trial.disks), is_cost, latency)
        for family, trial, latency in met
    ]


def pareto_front(points: Sequence[ParetoPoint]) -> list[ParetoPoint]:
    """The points that no other beats in price and latency, cheapest first."""
    front: list[ParetoPoint] = []
    for point in sorted(points, key=lambda p: (p.price, p.latency_ms)):
        if not front or point.latency_ms < front[-1].latency_ms:
            front.append(point)
    return front


def tried(plan: PlanDescription, family: Family, evaluate: Evaluate, counts: Sequence[int]) -> list[Trial]:
    """Trials of a family at the given counts."""
    trier = Trier(plan, family, evaluate)
    return [trier(disks) for disks in counts]


def pareto_search(
    plan: PlanDescription, evaluate: Evaluate, *, per_family: int = 12, executor: Executor | None = None
) -> list[ParetoPoint]:
    """The whole front: every family at up to `per_family` counts spread over those allowed.

    Unlike `PlanResult.front`, which is made of what the search came by, this looks at large arrays too.
    """
    wanted = families(plan)
    grids = []
    for family in wanted:
        counts = allowed_counts(plan, family)
        step = max(1, (len(counts) - 1) // max(1, per_family - 1))
        grids.append(counts[::step])
    if executor is None:
        results = [tried(plan, family, evaluate, grid) for family, grid in zip(wanted, grids, strict=True)]
    else:
        futures = [executor.submit(tried, plan, f, evaluate, g) for f, g in zip(wanted, grids, strict=True)]
        results = [future.result() for future in futures]
    return pareto_front(_points((f, t) for f, trials in zip(wanted, results, strict=True) for t in trials))
