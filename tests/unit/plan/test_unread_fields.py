"""No field of a plan is ignored in silence: it changes the question, is refused, or is named as without effect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diskmodel.description import Description, without_effect
from diskmodel.drive import load_drive
from diskmodel.errors import InputError
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.common_layout import CommonLayout
from diskmodel.plan.question.description import Candidates, GroupWidth, PlanDescription
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.question.options import plan_from, plan_options
from diskmodel.plan.question.presets import preset
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.show.cautions import cautions
from tests.unit.plan.fakes import Queues

EXAMPLES = Path(__file__).parents[3] / "examples"
BASE: dict[str, Any] = {
    "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "300/s"},
    "objective": {"latency": {"p99": "30 ms"}},
    "candidates": {"drives": ["generic-15k"], "levels": ["raid0"], "max_disks": 8},
}
#: An unusual value of each field by its path, and what else is given so that nothing reads it.
UNUSUAL: list[tuple[str, Any, dict[str, Any]]] = [
    ("objective.years", 3, {}),
    ("objective.growth_ratio", 0.3, {}),
    ("objective.capacity_growth_ratio", 0.3, {"objective.years": 3, "objective.growth_ratio": 0.1}),
    ("objective.fill_limit_ratio", 0.5, {}),
    ("objective.formatting_ratio", 0.1, {}),
    ("objective.busy_hours", 6.0, {}),
    ("candidates.min_disks", 3, {"candidates.disks": [4, 8]}),
    ("candidates.strip_bytes", 4096, {"candidates.levels": ["raidz1"]}),
    ("candidates.groups", 3, {}),
    ("candidates.max_group_width", 5, {}),
    ("candidates.max_group_width.raid5", 5, {"candidates.levels": ["raid6"]}),
    ("candidates.max_group_width.raid6", 5, {"candidates.levels": ["raidz1"]}),
    ("candidates.max_group_width.raidz", 5, {"candidates.levels": ["raid5"]}),
    ("candidates.rebuild", {"window": "64 KiB"}, {}),
    ("candidates.rebuild.window_bytes", 65536, {"candidates.levels": ["raidz1"]}),
    ("layout.rotation", "left-asymmetric", {}),
    ("layout.rotation", "left-asymmetric", {"candidates.levels": ["raidz1"]}),
    ("layout.write_policy", "reconstruct-write", {"candidates.levels": ["raid10"]}),
    ("layout.read_policy", "primary", {"candidates.levels": ["raidz1"]}),
    ("layout.stripe_cache_pages", 64, {}),
    ("layout.copies", 3, {}),
    ("prices.drives_usd", {"another": 100.0}, {}),
    ("prices.slot_usd", 30.0, {}),
    ("prices.power_usd_per_kwh", 0.2, {}),
    ("prices.power_usd_per_kwh", 0.2, {"prices.drives_usd": {"Generic 15k rpm SAS": 100.0}}),
    ("search.minimize", "cost", {}),
    ("candidates.rebuild.used_ratio", 0.5, {"candidates.levels": ["raid5"]}),
    ("candidates.rebuild.done_ratio", 0.5, {"candidates.levels": ["raid5"]}),
    ("prices.power_factor", 1.5, {"prices.drives_usd": {"Generic 15k rpm SAS": 100.0}}),
    ("prices.years", 3.0, {"prices.drives_usd": {"Generic 15k rpm SAS": 100.0}}),
    ("search.requests", 2000, {"search.method": "rule"}),
    ("search.max_requests", 90_000, {"search.method": "rule"}),
    ("search.max_requests_at_answer", 90_000, {"search.method": "rule"}),
    ("search.engine", "simpy", {"search.method": "rule"}),
]


def plan_of(*given: tuple[str, Any]) -> PlanDescription:
    data: dict[str, Any] = {part: dict(value) for part, value in BASE.items()}
    for path, value in given:
        *parts, last = path.split(".")
        at = data
        for part in parts:
            at = at.setdefault(part, {})
        at[last] = value
    return PlanDescription.parse(data)


@pytest.mark.parametrize(("path", "value", "beside"), UNUSUAL)
def test_a_field_that_nothing_reads_is_named_or_refused(path: str, value: Any, beside: dict[str, Any]) -> None:
    try:
        plan = plan_of((path, value), *beside.items())
    except InputError:
        return
    assert path in [name for name, _ in plan.unread()]


@pytest.mark.parametrize(
    "given",
    [
        {"objective.years": 3, "objective.growth_ratio": 0.3},
        {"objective.capacity_bytes": 10**11, "objective.fill_limit_ratio": 0.8, "objective.formatting_ratio": 0.1},
        {"candidates.levels": ["raid50", "raid6"], "candidates.groups": 3, "candidates.max_group_width": 6},
        {"candidates.levels": ["raid5"], "candidates.rebuild": {"window": "64 KiB"}, "objective.busy_hours": 6.0},
        {"candidates.levels": ["raid5", "raidz1"], "layout.rotation": "left-asymmetric", "candidates.min_disks": 4},
        {
            "candidates.drives": [{**load_drive("generic-15k").to_dict(), "name": "powered", "power_w": 9.0}],
            "prices": {
                "drives_usd": {"powered": 90.0},
                "slot_usd": 9.0,
                "power_usd_per_kwh": 0.2,
                "years": 3.0,
            },
        },
        {"search.requests": 2000, "search.engine": "simpy", "search.max_requests_at_answer": 5000},
    ],
)
def test_what_something_reads_is_not_named(given: dict[str, Any]) -> None:
    assert not list(plan_of(*given.items()).unread())


def plans() -> Iterator[PlanDescription]:
    given = plan_options({"iops": "500/s", "capacity": "2TB", "drive": ["generic-15k"], "level": ["raid10"]})
    for name in ("vm", "desktops", "backup"):
        yield plan_from(given, path=None, preset=preset(name), array=None)[0]
    yield from (PlanDescription.load(path) for path in EXAMPLES.glob("plan-*.toml") if path.stem != "plan-server")


def test_presets_and_examples_have_nothing_without_effect() -> None:
    assert [without_effect(plan.unread()) for plan in plans()] == [()] * len(list(plans()))


def test_every_reader_is_of_a_field() -> None:
    parts: tuple[type[Description], ...] = (Objective, Candidates, GroupWidth, CommonLayout, Prices, Search)
    for part in parts:
        assert set(part.readers()) <= set(part.model_fields), part


def test_the_answer_names_it() -> None:
    plan = plan_of(("candidates.groups", 3), ("queue", {"scheduler": "fcfs", "fifo_batch": 2}))
    result = run_plan(plan, evaluate=Queues(), by_chance=False, with_details=False)
    text = "without effect here: candidates.groups (only raid50 and raid60) and queue.fifo_batch (only mq-deadline)"
    assert result.without_effect == (text,)
    assert f"Caution: {text}." in cautions(result)
    assert result.to_dict()["without_effect"] == [text]
