"""Rows that are arithmetic: the product's rule functions, to the last digit that the author prints."""

from __future__ import annotations

from collections.abc import Iterable

from diskmodel.analytic.rule import disks_for_throughput, rule_of_thumb, write_penalty
from diskmodel.analytic.writeback import WritebackThresholds
from tests.validation.field.cases import CASES
from tests.validation.field.outcome import Outcome


def formula_outcomes() -> Iterable[Outcome]:
    """All figures of the formula cases."""
    yield from _case_1()
    yield from _table()
    yield from _case_2()
    expect = CASES["write-penalties"]["expect"]
    yield from (_row("write-penalties", level, "penalty", expect[level], write_penalty(level)) for level in expect)
    for row in CASES["throughput-disk-count"]["rows"]:
        disks = disks_for_throughput(1e9, row["per_disk_mb_s"] * 1e6)
        yield _row("throughput-disk-count", row["drive"], "disks", row["disks"], disks)
    thresholds = vars(WritebackThresholds())
    expect = CASES["page-cache-writeback"]["expect"]
    yield from (_row("page-cache-writeback", "", name, expect[name], thresholds[name]) for name in expect)


def _row(case: str, row: str, quantity: str, author: float, ours: float) -> Outcome:
    return Outcome(case, row, quantity, author, author, ours, 0.0, "formula")


def _per_disk(level: str, disks: int, iops: float, reads: float, hits: float, ceiling: float = 1.0) -> float:
    rule = rule_of_thumb(
        level, disks=disks, iops=iops, read_fraction=reads, cache_hit=hits, utilization_ceiling=ceiling
    )
    assert rule.per_disk_iops is not None
    return rule.per_disk_iops


def _case_1() -> Iterable[Outcome]:
    case = CASES["rule-of-thumb-case-1"]
    load = case["workload"]
    for level, disks, key in (("raid1", 2, "raid1_on_2_disks"), ("raid5", 120, "raid5"), ("raid10", 120, "raid10")):
        ours = _per_disk(level, disks, load["iops"], load["read_fraction"], load["read_cache_hit"])
        yield _row("rule-of-thumb-case-1", level, "per_disk_iops", case["expect"][key], round(ours, 3))


def _table() -> Iterable[Outcome]:
    case = CASES["rule-of-thumb-table"]
    for row in case["rows"]:
        disks = row.get("disks", case["disks"])
        ours = _per_disk(
            row["level"], disks, case["iops"], row["read_fraction"], row["cache_hit"], case["utilisation_ceiling"]
        )
        label = f"{row['level']}, hits {row['cache_hit']:.0%}, reads {row['read_fraction']:.0%}"
        yield _row("rule-of-thumb-table", label, "per_disk_iops", row["per_disk"], round(ours))


def _case_2() -> Iterable[Outcome]:
    case = CASES["rule-of-thumb-case-2"]
    array, load = case["array"], case["workload"]
    rule = rule_of_thumb(
        array["level"],
        disks=array["disks"],
        per_disk_iops=array["per_disk_iops"],
        read_fraction=load["read_fraction"],
        cache_hit=load["read_cache_hit"],
    )
    assert rule.array_iops is not None
    assert rule.host_iops is not None
    yield _row("rule-of-thumb-case-2", "", "array_iops", case["expect"]["array_iops"], rule.array_iops)
    yield _row("rule-of-thumb-case-2", "", "host_iops", case["expect"]["host_iops"], round(rule.host_iops))
