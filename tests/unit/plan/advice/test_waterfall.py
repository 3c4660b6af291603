"""From the rule of thumb's number of disks to the simulated one."""

from __future__ import annotations

import pytest

from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.advice.waterfall import _fewest, waterfall
from diskmodel.plan.answer.waterfall import WaterfallStep, steps_in_words
from diskmodel.plan.trial.evaluation import evaluator
from tests.unit.plan.fakes import Queues, plan_of

pytestmark = pytest.mark.slow

OLTP = {
    "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"},
    "objective": {"iops": 500, "latency": {"p99": "80 ms"}, "capacity": "2 TB"},
    "candidates": {"drives": ["generic-7k2"], "levels": ["raid5"], "max_disks": 40},
    "drive_write_cache": False,
}


def simulated(**more: object) -> dict[str, int | None]:
    plan = PlanDescription.parse(OLTP | more)
    best = run_plan(plan, with_relaxations=False).best
    assert best is not None
    steps = {step.step: step.disks for step in best.waterfall}
    assert next(iter(steps)) == "rule of thumb"
    assert steps["rule of thumb"] == best.rule_of_thumb_disks
    assert list(steps.values())[-1] == best.disks
    return steps


def test_each_assumption_moves_the_count_as_it_should() -> None:
    steps = simulated()
    names = ["rule of thumb", "seek and rotation", "parity", "elevator", "region", "queueing tail", "what is not known"]
    assert list(steps) == names
    operations, parity, elevator, region, tail, unknown = list(steps.values())[1:]
    assert None not in (operations, parity, elevator, region, tail, unknown)
    assert parity >= operations  # writes that wait for the platter cost more than as many single operations
    assert elevator < parity  # a queue that is reordered has shorter seeks
    assert region <= elevator  # and so has data on a part of the disks
    assert tail > region  # 80 ms at p99 need more disks than the rate alone
    assert unknown > tail  # and more again for a chance of 90 %


def test_a_cache_is_a_step_of_its_own() -> None:
    steps = simulated(controller={"read_cache": {"hit_ratio": 0.5}})
    assert steps["cache"] is not None
    assert steps["region"] is not None
    assert steps["cache"] < steps["region"]


def test_only_the_best_has_steps_unless_all_are_asked_for() -> None:
    plan = plan_of()
    alone = run_plan(plan, evaluate=Queues(), with_relaxations=False)
    assert [bool(c.waterfall) for c in alone.candidates] == [c is alone.best for c in alone.candidates]
    every = run_plan(plan, evaluate=Queues(), with_relaxations=False, with_waterfalls=True)
    assert all(c.waterfall for c in every.candidates if c.is_feasible)
    assert every.best in every.candidates
    data = every.to_dict()["best"]["waterfall"]
    assert all({"step", "disks"} <= step.keys() for step in data)


def test_there_are_no_steps_without_a_rate_or_a_simulation() -> None:
    closed = plan_of(workload={"size": "8 KiB", "clients": 4}, objective={"latency": {"p99": "400 ms"}})
    best = run_plan(closed, evaluate=Queues(), with_relaxations=False).best
    assert best is not None
    assert best.rule_of_thumb_disks is None
    assert best.waterfall == ()
    counted = plan_of(objective={"iops": 1000}, search={"method": "rule"})
    by_rule = run_plan(counted, with_relaxations=False).best
    assert by_rule is not None
    assert waterfall(counted, by_rule, evaluator(counted)) == ()


def test_the_search_for_a_step_finds_the_fewest_from_any_start() -> None:
    from diskmodel.plan import cases

    case = cases(plan_of())[1]
    for fewest in (3, 4, 7, 22, 39, 40):
        for near in (1, 3, 10, 40, 90):
            tried: list[int] = []

            def carries(disks: int, least: int = fewest, tried: list[int] = tried) -> bool:
                tried.append(disks)
                return disks >= least

            assert _fewest(case, near, carries) == fewest
            assert len(tried) == len(set(tried))
    assert _fewest(case, 5, lambda _: False) is None


def test_steps_in_words_name_the_change() -> None:
    steps = (
        WaterfallStep("rule of thumb", 12, "Fixed."),
        WaterfallStep("elevator", 8, "Ordered."),
        WaterfallStep("region", 8, "Short seeks."),
        WaterfallStep("queueing tail", None, "Waits."),
    )
    assert steps_in_words(steps, 40) == [
        "rule of thumb: 12 disks. Fixed.",
        "elevator: 8 disks (-4). Ordered.",
        "region: 8 disks (no change). Short seeks.",
        "queueing tail: more than 40 disks. Waits.",
    ]
