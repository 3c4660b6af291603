"""Streams that go through their regions in order: where a run begins, and where a plan lets it end (rule W9)."""

import pytest

from diskmodel import Array, simulate
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, cases
from diskmodel.plan.show.words import in_order_words
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload

MIB = 1 << 20
CAPACITY = 1000 * MIB


def workload(**addresses: object) -> Workload:
    stream = {"size": "1 MiB", "rate": "10/s", "read_ratio": 0.0}
    return Workload.parse(stream | {"addresses": {"pattern": "sequential"} | addresses})


def places(described: Workload, n: int, n_before: int = 0) -> list[int]:
    return (described.requests(capacity_bytes=CAPACITY, n=n, n_before=n_before).offset // MIB).tolist()


def test_a_run_begins_where_it_is_told() -> None:
    assert places(workload(begin_ratio=0.5), 3) == [500, 501, 502]
    assert places(workload(n_readers=2, begin_ratio=0.25), 4) == [250, 750, 251, 751]
    assert places(workload(pattern="strided", stride="2 MiB", begin_ratio=0.5), 3) == [500, 502, 504]


def test_what_came_before_lies_behind_it() -> None:
    assert places(workload(begin_ratio=0.5), 2, n_before=100) == [500, 501]
    assert places(workload(begin_ratio=0.5), 2, n_before=600) == [500, 501], "it has been all around"
    assert places(workload(), 2, n_before=600) == [600, 601]
    for pattern in (workload(begin_ratio=0.5), workload(pattern="strided", stride="1 MiB", begin_ratio=0.5)):
        past = pattern.past(capacity_bytes=CAPACITY, n=3, n_before=3)
        assert (past.offset // MIB).tolist() == [497, 498, 499]


@pytest.mark.parametrize(
    ("addresses", "last"),
    [
        ({}, {999}),
        ({"n_readers": 4}, {249, 499, 749, 999}),
        ({"pattern": "strided", "stride": "4 MiB"}, {996}),
    ],
)
def test_a_plan_lets_a_run_end_where_the_region_does(addresses: dict[str, object], last: set[int]) -> None:
    described = workload(**addresses)
    moved = described.at_the_end(CAPACITY, 40)
    assert set(places(moved, 40)[-len(last) :]) == last
    assert moved.at_the_end(CAPACITY, 80) == moved, "it says where it begins now"


def test_a_run_that_sees_the_whole_region_begins_at_its_front() -> None:
    assert places(workload().at_the_end(CAPACITY, 2000), 2) == [0, 1]


def test_each_stream_by_its_own_share_of_the_requests() -> None:
    streams = [
        {"name": "log", "size": "1 MiB", "rate": "30/s", "addresses": "sequential", "span": "400 MiB"},
        {"name": "data", "size": "1 MiB", "rate": "10/s", "addresses": {"pattern": "sequential", "mean_run": 8}},
    ]
    described = Workload.parse({"streams": streams})
    moved = described.at_the_end(CAPACITY, 40)
    found = moved.requests(capacity_bytes=CAPACITY, n=40)
    assert (found.offset[found.stream == 0] // MIB).tolist() == list(range(370, 400))
    assert moved.streams[1] is described.streams[1], "random runs are everywhere already"


def test_a_run_sees_enough_sequential_runs_and_whole_batches() -> None:
    assert workload(mean_run=500).n_cycle == 20 * 500
    assert workload().n_cycle == 0
    batches = workload(pattern="sorted", n_batch=40_000)
    assert batches.n_cycle == 40_000
    assert workload(pattern="sorted", n_batch=1_000_001).n_cycle == 0, "too long for any run"


def test_runs_too_long_to_see_several_never_end() -> None:
    assert not workload(mean_run=50_000).streams[0].addresses.is_in_order
    moved = workload(mean_run=50_001).at_the_end(CAPACITY, 40)
    assert moved == workload(begin_ratio=0.96)


def test_a_place_and_random_runs_exclude_each_other() -> None:
    with pytest.raises(DescriptionError, match="begin_ratio: runs of mean_run begin at random places"):
        workload(mean_run=8, begin_ratio=0.1)


def test_a_plan_asks_for_the_slowest_tracks() -> None:
    array = Array("generic-7k2", "raid0", 1)
    load = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    outer, inner = simulate(array, load, n_requests=2000), Simulated()(array, load, n_requests=2000, seed=0)
    tracks = array.drive.tables().sectors_per_track
    assert outer.iops.value / inner.iops.value == pytest.approx(tracks[0] / tracks[-1], rel=0.1)


def test_a_simulation_says_what_it_did_not_see() -> None:
    array = Array("generic-7k2", "raid0", 1)
    said = [text for text in simulate(array, workload(), n_requests=2000).messages if "in order" in text]
    assert len(said) == 1
    assert "begin_ratio = 0.9" in said[0]
    tracks = array.drive.tables().sectors_per_track
    assert f"transfer {100 * (1 - tracks[-1] / tracks[0]):.0f} % less" in said[0]
    for quiet in (workload(begin_ratio=0.0), workload(mean_run=8)):
        assert not [text for text in simulate(array, quiet, n_requests=2000).messages if "in order" in text]
    flash = Array("generic-sas-ssd", "raid0", 1)
    assert not [text for text in simulate(flash, workload(), n_requests=2000).messages if "in order" in text]


def test_a_plan_says_where_it_simulates_them() -> None:
    question = {
        "workload": workload().to_dict(),
        "objective": {"capacity": "100 GB"},
        "candidates": {"drives": ["generic-7k2"], "levels": ["raid10"]},
    }
    plan = PlanDescription.parse(PlanDescription.parse(question).to_dict())
    (line,) = in_order_words(plan.design_workload)
    assert line.startswith("stream0 goes through its region in order and is simulated near the end")
    assert not in_order_words(Workload.parse({"size": "4 KiB", "clients": 1}))
    assert cases(plan)[0].workload.streams[0].addresses.is_in_order, "a plan written and read again leaves it open"
