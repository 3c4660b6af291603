"""The sentence that a comparison opens with: who answers sooner, carries more, stores more; nothing unsure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.plan import Comparison, compare
from diskmodel.plan.answer.verdict import _saved
from diskmodel.units import in_digits
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues


def array(level: str, disks: int) -> Array:
    return Array.parse({"name": level, "drive": "generic-15k", "layout": {"level": level, "disks": disks}})


def load(rate: int) -> Workload:
    return Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": f"{rate}/s"})


def asked(*arrays: Array, rate: int = 500) -> Comparison:
    return compare(arrays, load(rate), evaluate=Queues(noise=0.01))


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.25, "20 % sooner"), (11.0, "91 % sooner"), (485.3, "485 times as fast")]
)
def test_a_time_is_so_much_shorter(ratio: float, said: str) -> None:
    assert _saved(ratio) == said


def test_two_arrays() -> None:
    found = asked(array("raid5", 8), array("raid10", 8))
    five, ten = found.arrays
    sooner = 1 - ten.healthy.latency_ms()["mean"] / five.healthy.latency_ms()["mean"]
    assert f"raid10 answers {100 * sooner:.0f} % sooner" in found.verdict
    assert f"carries {100 * (ten.headroom.most_iops / five.headroom.most_iops - 1):.0f} % more" in found.verdict
    assert "; raid5 stores 75 % more (2.1 TB to 1.2 TB)" in found.verdict
    assert found.to_dict()["verdict"] == found.verdict


def test_superlatives_of_more() -> None:
    said = asked(array("raid5", 8), array("raid10", 8), array("raid6", 8)).verdict
    assert "raid10 answers soonest" in said
    assert "raid5 stores most (2.1 TB)" in said


def test_alike_arrays_have_no_winner() -> None:
    assert "do not differ" in asked(array("raid10", 8), array("raid10", 8)).verdict


def test_what_is_not_certain_is_not_named() -> None:
    found = asked(array("raid5", 8), array("raid10", 8))
    assert {difference.statistic for difference in found.differences} == {"iops", "mean", "p99", "most"}
    unsure = tuple(replace(difference, is_significant=False) for difference in found.differences)
    verdict = replace(found, differences=unsure).verdict
    assert "sooner (" not in verdict.split("rebuilds")[0]
    assert "carries" not in verdict


def test_a_rate_is_higher_in_so_many_draws() -> None:
    found = asked(array("raid5", 8), array("raid10", 8))
    drawn = tuple(replace(difference, n_draws=16, n_better=15) for difference in found.differences)
    assert "% more in 15 of 16 draws (" in replace(found, differences=drawn).verdict


def test_only_one_sustains_the_load() -> None:
    said = asked(array("raid5", 8), array("raid10", 8), rate=900).verdict
    assert said.startswith("raid10 alone sustains the load")
    assert "sooner" not in said.split("rebuilds")[0]


def test_none_sustains_the_load() -> None:
    said = asked(array("raid5", 8), array("raid10", 8), rate=3_000).verdict
    assert said.startswith("None of the arrays sustains the load; raid10 comes nearest")


def test_one_array() -> None:
    found = asked(array("raid10", 8))
    only = found.arrays[0]
    assert found.verdict.startswith(f"raid10 answers in {in_digits(only.healthy.latency_ms()['mean'])} ms on average, ")
    assert found.verdict.endswith(f"carries {in_digits(only.headroom.most_iops)}/s at most and stores 1.2 TB.")
    assert asked(array("raid10", 8), rate=3_000).verdict.startswith("raid10 does not sustain the load: it carries")
