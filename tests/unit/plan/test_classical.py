"""With mechanics, cache and queueing switched off a plan gives the calculators' answers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskmodel.analytic.rule import rule_of_thumb
from diskmodel.plan import cases, run_plan
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.search.fewest_disks import search_family
from tests.unit.plan.fakes import plan_of

MEASUREMENTS = Path(__file__).parents[2] / "data" / "field-measurements.toml"
CASES: dict[str, Any] = {case["id"]: case for case in tomllib.loads(MEASUREMENTS.read_text())["case"]}
TABLE = CASES["rule-of-thumb-table"]


def plan(level: str, read_ratio: float, hit_ratio: float, iops: float, **objective: Any) -> Any:
    return plan_of(
        workload={"size": "4 KiB", "read_ratio": read_ratio, "rate_per_s": iops},
        objective={"iops": iops, **objective},
        controller={"read_cache": {"hit_ratio": hit_ratio}},
        candidates={"drives": ["generic-15k"], "levels": [level], "max_disks": 400},
        search={"method": "rule"},
    )


@pytest.mark.parametrize(
    "row", [row for row in TABLE["rows"] if row["level"] != "raid1"], ids=lambda r: f"{r['level']}-{r['per_disk']}"
)
def test_table_read_backwards(row: dict[str, Any]) -> None:
    """What the table asks of 120 disks is what a plan needs about 120 disks for, at the drive's own rating."""
    question = plan(
        row["level"],
        row["read_fraction"],
        row["cache_hit"],
        TABLE["iops"],
        utilization_ceiling_ratio=TABLE["utilisation_ceiling"],
    )
    candidate = search_family(cases(question)[0], evaluate_by_rule(question))
    rule = rule_of_thumb(
        row["level"],
        disks=TABLE["disks"],
        iops=TABLE["iops"],
        read_fraction=row["read_fraction"],
        cache_hit=row["cache_hit"],
        utilization_ceiling=TABLE["utilisation_ceiling"],
    )
    assert rule.per_disk_iops is not None
    exact = 120 * rule.per_disk_iops / 165.0
    whole = next(n for n in range(1, 401) if n >= exact - 1e-9 and (row["level"] != "raid10" or n % 2 == 0))
    assert candidate.disks == whole
    assert candidate.rule_of_thumb_disks == whole
    assert candidate.binds in ("utilization", "iops")


def evaluate_by_rule(question: Any) -> Any:
    from diskmodel.plan.trial.evaluation import evaluator

    return evaluator(question)


def test_case_2_holds_with_five_disks_of_140() -> None:
    case = CASES["rule-of-thumb-case-2"]
    load = case["workload"]
    question = plan("raid5", load["read_fraction"], load["read_cache_hit"], case["expect"]["host_iops"])
    ten = question.model_copy(
        update={"candidates": plan_of(candidates={"drives": ["generic-10k"], "levels": ["raid5"]}).candidates}
    )
    result = run_plan(ten, with_relaxations=False, by_chance=False)
    assert result.best is not None
    assert result.best.disks == case["array"]["disks"]


def test_a_rule_knows_no_latency_and_says_so() -> None:
    question = plan("raid5", 0.7, 0.0, 1000, latency={"p99": "20 ms"})
    result = run_plan(question, with_relaxations=False, by_chance=False)
    assert result.best is not None
    assert result.best.trial is not None
    unknown = [item for item in result.best.trial.criteria if item.verdict.value == "unknown"]
    assert [item.detail for item in unknown] == ["p99"]


def test_closed_workload_without_a_rate_cannot_be_counted() -> None:
    def never(*_: Any, **__: Any) -> Outcome:
        from tests.unit.plan.fakes import Queues

        return Queues()(*_, **__)

    question = plan_of(workload={"size": "4 KiB", "clients": 8}, objective={"latency": {"p99": "40 ms"}})
    candidate = search_family(cases(question)[0], never)
    assert candidate.rule_of_thumb_disks is None
    assert "needs a rate" in candidate.rule_of_thumb_difference[0]
