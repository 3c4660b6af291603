"""Plans with caches on SSDs: what is asked, refused, and answered."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel import Array
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription
from diskmodel.plan.caches.asked import cached_levels
from diskmodel.plan.caches.search import plan_caches
from diskmodel.plan.caches.show import sheet
from diskmodel.plan.trial.statics import idle_rebuild_hours, loss_beside

CACHE = "micron-7450-pro-1920 (bcache writeback)"


def question(**objective: Any) -> PlanDescription:
    """Readers and writers of 200 GB, a fifth of which is popular."""
    addresses = {"pattern": "hot_spot", "access_ratio": 0.9, "space_ratio": 0.1}
    return PlanDescription.parse(
        {
            "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "300/s", "addresses": addresses},
            "objective": {"capacity": "1 TB", **objective},
            "candidates": {"drives": ["generic-7k2"], "levels": ["raid10"], "max_disks": 32},
        }
    )


def test_which_questions_are_about_a_cache_before_an_array() -> None:
    assert cached_levels(["RAID 6", "raid10"], [CACHE]) == ["raid6", "raid10"]
    assert not cached_levels(["raidz2"], [CACHE])
    assert not cached_levels(["raid6"], None)
    with pytest.raises(DescriptionError, match="arrays and pools together"):
        cached_levels(["raid6", "raidz2"], [CACHE])


def test_what_is_not_looked_at_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"objective.latency.p95=.*not looked at with caches"):
        plan_caches(question(latency={"p95": "20 ms"}), ["raid10"], [CACHE])


@pytest.mark.slow
def test_a_cache_saves_disks() -> None:
    answer = plan_caches(question(latency={"p99": "40 ms"}), ["raid10"], [CACHE])
    by_cache = {one.cache: one for one in answer.candidates}
    cached, alone = by_cache[CACHE], by_cache["none"]
    assert cached.feasible
    assert not alone.feasible or cached.disks < alone.disks
    assert answer.best is cached
    assert cached.bad_p99_ms <= 40
    text = sheet(answer).lines()
    assert text[0] == f"{cached.disks} × Generic 7.2k rpm SATA in raid10,"
    assert max(map(len, text)) <= 120
    assert answer.to_dict()["best"]["cache"] == CACHE


def test_a_volume_is_lost_with_its_cache_or_the_array_behind_it() -> None:
    """The chances of both, the array's with rebuilds that nothing slows down."""
    plain = Array("12x seagate-exos-x18 raid6")
    through, back = (
        Array(f"12x seagate-exos-x18 raid6, cached by 1x micron-7450-pro-1920 (bcache {mode})")
        for mode in ("writethrough", "writeback")
    )
    alone = loss_beside(plain, idle_rebuild_hours(plain), 24.0).loss_per_year
    assert loss_beside(through, math.nan, 24.0).loss_per_year == pytest.approx(alone, rel=1e-6)
    assert loss_beside(back, math.nan, 24.0).loss_per_year > 10 * alone
