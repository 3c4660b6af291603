"""Short answers leave close calls of rows that cannot be the answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from diskmodel.array import Array
from diskmodel.plan import Case, cases
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.search import complete as of_completing
from diskmodel.plan.search.complete import complete, complete_with_rebuild
from diskmodel.plan.search.fewest_disks import open_trials, search_briefly, search_family, search_on
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of

_SEARCH = {"requests": 1000, "max_requests": 64_000}


def _case(plan: PlanDescription, level: str) -> Case:
    return next(case for case in cases(plan) if case.family.level == level)


def _fewest(candidate: Candidate) -> int:
    assert candidate.disks is not None
    return candidate.disks


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("limit_ms", [35, 40, 50, 60, 80])
def test_a_row_has_the_next_larger_number_at_most_and_never_a_smaller_one(noise: float, limit_ms: int) -> None:
    plan = plan_of(objective={"latency": {"p99": f"{limit_ms} ms"}}, search=_SEARCH)
    for level in ("raid10", "raid5"):
        case = _case(plan, level)
        brief = search_briefly(case, Queues(noise=noise))
        whole = search_family(case, Queues(noise=noise), is_careful=False)
        enough = _fewest(whole)
        counts = case.counts
        assert counts.index(_fewest(brief)) - counts.index(enough) in (0, 1)
        assert len(open_trials(brief)) <= 1 or _fewest(brief) == enough


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_going_on_ends_where_a_whole_search_does(noise: float) -> None:
    plan = plan_of(search=_SEARCH)
    for case in cases(plan):
        evaluate = Queues(noise=noise)
        found = search_on(case, evaluate, search_briefly(case, evaluate))
        assert found.disks == search_family(case, Queues(noise=noise), is_careful=False).disks


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("rate", [300, 1000, 2500])
def test_the_answer_does_not_depend_on_it(rate: int, noise: float) -> None:
    plan = plan_of(workload={"size": "8 KiB", "read_ratio": 0.7, "rate": f"{rate}/s"}, search=_SEARCH)
    short, whole = (
        run_plan(plan, evaluate=Queues(noise=noise), with_relaxations=False, with_details=details)
        for details in (False, True)
    )
    assert short.best is not None
    assert whole.best is not None
    assert (short.best.family, short.best.disks) == (whole.best.family, whole.best.disks)


@dataclass(frozen=True)
class Rebuilding:
    """As `Queues`, with the rate of each rebuild, and what was asked of one."""

    rate_bytes_per_s: float
    rebuilt: list[int] = field(default_factory=list)

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        found = Queues()(array, workload, n_requests=n_requests, seed=seed)
        if array.layout.rebuild is None:
            return found
        self.rebuilt.append(array.layout.disks)
        return replace(found, rebuilt_bytes_per_s=self.rate_bytes_per_s)


@pytest.mark.parametrize(("rate", "is_safe"), [(1e9, True), (1e2, False)])
def test_a_rebuild_is_simulated_before_another_array_is_preferred(
    rate: float, is_safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the formula data are lost a little too often; the rebuild that is simulated decides."""
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid6"], "max_disks": 40})
    case = _case(plan, "raid10")
    found = search_family(case, Queues())
    losses = [
        item.safety.loss_per_year
        for item in (complete(case, Queues(), found), complete_with_rebuild(case, Rebuilding(1e9), found))
        if item.safety is not None
    ]
    assert losses[0] > losses[1]
    monkeypatch.setattr(of_completing, "USUAL_LOSS_PER_YEAR", sum(losses) / 2)
    evaluate = Rebuilding(rate)
    result = run_plan(plan, evaluate=evaluate, with_relaxations=False, with_details=False)
    first = min((item for item in result.candidates if item.disks), key=_fewest)
    assert first.level == "raid10"
    assert first.disks in evaluate.rebuilt
    assert first.is_unsafe is not is_safe
    assert result.best is first or not is_safe
