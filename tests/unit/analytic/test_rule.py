"""The rule of thumb against every row of the field measurements that is arithmetic."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskmodel.analytic.rule import (
    back_end_per_host,
    disks_for_throughput,
    link_ports,
    rule_of_thumb,
    usual_disk_iops,
    write_penalty,
)
from diskmodel.analytic.writeback import Regime, WritebackThresholds
from diskmodel.errors import InputError

MEASUREMENTS = Path(__file__).parents[2] / "data" / "field-measurements.toml"
CASES: dict[str, Any] = {case["id"]: case for case in tomllib.loads(MEASUREMENTS.read_text())["case"]}


def test_every_formula_case_has_a_test_here() -> None:
    formulas = {name for name, case in CASES.items() if case["role"] == "formula"}
    assert formulas == {
        "rule-of-thumb-case-1",
        "rule-of-thumb-table",
        "rule-of-thumb-case-2",
        "write-penalties",
        "throughput-disk-count",
        "page-cache-writeback",
    }


@pytest.mark.parametrize(
    ("level", "disks", "key"),
    [("raid1", 2, "raid1_on_2_disks"), ("raid5", 120, "raid5"), ("raid10", 120, "raid10")],
)
def test_case_1_to_the_last_printed_digit(level: str, disks: int, key: str) -> None:
    case = CASES["rule-of-thumb-case-1"]
    load = case["workload"]
    rule = rule_of_thumb(
        level,
        disks=disks,
        iops=load["iops"],
        read_fraction=load["read_fraction"],
        cache_hit=load["read_cache_hit"],
    )
    assert rule.per_disk_iops is not None
    assert round(rule.per_disk_iops, 3) == case["expect"][key]


@pytest.mark.parametrize("row", CASES["rule-of-thumb-table"]["rows"], ids=lambda r: f"{r['level']}-{r['per_disk']}")
def test_table(row: dict[str, Any]) -> None:
    case = CASES["rule-of-thumb-table"]
    rule = rule_of_thumb(
        row["level"],
        disks=row.get("disks", case["disks"]),
        iops=case["iops"],
        read_fraction=row["read_fraction"],
        cache_hit=row["cache_hit"],
        utilization_ceiling=case["utilisation_ceiling"],
    )
    assert rule.per_disk_iops is not None
    assert round(rule.per_disk_iops) == row["per_disk"]


def test_case_2() -> None:
    case = CASES["rule-of-thumb-case-2"]
    array, load = case["array"], case["workload"]
    rule = rule_of_thumb(
        array["level"],
        disks=array["disks"],
        per_disk_iops=array["per_disk_iops"],
        read_fraction=load["read_fraction"],
        cache_hit=load["read_cache_hit"],
    )
    assert rule.host_iops is not None
    assert rule.array_iops == case["expect"]["array_iops"]
    assert round(rule.host_iops) == case["expect"]["host_iops"]


def test_write_penalties() -> None:
    expect = CASES["write-penalties"]["expect"]
    assert {level: write_penalty(level) for level in expect} == expect


@pytest.mark.parametrize("row", CASES["throughput-disk-count"]["rows"], ids=lambda r: r["drive"])
def test_throughput_disk_count(row: dict[str, Any]) -> None:
    assert disks_for_throughput(1e9, row["per_disk_mb_s"] * 1e6) == row["disks"]


def test_link_of_one_gigabyte_per_second() -> None:
    assert "one 8 Gb port or four 2 Gb ports" in CASES["throughput-disk-count"]["link"]
    assert (link_ports(1e9, 8e9), link_ports(1e9, 2e9)) == (1, 4)


def test_page_cache_writeback_defaults_and_regimes() -> None:
    thresholds = WritebackThresholds()
    assert vars(thresholds) == CASES["page-cache-writeback"]["expect"]
    assert [thresholds.regime(share) for share in (0.0, 0.0999, 0.10, 0.3999, 0.40, 1.0)] == [
        *[Regime.OLD_PAGES] * 2,
        *[Regime.BACKGROUND] * 2,
        *[Regime.BLOCKED] * 2,
    ]


def test_seconds_to_block_by_stepping() -> None:
    thresholds, memory = WritebackThresholds(), 10_000_000_000
    for write, disk in ((100e6, 40e6), (5e6, 1e6), (900e6, 100e6)):
        step, time, dirty = 0.001, 0.0, 0.0
        while dirty < 0.40 * memory:
            is_flushing = dirty >= 0.10 * memory or time >= 30
            dirty += step * (write - (disk if is_flushing else 0))
            time += step
        assert thresholds.seconds_to_block(write, disk, memory) == pytest.approx(time, rel=1e-3)
    assert thresholds.seconds_to_block(50e6, 50e6, memory) is None


def test_json_of_the_documented_examples() -> None:
    first = rule_of_thumb("raid5", disks=120, iops=10000, read_fraction=0.6, cache_hit=0.3).to_dict()
    assert {key: first[key] for key in ("per_disk_iops", "back_end_iops", "write_penalty")} == {
        "per_disk_iops": 168.33,
        "back_end_iops": 20200,
        "write_penalty": 4,
    }
    second = rule_of_thumb("raid5", disks=5, per_disk_iops=140, read_fraction=0.6667, cache_hit=0.8).to_dict()
    assert (second["array_iops"], second["host_iops"]) == (700, 477.3)


def test_the_three_directions_agree() -> None:
    needed = rule_of_thumb(
        "raid6", iops=3000, per_disk_iops=180, read_fraction=0.7, cache_hit=0.1, utilization_ceiling=0.8
    ).disks_needed
    assert needed is not None
    for disks, holds in ((needed, True), (needed - 1, False)):
        rule = rule_of_thumb(
            "raid6", disks=disks, per_disk_iops=180, read_fraction=0.7, cache_hit=0.1, utilization_ceiling=0.8
        )
        assert rule.host_iops is not None
        assert (rule.host_iops >= 3000) is holds


def test_a_count_that_divides_exactly_is_not_rounded_up() -> None:
    rule = rule_of_thumb("raid0", iops=0.3 * 1000, per_disk_iops=0.1 * 1000, read_fraction=1.0)
    assert rule.disks_needed == 3


def test_only_hits_leave_nothing_to_the_disks() -> None:
    rule = rule_of_thumb("raid5", disks=5, per_disk_iops=140, read_fraction=1.0, cache_hit=1.0)
    assert rule.host_iops == float("inf")
    assert "host_iops" not in rule.to_dict()


def test_erasure_penalties_generalise_raid_5_and_6() -> None:
    assert [write_penalty("erasure", n_parity=m) for m in (1, 2, 3)] == [4, 6, 8]
    assert write_penalty("RAID-10") == 2


def test_per_disk_iops_by_spindle_speed_lie_in_the_measured_ranges() -> None:
    for row in CASES["per-disk-iops-by-spindle-speed"]["rows"]:
        rpm = float(row["drive"].split("k")[0]) * 1000
        assert row["iops_min"] <= usual_disk_iops(rpm) <= row["iops_max"]
    assert usual_disk_iops(12_500) == pytest.approx(152.5)


def test_all_faults_at_once() -> None:
    with pytest.raises(InputError) as caught:
        rule_of_thumb("raid5", disks=0, iops=-1.0, read_fraction=60, cache_hit=0.3, utilization_ceiling=85)
    assert [fault.field for fault in caught.value.faults] == ["read_fraction", "disks", "iops", "utilization_ceiling"]
    with pytest.raises(InputError, match="at least two of them are required"):
        rule_of_thumb("raid5", iops=100, read_fraction=0.6)
    with pytest.raises(InputError, match="not a known RAID level"):
        write_penalty("raid7")
    with pytest.raises(InputError, match="read_fraction"):
        back_end_per_host(4, float("nan"))


@pytest.mark.parametrize(
    ("level", "possible", "impossible"),
    [
        ("raid1", [2, 3], [1]),
        ("raid1e", [3, 5], [2]),
        ("raid10", [4, 8], [2, 7]),
        ("raid3", [3], [1, 2]),
        ("raid4", [3], [2]),
        ("raid5", [3, 120], [1, 2]),
        ("raid6", [4, 5], [1, 3]),
        ("raid50", [6, 9, 10], [5, 7]),
        ("raid60", [8, 10, 12], [7, 9]),
        ("jbod", [1], []),
        ("raid0", [1], []),
    ],
)
def test_a_level_has_a_number_of_disks_or_it_has_none(level: str, possible: list[int], impossible: list[int]) -> None:
    for disks in possible:
        assert rule_of_thumb(level, read_fraction=0.5, disks=disks, per_disk_iops=100).host_iops
    for disks in impossible:
        with pytest.raises(InputError, match=r"^disks="):
            rule_of_thumb(level, read_fraction=0.5, disks=disks, per_disk_iops=100)
        # what is counted are the disks that are left of an array
        assert rule_of_thumb(level, read_fraction=0.5, disks=disks, per_disk_iops=100, counts_only=True).host_iops
    needed = rule_of_thumb(level, read_fraction=1, iops=1, per_disk_iops=100).disks_needed
    assert needed == possible[0]


def test_disks_needed_are_rounded_up_to_a_number_that_the_level_has() -> None:
    answers = [
        rule_of_thumb(level, read_fraction=1, iops=690, per_disk_iops=100).disks_needed
        for level in ("raid5", "raid10", "raid50")
    ]
    assert answers == [7, 8, 8]


@pytest.mark.parametrize("given", [{"iops": 1e308}, {"iops": 1e15, "per_disk_iops": 1e-300}, {"per_disk_iops": 1e16}])
def test_figures_beyond_reason_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError):
        rule_of_thumb("raid5", read_fraction=0.5, **({"iops": 100.0, "per_disk_iops": 100.0} | given))
