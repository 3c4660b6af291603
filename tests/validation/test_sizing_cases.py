"""The sizing cases of the how-to: the plans give the figures on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskmodel.analytic.rule import rule_of_thumb
from diskmodel.drive import load_drive
from diskmodel.plan import Candidates, PlanDescription, find_crossover, run_plan

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs/how-to/sizing-cases.md").read_text().split())

pytestmark = pytest.mark.slow


def counts(name: str) -> dict[str, tuple[int | None, int | None]]:
    """Level to disks, by simulation and by the rule of thumb."""
    result = run_plan(PlanDescription.load(ROOT / f"examples/{name}.toml"), with_relaxations=False, by_chance=False)
    return {item.family.level: (item.disks, item.rule_of_thumb_disks) for item in result.candidates}


def test_ten_thousand_requests() -> None:
    found = counts("plan-sizing-10000")
    assert found == {"raid10": (80, 88), "raid5": (156, 145)}
    assert "RAID 10 takes 80 disks where the rule of thumb needs 88, RAID 5 takes 156 where it needs 145" in PAGE
    assert (round(156 / 80, 2), round(145 / 88, 2)) == (1.95, 1.65)
    five = rule_of_thumb("raid5", read_fraction=0.6, cache_hit=0.3, disks=120, iops=10_000)
    assert round(10_000 * five.back_end_per_host) == 20_200


def test_four_hundred_and_seventy_seven() -> None:
    found = counts("plan-sizing-5-disks")
    assert {level: disks for level, (disks, _) in found.items()} == {"raid5": 20, "raid10": 4}
    assert found["raid5"][1] == 5
    assert "needs 20 disks in RAID 5, in two groups, or 4 in RAID 10" in PAGE


def test_standby_and_the_day_of_the_failover() -> None:
    apply = {level: disks for level, (disks, _) in counts("plan-standby").items()}
    assert apply == {"raid10": 12, "raid5": 22, "raid6": 32}
    assert "RAID 10 keeps up with 12 disks. RAID 5 needs 22, RAID 6 needs 32" in PAGE
    users = {level: disks for level, (disks, _) in counts("plan-failover").items()}
    assert users == {"raid10": 10, "raid5": 24, "raid6": 36}
    assert "RAID 10 takes 10 disks; RAID 5 takes 24 and RAID 6 takes 36" in PAGE


def test_where_the_levels_cross() -> None:
    plan = PlanDescription.load(ROOT / "examples/plan-oltp.toml")
    drives = Candidates.parse({**dict(plan.candidates), "drives": (load_drive("generic-15k"),)})
    found = find_crossover(plan.model_copy(update={"candidates": drives}), write_ratios=(0.0, 0.6, 0.7, 0.9, 1.0))
    assert found.crossing("raid6", "raid10") == (0.9, 1.0)
    assert found.crossing("raid5", "raid10") is None
    assert (found.disks["raid5"][-1], found.disks["raid10"][-1]) == (14, 18)
