"""Trying one array: simulate it, longer where the result is undecided, and compare it with the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.criterion import Criterion, Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.search import judge
from diskmodel.plan.search.evaluation import Evaluate
from diskmodel.plan.search.statics import simulated_hours, static_criteria, statics
from diskmodel.result.statistics.batches import Interval
from diskmodel.workload import Workload

#: A run that leaves a criterion undecided is followed by one this many times as long: its intervals are half as wide.
#: Double costs runs that are longer than needed; half costs more of them.
LENGTHEN = 4

#: Distance of a figure from its limit, in half-widths of its 95 % interval, from which a verdict at the answer is
#: settled: 2 half-widths are about 3.9 standard errors. At 1 every interval that just excludes the limit is believed,
#: and of the many counts that a plan tries, some are so by luck; at 4 most answers need runs four times as long.
SETTLED_HALF_WIDTHS = 2


class Trier:
    """Tries the arrays of one family, each once.

    Parameters
    ----------
    case : Case
    evaluate : Evaluate
    always_runs : bool
        Whether to simulate arrays that have already failed a criterion about space or money.
    """

    def __init__(self, case: Case, evaluate: Evaluate, *, always_runs: bool = False) -> None:
        self.case, self.evaluate, self.always_runs = case, evaluate, always_runs
        self._known: dict[int, Trial] = {}

    @property
    def trials(self) -> list[Trial]:
        """All trials made, by number of disks."""
        return [self._known[n] for n in sorted(self._known)]

    def static(self, disks: int) -> list[Criterion]:
        """Return the criteria of an idle array that need no simulation."""
        return static_criteria(self.case, self.case.array(disks))

    def __call__(self, disks: int) -> Trial:
        """Return the trial with that many disks."""
        if disks not in self._known:
            self._known[disks] = self._try(disks)
        return self._known[disks]

    def careful(self, disks: int) -> Trial:
        """Return the trial with that many disks, run on until it is settled or the budget for deciding is spent.

        Settled is more than decided: an interval that ends just short of the limit is made shorter, because the
        count at which a search stops is one where chance was favorable.
        """
        trial = self(disks)
        outcome = trial.outcome
        if outcome is None or is_settled(trial.criteria) or outcome.n_requests >= self.case.search.decision_budget:
            return trial
        again = self._try(disks, before=outcome.n_requests, is_careful=True)
        self._known[disks] = replace(again, n_runs=trial.n_runs + again.n_runs)
        return self._known[disks]

    def _try(self, disks: int, before: int = 0, *, is_careful: bool = False) -> Trial:
        """Try an array; `before` requests have already been run."""
        case, objective = self.case, self.case.objective
        array = case.array(disks)
        fixed = self.static(disks)
        has_room = array.usable_bytes >= case.required_bytes  # without it the workload's region does not fit
        if overall(fixed) is Verdict.FAILS and not (self.always_runs and has_room):
            return Trial(disks, tuple(fixed), None, None, statics(case, array), 0)
        outcome, found, n_runs = self._run(
            array, case.workload, lambda o: judge.performance(objective, o, case.workload), before, is_careful
        )
        busy = outcome.utilization_ratio if outcome.utilization_ratio == outcome.utilization_ratio else 0.0
        hours = None
        if overall([*fixed, *found]) is Verdict.HOLDS and _limits_rebuild(objective):
            hours = self._rebuild_hours(disks)
            n_runs += hours is not None
        fixed = static_criteria(case, array, busy, hours)
        degraded = None
        if objective.degraded is not None and overall([*fixed, *found]) is Verdict.HOLDS:
            degraded, more, extra = self._degraded(disks, is_careful)
            found, n_runs = [*found, *more], n_runs + extra
        figures = statics(case, array, busy, hours)
        return Trial(disks, (*fixed, *found), outcome, degraded, figures, n_runs)

    def _rebuild_hours(self, disks: int) -> float | None:
        """Return the hours of a rebuild beside the load, from one run; None where the evaluation does not model it."""
        try:
            array = self.case.array(disks, n_failed=1, is_rebuilding=True)
        except DescriptionError:  # no redundancy to rebuild from
            return None
        search = self.case.search
        outcome = self.evaluate(array, self.case.workload, n_requests=search.requests, seed=search.seed)
        return simulated_hours(self.case, outcome)

    def _degraded(self, disks: int, is_careful: bool) -> tuple[Outcome | None, list[Criterion], int]:
        objective, workload = self.case.objective, self.case.workload
        required = objective.degraded
        assert required is not None
        try:
            array = self.case.array(disks, n_failed=required.failures)
        except DescriptionError:
            lost = Criterion(
                "degraded", "data lost", 0.0, Interval.exact(float(required.failures)), "failures", True, Verdict.FAILS
            )
            return None, [lost], 0
        load = workload if required.load_ratio == 1 else workload.scaled(required.load_ratio)
        return self._run(array, load, lambda o: judge.degraded(objective, o, load), 0, is_careful)

    def _run(
        self,
        array: Array,
        workload: Workload,
        judged: Callable[[Outcome], list[Criterion]],
        before: int,
        is_careful: bool,
    ) -> tuple[Outcome, list[Criterion], int]:
        """Return the outcome of runs that grow until every criterion is decided or the longest run is over.

        A careful one goes on until every criterion is settled, and may be as long as the budget for deciding.
        """
        search = self.case.search
        longest = search.decision_budget if is_careful else search.max_requests
        n_requests, n_runs = min(max(search.requests, before * LENGTHEN), longest), 0
        while True:
            outcome = self.evaluate(array, workload, n_requests=n_requests, seed=search.seed)
            found, n_runs = judged(outcome), n_runs + 1
            is_open = not is_settled(found) if is_careful else overall(found) is Verdict.UNDECIDED
            if n_requests >= longest or not (is_open or _is_doubtful(outcome, workload)):
                return outcome, found, n_runs
            n_requests = min(n_requests * LENGTHEN, longest)


def is_settled(criteria: Iterable[Criterion]) -> bool:
    """Return whether a longer run would hardly change the verdict: the limit is far from every interval that matters.

    One criterion that is clearly missed settles a failure; all must be clearly met otherwise.
    """
    known = [item for item in criteria if item.verdict is not Verdict.UNKNOWN]
    missed = [item for item in known if item.verdict is Verdict.FAILS]
    if missed:
        return any(_is_clear(item) for item in missed)
    return all(item.verdict is Verdict.HOLDS and _is_clear(item) for item in known)


def _is_clear(item: Criterion) -> bool:
    half = (item.figure.high - item.figure.low) / 2
    return not math.isfinite(half) or abs(item.figure.value - item.limit) >= SETTLED_HALF_WIDTHS * half


def _limits_rebuild(objective: Objective) -> bool:
    return objective.rebuild_hours is not None or objective.data_loss_per_year is not None


def _is_doubtful(outcome: Outcome, workload: Workload) -> bool:
    """Whether an overload found by a short run is so slight that a longer one should confirm it."""
    offered = workload.offered_rate_per_s
    return not outcome.is_stable and outcome.n_requests < 20_000 and outcome.iops.value > 0.9 * offered
