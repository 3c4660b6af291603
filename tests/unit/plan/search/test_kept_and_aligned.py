"""Counts that align are tried, stated groups are kept, and a bound is no figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diskmodel.plan import PlanDescription
from diskmodel.plan.advice.profile_risk import _curve
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.search.aligned import aligned_counts
from diskmodel.plan.search.fewest_disks import _or_fewer
from diskmodel.uncertainty.perturbation import Perturbation


def case(level: str, size: str, **candidates: Any) -> Case:
    plan = PlanDescription.parse(
        {
            "workload": {"size": size, "read_ratio": 0.0, "rate": "30/s"},
            "objective": {"iops": 30, "latency": {"p99": "54 ms"}},
            "candidates": {"drives": ["generic-7k2"], "levels": [level], "max_disks": 48} | candidates,
        }
    )
    return cases(plan)[0]


def test_counts_with_which_a_write_is_whole_rows() -> None:
    """Strips of 64 KiB: 256 KiB are 2 or 4 data disks, 512 KiB 2, 4 or 8, beside the parity."""
    assert aligned_counts(case("raid5", "256 KiB"), list(range(3, 13))) == [3, 5]
    assert aligned_counts(case("raid6", "512 KiB"), list(range(4, 17))) == [4, 6, 10]
    assert aligned_counts(case("raid6", "64 KiB"), list(range(4, 17))) == []
    assert aligned_counts(case("raid10", "512 KiB"), [4, 6, 8]) == []


def test_fewer_disks_that_align_are_the_answer_although_more_miss_it() -> None:
    tried: list[int] = []

    def is_met(disks: int) -> bool:
        tried.append(disks)
        return disks in (6, 10)

    assert _or_fewer([4, 6, 10], None, is_met) == 6
    assert tried == [4, 6]
    assert _or_fewer([4, 6, 10], 6, is_met) == 6
    assert _or_fewer([], None, is_met) is None


def test_stated_groups_are_kept() -> None:
    """Of at most 20 disks each in RAID 6: without stating them, 48 disks would be three groups."""
    stated = case("raid60", "16 KiB", groups=[2])
    assert max(stated.counts) == 40
    assert {stated.array(n).layout.n_groups for n in stated.counts} == {2}
    assert case("raid60", "16 KiB").array(48).layout.n_groups == 3


def test_the_chance_of_more_disks_is_not_taken_from_fewer_where_they_may_hurt() -> None:
    """RAID 6, whole rows with 4, 6 and 10 disks: truths that 6 disks meet, 7 may miss."""
    drawn = [Perturbation(speed=0.1 * i) for i in range(10)]
    met = {4: 1, 5: 0, 6: 6, 7: 1, 10: 9}

    class DrawnRuns:
        def chances(self, disks: int, truths: Sequence[Perturbation]) -> list[float]:
            assert len(truths) == len(drawn)
            return [float(at < met.get(disks, 2)) for at in range(len(truths))]

    asked: Any = (case("raid6", "512 KiB", max_disks=16), DrawnRuns(), 6, drawn, [1.0] * 6 + [0.0] * 4)
    chances = {one.disks: one.probability for one in _curve(*asked, None)}
    assert chances == {6: 0.6, 10: 0.9}  # enough, and no other is tried
    met[10] = 8
    assert {one.disks: one.probability for one in _curve(*asked, None)} == {5: 0.0, 6: 0.6, 7: 0.1, 10: 0.8, 16: 0.2}
    assert {one.disks: one.probability for one in _curve(*asked, 9)} == {5: 0.0, 6: 0.6, 7: 0.1, 9: 0.2}
