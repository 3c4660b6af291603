"""Pools of OpenZFS as candidates of a plan."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.rule_of_thumb import rule_of_thumb_disks


def plan_of(**fields: Any) -> PlanDescription:
    data: dict[str, Any] = {
        "workload": {"size": "8 KiB", "rate": "300/s"},
        "objective": {"latency": {"p99": "80 ms"}, "capacity": "8 TB"},
        "candidates": {"drives": ["generic-7k2"], "levels": ["raidz1", "raidz2", "mirror"], "max_disks": 40},
        "layout": {"record": "8 KiB"},
    }
    return PlanDescription.parse({**data, **fields})


def shapes(case: Case, *counts: int) -> list[tuple[int, int]]:
    return [(case.array(n).layout.n_groups, case.array(n).layout.group_disks) for n in counts]


def test_vdevs_are_equal_and_not_wider_than_recommended() -> None:
    _, raidz2, mirror = cases(plan_of())
    assert shapes(raidz2, 6, 9, 10, 12, 27) == [(1, 6), (1, 9), (2, 5), (2, 6), (3, 9)]
    assert shapes(mirror, 2, 12) == [(1, 2), (6, 2)]
    assert 11 not in raidz2.counts
    assert 13 not in mirror.counts
    assert raidz2.array(12).layout.record_bytes == 8192


def test_counts_of_vdevs_may_be_given() -> None:
    base = plan_of().candidates.to_dict()
    (case,) = cases(plan_of(candidates={**base, "levels": ["raidz2"], "groups": [3]}))
    assert shapes(case, 12, 18) == [(3, 4), (3, 6)]


def test_the_rule_of_thumb_counts_vdevs() -> None:
    """300 reads a second are four vdevs of 80; of mirrors space decides."""
    raidz1, _, mirror = cases(plan_of())
    counted = rule_of_thumb_disks(raidz1)
    assert counted is not None
    assert raidz1.array(counted).layout.n_groups >= 4
    counted = rule_of_thumb_disks(mirror)
    assert counted is not None
    assert mirror.array(counted - 2).usable_bytes < mirror.required_bytes <= mirror.array(counted).usable_bytes


def test_records_need_a_pool() -> None:
    with pytest.raises(DescriptionError, match="belong to pools of OpenZFS"):
        plan_of(candidates={"drives": ["generic-7k2"], "levels": ["raid6"], "max_disks": 40})
