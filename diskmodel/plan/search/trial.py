"""Trying one array: simulate it, longer where the answer is not decided, and hold it against the objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer import criteria as judge
from diskmodel.plan.answer.criteria import Criterion, Verdict
from diskmodel.plan.answer.outcome import Evaluate, Figure, Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, array_of, design_workload
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.search.statics import Statics, static_criteria, statics
from diskmodel.workload import Workload

#: A run that cannot decide is followed by one this many times as long.
LENGTHEN = 4


@dataclass(frozen=True)
class Trial:
    """One array held against an objective.

    Attributes
    ----------
    disks : int
    criteria : tuple of Criterion
    outcome, degraded : Outcome or None
        None where the static criteria had failed already.
    statics : Statics
    n_runs : int
        Simulations made.
    """

    disks: int
    criteria: tuple[Criterion, ...]
    outcome: Outcome | None
    degraded: Outcome | None
    statics: Statics
    n_runs: int

    @property
    def verdict(self) -> Verdict:
        """Of all criteria together."""
        return judge.overall(self.criteria)

    @property
    def is_met(self) -> bool:
        """Every criterion holds with confidence; what is undecided counts as not met (the safe side)."""
        return self.verdict is Verdict.HOLDS

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data: dict[str, Any] = {"disks": self.disks, "verdict": self.verdict.value}
        data["criteria"] = [item.to_dict() for item in self.criteria]
        if self.outcome is not None:
            data |= self.outcome.to_dict()
        if self.degraded is not None:
            data["degraded"] = self.degraded.to_dict()
        return data


class Trier:
    """Tries the arrays of one family, each once.

    With `always_runs` arrays are simulated even where space or money has already decided against them.
    """

    def __init__(self, plan: PlanDescription, family: Family, evaluate: Evaluate, *, always_runs: bool = False) -> None:
        self.plan, self.family, self.evaluate = plan, family, evaluate
        self.always_runs = always_runs
        self.workload = design_workload(plan)
        self._known: dict[int, Trial] = {}

    @property
    def trials(self) -> list[Trial]:
        """All trials made, by number of disks."""
        return [self._known[n] for n in sorted(self._known)]

    def static(self, disks: int) -> list[Criterion]:
        """Criteria of an idle array that need no simulation."""
        array = array_of(self.plan, self.family, disks)
        return static_criteria(array, self.plan.objective, self.workload, self.plan.prices)

    def __call__(self, disks: int) -> Trial:
        """The trial with so many disks."""
        if disks not in self._known:
            self._known[disks] = self._try(disks)
        return self._known[disks]

    def _try(self, disks: int) -> Trial:
        plan, objective = self.plan, self.plan.objective
        array = array_of(plan, self.family, disks)
        fixed = self.static(disks)
        if judge.overall(fixed) is Verdict.FAILS and not self.always_runs:
            return Trial(disks, tuple(fixed), None, None, statics(array, objective, plan.prices), 0)
        outcome, found, n_runs = self._run(
            array, self.workload, lambda o: judge.performance(objective, o, self.workload)
        )
        busy = outcome.utilization_ratio if outcome.utilization_ratio == outcome.utilization_ratio else 0.0
        hours = None
        if judge.overall([*fixed, *found]) is Verdict.HOLDS and _asks_for_rebuild(objective):
            hours = self._rebuild_hours(disks)
            n_runs += hours is not None
        fixed = static_criteria(array, objective, self.workload, plan.prices, busy, hours)
        degraded = None
        if objective.degraded is not None and judge.overall([*fixed, *found]) is Verdict.HOLDS:
            degraded, more, extra = self._degraded(disks)
            found, n_runs = [*found, *more], n_runs + extra
        figures = statics(array, objective, plan.prices, busy, hours)
        return Trial(disks, (*fixed, *found), outcome, degraded, figures, n_runs)

    def _rebuild_hours(self, disks: int) -> float | None:
        """Hours of a rebuild beside the load, from one run; None where the evaluation does not model it."""
        try:
            array = array_of(self.plan, self.family, disks, n_failed=1, is_rebuilding=True)
        except DescriptionError:  # no redundancy to rebuild from
            return None
        search = self.plan.search
        outcome = self.evaluate(array, self.workload, n_requests=search.requests, seed=search.seed)
        rate = outcome.rebuilt_bytes_per_s
        if math.isnan(rate) or not outcome.is_stable:
            return None if math.isnan(rate) else math.inf
        return array.drive.capacity_bytes / rate / 3600 if rate > 0 else math.inf

    def _degraded(self, disks: int) -> tuple[Outcome | None, list[Criterion], int]:
        wanted = self.plan.objective.degraded
        assert wanted is not None
        try:
            array = array_of(self.plan, self.family, disks, n_failed=wanted.failures)
        except DescriptionError:
            lost = Criterion(
                "degraded", "data lost", 0.0, Figure.exact(float(wanted.failures)), "failures", True, Verdict.FAILS
            )
            return None, [lost], 0
        workload = self.workload if wanted.load_ratio == 1 else self.workload.scaled(wanted.load_ratio)
        return self._run(array, workload, lambda o: judge.degraded(self.plan.objective, o, workload))

    def _run(
        self, array: Array, workload: Workload, hold: Callable[[Outcome], list[Criterion]]
    ) -> tuple[Outcome, list[Criterion], int]:
        """Outcome of runs that grow until every criterion is decided or the longest run is over."""
        search = self.plan.search
        n_requests, n_runs = search.requests, 0
        while True:
            outcome = self.evaluate(array, workload, n_requests=n_requests, seed=search.seed)
            found, n_runs = hold(outcome), n_runs + 1
            if n_requests >= search.max_requests or not (
                judge.overall(found) is Verdict.UNDECIDED or _is_doubtful(outcome, workload)
            ):
                return outcome, found, n_runs
            n_requests = min(n_requests * LENGTHEN, search.max_requests)


def _asks_for_rebuild(objective: Objective) -> bool:
    return objective.rebuild_hours is not None or objective.data_loss_per_year is not None


def _is_doubtful(outcome: Outcome, workload: Workload) -> bool:
    """Whether an overload found by a short run is so slight that a longer one should confirm it."""
    offered = workload.offered_rate_per_s
    return not outcome.is_stable and outcome.n_requests < 20_000 and outcome.iops.value > 0.9 * offered
