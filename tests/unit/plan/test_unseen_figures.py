"""What a run did not see is undecided, and what is missed or undecided is said so."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.plan.question.server import ServerPlan
from diskmodel.plan.run.server import run_server
from diskmodel.plan.show.server_words import because
from diskmodel.plan.trial.judge import criterion
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.plan.trial.trier import LENGTHEN, lengthened
from diskmodel.result.statistics.batches import Interval
from diskmodel.workload import Workload

#: Runs are at most so long that a stream of one request in 1,000 s is not seen.
SHORT = {"requests": 4_000, "max_requests": 4_000, "max_requests_at_answer": 4_000}
STREAMS = [
    {"name": "data", "size": "8 KiB", "read_ratio": 1.0, "rate": "400/s"},
    {"name": "rare", "size": "1 MiB", "read_ratio": 1.0, "rate": "0.001/s"},
]


def plan_of(limits: dict[str, Any], **objective: Any) -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": {"streams": STREAMS},
            "objective": {"capacity": "0.5 TB", "latency": {"streams": limits}, **objective},
            "candidates": {"drives": "generic-10k", "levels": "raid10", "disks": [12]},
            "search": SHORT,
        }
    )


def answered(plan: PlanDescription) -> Any:
    (candidate,) = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False).candidates
    return candidate


def test_a_limit_on_a_stream_that_was_not_seen_is_undecided() -> None:
    assert answered(plan_of({"data": {"mean": "80 ms"}})).is_feasible
    candidate = answered(plan_of({"data": {"mean": "80 ms"}, "rare": {"p99": "80 ms"}}))
    assert candidate.state == "undecided"
    assert "latency p99 of rare unknown ms" in candidate.reason


def test_so_is_one_with_a_disk_missing() -> None:
    degraded = {"latency": {"streams": {"rare": {"p99": "80 ms"}}}}
    assert answered(plan_of({"data": {"mean": "80 ms"}}, degraded=degraded)).state == "undecided"


def test_a_figure_without_an_interval_takes_a_longer_run() -> None:
    clear = criterion("latency", "p99", 20.0, Interval(10.0, 9.9, 10.1), "ms", is_upper=True)
    open_ended = criterion("latency", "p999", 20.0, Interval(10.0, math.nan, math.nan), "ms", is_upper=True)
    unseen = Criterion("latency", "p99", 20.0, Interval(*[math.nan] * 3), "ms", True, Verdict.UNDECIDED)
    for item in (open_ended, unseen):
        assert lengthened([clear, item], is_careful=True) == LENGTHEN


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (39_999.9998, 40_000.0, "usable capacity 39.9999998 TB (40 TB needed)"),
        (39_000.0, 40_000.0, "usable capacity 39 TB (40 TB needed)"),
        (400.0, 400.04, "usable capacity 400 GB (400.04 GB needed)"),
        (40_000.0, 40_000.0, "usable capacity 40 TB (40 TB needed)"),
    ],
)
def test_a_missed_limit_does_not_look_like_a_met_one(value: float, limit: float, shown: str) -> None:
    found = criterion("capacity", "usable", limit, Interval.exact(value), "GB", is_upper=False)
    assert found.in_short() == shown


def test_an_undecided_arrangement_is_not_called_infeasible() -> None:
    volumes = [
        {"name": item["name"], "capacity": "100 GB", "workload": dict(item), "objective": {"latency": {"p99": "80 ms"}}}
        for item in STREAMS
    ]
    plan = ServerPlan.parse(
        {
            "volumes": volumes,
            "candidates": {"drives": "generic-10k", "levels": "raid10", "disks": [12]},
            "search": SHORT,
        }
    )
    result = run_server(plan, with_relaxations=False, with_details=False)
    shared = next(item for item in result.arrangements if item.name == "shared")
    assert not shared.is_feasible
    assert any(line.startswith("One array for all is not known to be feasible") for line in because(result))


@pytest.mark.parametrize(("rate", "is_stable"), [("1000/s", True), ("1500/s", False)])
def test_a_cache_that_still_fills_is_followed_until_it_is_known_to_overflow(rate: str, is_stable: bool) -> None:
    """The disks keep up with about 1,200/s; 30,000 requests at 1,500/s end long before the cache is full."""
    array = Array.from_words("8x generic-10k raid5, 1GiB cache")
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": rate})
    assert Simulated()(array, load, n_requests=30_000, seed=0).is_stable is is_stable


def test_an_overload_does_not_complete_more_than_it_is_offered() -> None:
    """What waits already may be completed beside it: then the rate says nothing about what is missed."""
    for done, words in ((14_759.0, "the queue grows without end"), (12_000.0, "it completes 12,000 of 14,690")):
        item = Criterion("iops", "overloaded", 14_690.0, Interval.exact(done), "/s", False, Verdict.FAILS)
        assert words in item.in_short()
