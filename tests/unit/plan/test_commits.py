"""Questions about commits: what is asked, what the load is, and the verdict about commits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.criterion import Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.options import DEFAULT_LEVELS_OF_A_LOG, plan_from, plan_options
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.trial.judge import performance
from diskmodel.plan.trial.memory import from_plain, to_plain
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.result.commits import COMMITS
from diskmodel.result.statistics.batches import Interval
from diskmodel.workload import Workload, log_of_commits

LOG = log_of_commits(rate_per_s=100)
DATA = {"name": "data", "size": "8 KiB", "read_ratio": 0.7, "rate": "300/s", "span": "100 GB"}


def plan_of(objective: dict[str, Any], *streams: dict[str, Any]) -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": {"streams": list(streams) or [LOG]},
            "objective": objective,
            "candidates": {"drives": ["generic-7k2"], "levels": ["raid1"]},
        }
    )


def outcome_of(p99_ms: float, commits_per_s: float = 500.0) -> Outcome:
    figures = {"p99": Interval.exact(p99_ms * 1e6), "mean": Interval.exact(p99_ms * 1e6)}
    return Outcome(
        is_stable=True,
        iops=Interval.exact(commits_per_s),
        bytes_per_s=Interval.exact(1e6),
        latency_ns={"": figures, COMMITS: figures},
        utilization_ratio=0.5,
        commits_per_s=Interval.exact(commits_per_s),
    )


def test_two_options_are_a_question_about_a_log() -> None:
    plan, notes = plan_from(plan_options({"commits": "500/s", "commit_p99": "10ms"}))
    (log,) = plan.design_workload.streams
    assert (log.kind, log.sync, log.record_bytes, log.expected_rate_per_s) == ("commits", "fdatasync", 512, 500)
    assert plan.objective.limited == [(COMMITS, plan.objective.commit_latency)]
    assert plan.objective.commit_latency.p99_ns == 10_000_000
    assert plan.candidates.levels == DEFAULT_LEVELS_OF_A_LOG
    assert any("--record" in note for note in notes)


def test_a_log_beside_requests_has_a_rate_of_its_own() -> None:
    asked = {"commits": "500", "commit_p99": "10ms", "iops": "2000", "reads": "70%", "block": "8k", "capacity": "1TB"}
    plan, _ = plan_from(plan_options(asked))
    assert {s.name: s.expected_rate_per_s for s in plan.design_workload.streams} == {"data": 2000, "log": 500}


def test_a_limit_of_commits_is_assumed_where_none_is_said() -> None:
    plan, notes = plan_from(plan_options({"commits": "500/s"}))
    assert plan.objective.commit_latency.p99_ns == 10_000_000
    assert any(note.startswith("no --commit-p99: a p99 latency of commits of at most 10 ms") for note in notes)
    both, _ = plan_from(plan_options({"commits": "500/s", "iops": "2000"}))
    assert both.objective.latency.mean_ns == 20_000_000
    assert both.objective.commit_latency.p99_ns == 10_000_000
    said, notes = plan_from(plan_options({"commits": "500/s", "commit_p99": "4ms"}))
    assert said.objective.commit_latency.p99_ns == 4_000_000
    assert not any("--commit-p99" in note for note in notes)


@pytest.mark.parametrize(
    ("asked", "lacking"),
    [
        ({"commit_p99": "10ms"}, "--commits: is missing"),
        ({"commits": "500/s", "iops": "2000", "sequential": True}, "--reads: is missing"),
    ],
)
def test_what_is_missing_is_named(asked: dict[str, str], lacking: str) -> None:
    with pytest.raises(DescriptionError, match=lacking):
        plan_from(plan_options(asked))


def test_commits_and_requests_are_scaled_apart() -> None:
    plan = plan_of({"commits": "500/s", "iops": 600, "growth": "100%", "years": 1}, DATA, LOG)
    assert [s.expected_rate_per_s for s in plan.design_workload.streams] == pytest.approx([1200, 1000])
    every = {**DATA, "sync": "fdatasync", "sync_every": 3}
    assert Workload.parse(every).commits_per_s == pytest.approx(30)
    assert plan_of({"commits": "60/s"}, every).design_workload.offered_rate_per_s == pytest.approx(600)


@pytest.mark.parametrize(
    ("objective", "streams", "said"),
    [
        ({"commits": "500/s"}, [DATA], "makes its writes safe"),
        ({"commits": "500/s", "iops": 10}, [LOG], "objective.iops"),
        ({"commits": "500/s", "iops": 10}, [DATA | {"rate": "1/s"}, log_of_commits(clients=4)], "iops"),
        ({"commit_latency": {"p99": "10 ms"}}, [DATA | {"name": "commits"}, LOG], "rename"),
    ],
)
def test_what_is_not_clear_is_refused(objective: dict[str, Any], streams: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        plan_of(objective, *streams)


def test_commits_have_criteria_of_their_own() -> None:
    plan = plan_of({"commits": "500/s", "commit_latency": {"p99": "10 ms"}})
    (found,) = performance(plan.objective, outcome_of(16.6), plan.design_workload)
    assert found.verdict is Verdict.FAILS
    assert found.in_short() == "p99 latency of commits 16.6 ms (at most 10 ms)"
    assert overall(performance(plan.objective, outcome_of(9), plan.design_workload)) is Verdict.HOLDS


def test_clients_have_to_achieve_the_rate_of_commits() -> None:
    plan = plan_of({"commits": "500/s"}, log_of_commits(clients=8))
    assert plan.design_workload.queue_depth == 8
    (found,) = performance(plan.objective, outcome_of(1, 450), plan.design_workload)
    assert found.verdict is Verdict.FAILS
    assert found.in_short() == "450 commits/s (at least 500)"


def test_an_outcome_has_commits_and_is_remembered_with_them() -> None:
    array = Array("generic-7k2", "raid1", 2)
    found = Simulated()(array, Workload.parse({"streams": [LOG]}), n_requests=2000, seed=1)
    assert found.commits_per_s.value == pytest.approx(100, rel=0.1)
    # a revolution takes 8.33 ms, and a commit waits for its own and at most for that of the batch before
    assert 4 < found.latency_ms(COMMITS)["mean"] < 16.7
    assert found.to_dict()["commit_latency_ms"]["mean"] == found.latency_ms(COMMITS)["mean"]
    assert from_plain(to_plain(found)) == found
    plain = Simulated()(array, Workload.parse(DATA), n_requests=1000, seed=1)
    assert math.isnan(plain.commits_per_s.value)
    assert plain.to_dict()["commit_latency_ms"] is None


def test_a_cache_does_what_no_number_of_spindles_does() -> None:
    plan, _ = plan_from(
        plan_options({"commits": "200/s", "commit_p99": "8ms", "drive": ["generic-7k2"], "max_disks": 4})
    )
    found = run_plan(plan, with_relaxations=False, with_details=False)
    assert found.best is None
    assert all("commits" in item.binding.detail for item in found.candidates if item.binding)
    (instead,) = found.caches_instead
    assert instead.disks == 2
    assert "A cache, not spindles" in str(instead)
    assert found.to_dict()["caches_instead"][0]["disks"] == 2


def test_a_log_is_saved_and_read_again() -> None:
    for alignment in (None, "8 KiB"):
        workload = Workload.parse({"streams": [log_of_commits(rate_per_s=100, alignment=alignment)]})
        assert Workload.parse(workload.to_dict()) == workload
    with pytest.raises(DescriptionError, match="is that of requests"):
        Workload.parse({"streams": [{**LOG, "size": "8 KiB"}]})
