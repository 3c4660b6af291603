"""Rebuilds in a plan: before another array is preferred, and how long the runs beside them are."""

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
from diskmodel.plan.trial.beside_rebuild import beside_rebuild
from diskmodel.result import Interval
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


@pytest.mark.parametrize("is_stable", [True, False])
@pytest.mark.parametrize("busy_ratio", [0.1, 0.5])
@pytest.mark.parametrize("drive", ["micron-7450-pro-1920", "generic-15k"])
def test_the_beginning_of_a_calm_rebuild_of_flash_takes_a_shorter_run(
    drive: str, busy_ratio: float, is_stable: bool
) -> None:
    """It still counts for latency; flash that is busy, and disks with arms, are seen as long there as half-way."""
    asked: dict[float | None, int] = {}

    def evaluate(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        assert array.layout.rebuild is not None
        done = array.layout.rebuild.done_ratio
        asked[done] = n_requests
        found = Queues()(array, workload, n_requests=n_requests, seed=seed)
        p99 = {"": {"p99": Interval.exact(50e6 if done else 90e6)}}
        is_so = is_stable or done != 0.5
        return replace(found, is_stable=is_so, latency_ns=p99, busiest_ratio=busy_ratio, rebuilt_bytes_per_s=2e7)

    layout = {"level": "raid5", "disks": 5, "failed": [0], "spares": 1, "rebuild": {"done_ratio": 0.5}}
    array = Array.parse({"drive": drive, "layout": layout})
    load = Workload.parse({"size": "8 KiB", "rate": "2000/s"})
    found = beside_rebuild(evaluate, array, load, n_requests=4000, seed=0)
    is_shorter = not array.drive.has_arms and is_stable and busy_ratio < 0.3
    assert asked[0.5] == 4000
    assert asked[0.0] == (1000 if is_shorter else 4000)
    assert found.worst.is_stable == is_stable
    assert not is_stable or found.worst.latency_ns[""]["p99"] == Interval.exact(90e6)
