"""Whether an answer is safe is simulated before another one is preferred to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from diskmodel.array import Array
from diskmodel.plan import cases
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.search import complete as of_completing
from diskmodel.plan.search.complete import complete, complete_with_rebuild
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of


def _fewest(candidate: Candidate) -> int:
    assert candidate.disks is not None
    return candidate.disks


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
    case = next(case for case in cases(plan) if case.family.level == "raid10")
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
