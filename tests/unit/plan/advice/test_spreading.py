"""What spreading the data over all of an array would cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.plan import PlanResult, run_plan
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.spreading import Spreading
from diskmodel.plan.show.words import lists
from diskmodel.result import Interval
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of

SMALL = {"objective": {"latency": {"p99": "40 ms"}, "capacity": "500 GB"}}


class Seeks(Queues):
    """Latencies are `factor` times as long where requests fall on all of an array."""

    factor = 2.0
    is_overloaded = False

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        found = super().__call__(array, workload, n_requests=n_requests, seed=seed)
        if workload.streams[0].span_ratio != 1:
            return found
        all_of_it = {
            name: Interval(*(self.factor * end for end in (one.value, one.low, one.high)))
            for name, one in found.latency_ns[""].items()
        }
        return replace(found, latency_ns={"": all_of_it}, is_stable=not self.is_overloaded)


def answer(seeks: Queues, **more: Any) -> PlanResult:
    return run_plan(plan_of(**SMALL | more), evaluate=seeks, with_relaxations=False)


def test_the_best_array_is_tried_with_its_data_everywhere() -> None:
    result = answer(Seeks(noise=0.01))
    assert result.spreading is not None
    assert result.spreading.figure == "p99"
    assert result.spreading.spread.value == pytest.approx(2 * result.spreading.stored.value, rel=0.02)
    assert str(result.spreading) in dict(lists(result))["Assumptions"]
    data = result.to_dict()["region"]["spread"]
    assert data["spread_ms"] == pytest.approx(result.spreading.spread.value / 1e6)
    assert data["stored_low_ms"] <= data["stored_ms"] <= data["stored_high_ms"]


def test_a_difference_within_the_intervals_is_not_reported() -> None:
    seeks = Seeks(noise=0.01)
    seeks.factor = 1.001
    result = answer(seeks)
    assert result.spreading is None
    assert result.to_dict()["region"]["spread"] is None


def test_an_array_that_would_be_overloaded_is_reported() -> None:
    seeks = Seeks()
    seeks.is_overloaded = True
    assert "would be overloaded" in str(answer(seeks).spreading)


@pytest.mark.parametrize(
    "more",
    [
        {"candidates": {"drives": ["samsung-pm893-960"], "levels": ["raid10"], "max_disks": 40}},
        {"workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "1000/s", "span": "all"}},
    ],
)
def test_nothing_is_reported_of_flash_or_of_data_that_are_spread_already(more: dict[str, Any]) -> None:
    assert answer(Seeks(), **more).spreading is None


def test_closed_loads_differ_in_requests_per_second() -> None:
    found = Spreading("iops", Interval(900.0, 890.0, 910.0), Interval(600.0, 590.0, 610.0), True)
    assert "600 requests per second instead of 900" in str(found)
    assert found.to_dict()["spread"] == 600.0
