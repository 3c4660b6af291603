"""Rates that change: how much of it a run goes through, and what a plan takes instead (rule W10)."""

from __future__ import annotations

import pytest

from diskmodel import Array, simulate
from diskmodel.plan import PlanDescription, compare, run_plan
from diskmodel.plan.show.table import comparison_notes
from diskmodel.plan.show.words import because, peak_words
from diskmodel.workload import Workload

DAY = {"kind": "poisson", "rate": "60/s", "profile": {"relative_rates": [1, 1, 4], "period": "24 h"}}


def workload(*arrivals: dict[str, object]) -> Workload:
    return Workload.parse({"streams": [{"size": "8 KiB", "arrival": arrival} for arrival in arrivals]})


@pytest.mark.parametrize(
    ("arrival", "peak"),
    [
        (DAY, {"rate": "120/s"}),
        # a run can go through so slow a day, but eight hours are a load of their own
        (DAY | {"rate": "1/s"}, {"rate": "2/s"}),
        # parts of 20 s are averaged: a run goes through them
        ({"kind": "poisson", "rate": "500/s", "profile": {"relative_rates": [1, 1, 4], "period": "60 s"}}, None),
        # two neighbors of 40 s, at the end of a period and at the front of the next
        (
            {"kind": "poisson", "rate": "30/s", "profile": {"relative_rates": [3, 1, 1, 3], "period": "160 s"}},
            {"rate": "45/s"},
        ),
        ({"kind": "poisson", "rate": "500/s", "profile": {"relative_rates": [2, 2], "period": "24 h"}}, None),
        ({"kind": "bursts", "on_rate": "400/s", "mean_on": "2 s", "mean_off": "6 s"}, None),
        ({"kind": "bursts", "on_rate": "400/s", "mean_on": "2 min", "mean_off": "10 min"}, {"rate": "400/s"}),
        ({"kind": "bursts", "on_rate": "400/s", "mean_on": "9 s", "mean_off": "1 h"}, None),
        # ten of these bursts take 1.4 million requests
        (
            {"kind": "bursts", "on_rate": "4000/s", "off_rate": "25/s", "mean_on": "9 s", "mean_off": "1 h"},
            {"rate": "4000/s"},
        ),
        ({"kind": "given", "inter_arrival": ["1 ms", "9 ms"]}, None),
        ({"kind": "closed", "clients": 4}, None),
    ],
)
def test_the_busiest_part(arrival: dict[str, object], peak: dict[str, object] | None) -> None:
    described = workload(arrival)
    expected = described if peak is None else workload({"kind": "poisson"} | peak)
    assert described.at_peak() == expected
    assert expected.at_peak() is expected


def test_a_longer_run_goes_through_more() -> None:
    described = workload(
        {"kind": "bursts", "on_rate": "4000/s", "off_rate": "25/s", "mean_on": "9 s", "mean_off": "1 h"}
    )
    assert described.at_peak(1_500_000) is described


def test_bursts_keep_their_bursts_at_the_busiest_time_of_the_day() -> None:
    bursts = {"kind": "bursts", "on_rate": "80/s", "mean_on": "2 s", "mean_off": "6 s"}
    assert workload(bursts | {"profile": DAY["profile"]}).at_peak() == workload(bursts | {"on_rate": "160/s"})


def question(*arrivals: dict[str, object]) -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": workload(*arrivals).to_dict(),
            "objective": {"capacity": "300 GB", "latency": {"mean": "20 ms"}, "growth": "100%", "years": 1},
            "candidates": {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 16},
            "search": {"requests": 4000},
        }
    )


def test_a_plan_is_for_the_busiest_hours() -> None:
    plan = question(DAY)
    assert plan.design_workload == workload({"kind": "poisson", "rate": "240/s"}).at_peak().model_copy(
        update={"streams": plan.design_workload.streams}
    )
    assert plan.design_workload.offered_rate_per_s == pytest.approx(240)
    assert plan.peaks == {"stream0": (120, 240)}
    found = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False)
    assert because(found)[0].startswith("It meets the objective with stream0 at its busiest (240/s): ")
    again = Workload.parse(found.to_dict()["candidates"][0]["workload"])
    assert again.offered_rate_per_s == pytest.approx(240)


def test_streams_are_at_their_peaks_together() -> None:
    said = peak_words(question(DAY, DAY | {"rate": "30/s"}, {"kind": "poisson", "rate": "1/s"}).peaks)
    assert said[0] == "stream0 is simulated at its busiest, 240 requests per second (on average 120)"
    assert len(said) == 3
    assert "busiest together" in said[2]


def test_a_comparison_is_of_the_busiest_hours() -> None:
    found = compare([Array("generic-15k", "raid10", 4)], workload(DAY), n_requests=4000)
    assert found.arrays[0].healthy.iops.value == pytest.approx(120, rel=0.05)
    assert "stream0 is simulated at its busiest, 120 requests per second (on average 60)" in comparison_notes(found)


def test_a_simulation_says_what_it_did_not_see() -> None:
    array = Array("generic-15k", "raid10", 4)
    (said,) = (text for text in simulate(array, workload(DAY), n_requests=2000).messages if "busiest" in text)
    assert said.startswith("the rate of stream0 changes, and this run saw 6")
    assert "120 requests per second (on average 60)" in said
    short = DAY | {"profile": {"relative_rates": [1, 3], "period": "2 s"}}
    assert not [text for text in simulate(array, workload(short), n_requests=2000).messages if "busiest" in text]
