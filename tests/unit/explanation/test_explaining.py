"""Explanations of arrays whose cause is known, from one or two measured loads."""

import math
from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import Trials
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Change
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explain import explain
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.explanation.show.report import page
from diskmodel.explanation.simulator import Simulator
from diskmodel.result.summary import estimates_by_operation
from diskmodel.workload import Workload

#: Each simulates what may be true and some hundred causes.
pytestmark = pytest.mark.slow

RAID = Array.from_words("8x seagate-exos-x18 raid6")
DEEP = Workload.parse({"size": "8 KiB", "clients": 32})
LARGE = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": "sequential"})


def measured(array: Array, workload: Workload, name: str, law: object = None) -> Measured:
    """Return what an array measures, simulated from another seed."""
    figures = Trials(array, workload, 5_000, seed=77, start="steady", estimate=estimates_by_operation).reference
    names = ["iops", *(f"reads.{kind}" for kind in ("mean", *SHAPE))]
    return Measured(name, workload, {key: figures[key] for key in names}, {"reads": 5_000.0})


def planted(cause: str, value: object, *workloads: Workload) -> Explanation:
    """Return the explanation of an array with a cause."""
    found = []
    for at, workload in enumerate(workloads):
        change = CAUSES[cause].change(RAID, workload, value) or Change(RAID, workload)
        assert isinstance(change.workload, Workload)
        made = measured(change.array, change.workload, f"load {at}")
        found.append(replace(made, workload=workload))
    return explain(found, RAID)


def test_a_healthy_array_has_nothing_to_explain() -> None:
    found = explain([measured(RAID, DEEP, "deep")], RAID)
    assert found.is_as_expected
    assert found.causes == ()
    assert str(found).startswith("nothing to explain: ")
    rate = next(one for one in found.compared if one.figure == "iops")
    assert rate.low < rate.measured < rate.high
    assert found.to_dict()["causes"] == []


def test_a_failed_member_is_found() -> None:
    found = planted("member-failed", 1, DEEP, LARGE)
    first, second, *_ = found.causes
    assert first.names == ("member-failed",)
    # a rebuild and another load fit two loads nearly as well: more than one half was said before priors were doubted
    assert first.probability > 2 * second.probability
    assert first.explains > 0.5
    assert "/proc/mdstat" in first.checks[0]


@pytest.fixture(scope="module")
def lost() -> Explanation:
    """An array that gets one request at a time."""
    return planted("depth-lost", 1, DEEP)


def test_a_lost_depth_is_found(lost: Explanation) -> None:
    assert lost.direction == "slower"
    assert lost.causes[0].names == ("depth-lost",)
    assert lost.causes[0].predicts.low < lost.gap.measured < lost.causes[0].predicts.high
    assert len(lost.causes) <= 3


def test_no_cause_is_named_that_does_not_fit(lost: Explanation) -> None:
    gap = lost.gap
    for one in lost.causes:
        assert one.predicts.figure == gap.figure
        assert one.predicts.low <= gap.measured <= one.predicts.high


def test_probabilities_add_up(lost: Explanation) -> None:
    total = sum(one.probability for one in lost.causes) + lost.unknown + lost.as_described
    assert 0.9 < total <= 1 + 1e-9


def test_text_fits_80_columns(lost: Explanation) -> None:
    assert max(map(len, str(lost).splitlines())) <= 80
    assert "slower than it should be" in str(lost)


def test_json_has_the_keys_that_scripts_rely_on(lost: Explanation) -> None:
    data = lost.to_dict()
    assert {"expected", "measured", "causes"} <= data.keys()
    assert {"cause", "probability", "explains", "check"} <= data["causes"][0].keys()
    assert data["measured"]["load 0"]["iops"] == pytest.approx(lost.gap.measured)


def test_the_page_has_pictures_and_causes(lost: Explanation) -> None:
    text = page(lost)
    assert text.count("<svg") == 3
    assert "fewer requests outstanding" in text
    assert lost._repr_html_().count("<svg") == 3


def test_what_nothing_explains_is_said_so() -> None:
    healthy = measured(RAID, DEEP, "deep")
    # all requests take the same time, and one in fifty a hundred times as long, at a hundredth of the rate
    strange = {"iops": 3.0, "reads.mean": 32e9 / 3.0, "reads.p50": 1e4, "reads.p95": 1.1e4, "reads.p99": 5e12}
    found = explain([replace(healthy, figures=strange)], RAID)
    assert found.causes == ()
    # the rest is spread over causes that were tried, none of which is named
    assert found.unknown > 0.5
    assert "none of what I know explains this" in str(found)
    assert math.isfinite(found.unknown)


def test_more_than_the_links_carry_is_not_expected_however_fast_the_drive_is() -> None:
    """A sheet leaves open what a flash drive does in order, but not that of its link: 550 MB/s."""
    array = Array.from_words("samsung-pm893-960")
    load = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    for rate, is_beyond in ((500.0, False), (900.0, True)):
        simulator = Simulator(array, [Measured("read", load, {"iops": rate}, {"reads": 5_000.0})])
        verdict = compare(simulator)
        assert simulator.is_beyond_links == is_beyond
        assert verdict.is_as_expected != is_beyond
        assert verdict.compared[0].high < 600
    cached = Array.from_words("samsung-pm893-960, 1GiB cache")
    simulator = Simulator(cached, [Measured("read", load, {"iops": 900.0}, {"reads": 5_000.0})])
    assert not simulator.is_beyond_links
