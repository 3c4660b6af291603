"""Which criteria an outcome meets: a disk that hardly keeps up."""

import math
from dataclasses import replace

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.plan.answer.criterion import Verdict
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.trial.judge import criterion, misses_nothing, performance
from diskmodel.plan.trial.simulated import outcome_of
from diskmodel.result.statistics.batches import Interval

OPEN = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "1000/s"})
CLOSED = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 4})


def outcome(busy: float, *, half_width: float = 0.001) -> Outcome:
    exact = Interval.exact(1000.0)
    return Outcome(True, exact, exact, {}, 0.5, n_requests=1000, busiest_ratio=busy, busiest_half_width=half_width)


@pytest.mark.parametrize(
    ("busy", "half_width", "verdict"),
    [
        (0.89, 0.2, None),
        (0.95, 0.001, None),
        (0.985, 0.009, None),
        (0.985, 0.02, Verdict.UNDECIDED),
        (0.985, math.nan, Verdict.UNDECIDED),
        (0.992, 0.005, Verdict.UNDECIDED),
        (0.996, 0.001, Verdict.FAILS),
    ],
)
def test_no_disk_is_busy_all_the_time(busy: float, half_width: float, verdict: Verdict | None) -> None:
    found = performance(Objective.parse({"capacity": "1 TB"}), outcome(busy, half_width=half_width), OPEN)
    assert [item.verdict for item in found] == ([] if verdict is None else [verdict])
    assert all(item.detail == "of the busiest disk" for item in found)


def test_clients_that_wait_may_keep_disks_busy() -> None:
    assert not performance(Objective.parse({"capacity": "1 TB"}), outcome(1.0), CLOSED)
    assert not performance(Objective.parse({"capacity": "1 TB"}), outcome(math.nan), OPEN)


def test_a_ceiling_is_one_of_the_mean() -> None:
    found = performance(Objective.parse({"utilization_ceiling": "90%"}), outcome(0.996), OPEN)
    assert [(item.limit, item.verdict) for item in found] == [(0.99, Verdict.FAILS), (0.9, Verdict.HOLDS)]


def test_a_hot_disk_is_found() -> None:
    # an eighth of the requests goes to the pages of one drive: it is full long before the others
    array = Array("samsung-pm893-960", "raid0", 8)
    hot = {"pattern": "hot_spot", "access_ratio": 0.3, "space_ratio": 1e-7}
    load = Workload.parse({"size": "16 KiB", "read_ratio": 0.5, "rate": "60000/s", "addresses": hot})
    result = simulate(array, load, n_requests=20_000, profile_draws=0)
    found = outcome_of(result, array, load)
    assert found.busiest_ratio == max(disk.utilization_ratio for disk in result.per_disk) > found.utilization_ratio
    assert found.busiest_half_width == pytest.approx(found.utilization_half_width * math.sqrt(8))


@pytest.mark.parametrize(
    ("figure", "limit", "verdict"),
    [
        (Interval(1.0, 0.9, 1.1), 1.15, Verdict.UNDECIDED),  # outside the interval, but not far enough
        (Interval(1.0, 0.9, 1.1), 1.18, Verdict.HOLDS),
        (Interval(1.0, 0.9, 1.1), 0.89, Verdict.FAILS),
        (Interval(1.0, 0.8, 10.0), 20.0, Verdict.UNDECIDED),  # a gap at the percentile
        (Interval(1.0, 0.8, 10.0), 28.1, Verdict.HOLDS),
        (Interval.exact(1.0), 1.0, Verdict.HOLDS),
        (Interval(1.0, 0.9, math.nan), 100.0, Verdict.UNDECIDED),
    ],
)
def test_a_limit_is_met_well_inside_the_interval_and_missed_outside(figure, limit, verdict):
    assert criterion("latency", "p99", limit, figure, "ms", is_upper=True).verdict is verdict


def test_a_rate_is_met_well_above_what_is_required():
    verdicts = [
        criterion("iops", "", limit, Interval(100.0, 98.0, 102.0), "1/s", is_upper=False).verdict
        for limit in (96.9, 97.1, 102.1)
    ]
    assert verdicts == [Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS]


def test_a_latency_of_nothing_is_known() -> None:
    """A flush takes no time where nothing has a cache to flush."""
    limits = Objective.parse({"commit_latency": {"p99": "10 ms"}})
    found = [
        performance(limits, replace(outcome(0.5), latency_ns={"commits": {"p99": Interval.exact(ns)}}), OPEN)[0]
        for ns in (0.0, 2e7)
    ]
    assert [(item.figure.value, item.verdict) for item in found] == [(0.0, Verdict.HOLDS), (20.0, Verdict.FAILS)]


@pytest.mark.parametrize(
    ("p99_ms", "n_requests", "is_cut", "verdict"),
    [
        (0.03, 2_000, True, Verdict.HOLDS),
        (60.0, 2_000, True, Verdict.HOLDS),
        (200.0, 2_000, True, Verdict.UNDECIDED),
        (1_600.0, 2_000, True, Verdict.FAILS),
        (0.03, 500, True, Verdict.UNDECIDED),  # p99 is one of five
        (0.03, 2_000, False, Verdict.UNDECIDED),  # a longer run follows
    ],
)
def test_a_run_cut_short_decides_what_is_far_from_its_limit(
    p99_ms: float, n_requests: int, is_cut: bool, verdict: Verdict
) -> None:
    figures = {"": {"p99": Interval(p99_ms * 1e6, math.nan, math.nan)}}
    short = replace(outcome(0.5), latency_ns=figures, n_requests=n_requests, is_cut=is_cut)
    objective = Objective.parse({"latency": {"p99": "500 ms"}})
    assert [item.verdict for item in performance(objective, short, OPEN)] == [verdict]
    # of more disks than one number that meets the objective, it is asked only whether it is beyond the limit
    assert misses_nothing(short, performance(objective, short, OPEN)) is (is_cut and p99_ms < 500)
    bursts = replace(short, overflow_requests=100_000)
    assert performance(objective, bursts, OPEN)[0].verdict is Verdict.UNDECIDED
