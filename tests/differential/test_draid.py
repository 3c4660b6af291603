"""Both engines on pools of dRAID (X23 to X25): groups over one row and two, spares, whole, degraded, resilvered."""

from __future__ import annotations

import random
from typing import Any

import pytest

from diskmodel.layout.pools.records import parts_of, place_of
from tests.differential.cases import Case, build
from tests.differential.compare import difference
from tests.differential.test_pools import ordered_case, pool_case, writing_case
from tests.differential.test_scans import long_case, resilver_case

N_CASES = 16
#: Seeds of writes and of reads in order that the reference engine runs in a second or two each.
WRITES = (0, 1, 2, 3, 5, 6)


def vdev_of(rng: random.Random) -> dict[str, Any]:
    """Return the counts of a dRAID, drawn: one group or several beside each other, with spares or without."""
    pick = rng.choice
    parity, data, spares = pick((1, 2, 3)), pick((1, 2, 3, 3, 5)), pick((0, 0, 1, 2))
    children = parity + data + spares + pick((0, 1, 2, 4))
    vdevs = pick((1, 1, 2))
    return {
        "level": f"draid{parity}",
        "disks": children * vdevs,
        "vdevs": vdevs,
        "data_disks": data,
        "distributed_spares": spares,
    }


def draid_case(seed: int, case: Case) -> Case:
    """Return a pool's case with dRAID vdevs instead of its own, drawn from a seed, and perhaps with lost disks."""
    rng = random.Random(f"draid {seed}")
    layout = {**case["array"]["layout"], **vdev_of(rng)}
    layout.pop("failed", None)
    if seed % 4 == 1:  # rows that do not divide a group
        layout |= {"record_bytes": 1 << 20, "ashift": 12}
        case["workload"]["streams"][0]["span_bytes"] = 200 << 20
    if rng.choice((False, True)):
        parity, width = int(layout["level"][-1]), layout["disks"] // layout["vdevs"]
        layout["failed"] = sorted(rng.sample(range(width), rng.choice((1, parity))))
    return {**case, "array": {**case["array"], "layout": layout}}


def resilvered(seed: int, case: Case) -> Case:
    """Return a scan's case with dRAID vdevs, resilvered in order or by records, onto a distributed spare or a disk."""
    rng = random.Random(f"resilver {seed}")
    given = case["array"]["layout"]
    layout = {**given, **vdev_of(rng)}
    width, parity = layout["disks"] // layout["vdevs"], int(layout["level"][-1])
    lost = sorted(rng.sample(range(width), rng.choice((1, 1, parity))))
    rebuild = {**given["rebuild"], "disk": rng.choice(lost)}
    if not layout["distributed_spares"]:
        rebuild["sequential"] = rng.choice((False, True))
    layout |= {"failed": lost, "rebuild": rebuild, "spares": 0 if layout["distributed_spares"] else 1}
    if rng.choice((False, True)):
        layout |= {"record_bytes": 1 << 20, "ashift": 12}
        rebuild["used_ratio"] = rng.choice((0.05, 0.2))
    return {**case, "array": {**case["array"], "layout": layout}}


def in_order(case: Case) -> Case:
    """Return a mirror's case, resilvered in order."""
    layout = case["array"]["layout"]
    rebuild = {**layout["rebuild"], "sequential": True}
    mirror = {"level": "mirror", "disks": 2 * layout["vdevs"], "failed": [1], "rebuild": {**rebuild, "disk": 1}}
    return {**case, "array": {**case["array"], "layout": {**layout, **mirror}}}


@pytest.mark.parametrize("seed", range(12))
def test_the_engines_agree_on_resilvers_of_draid(seed: int) -> None:
    divergence = difference(resilvered(seed, resilver_case(seed)))
    assert divergence is None, f"resilvered({seed}, resilver_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", range(8))
def test_the_engines_agree_on_mirrors_that_are_resilvered_in_order(seed: int) -> None:
    divergence = difference(in_order(resilver_case(seed)))
    assert divergence is None, f"in_order(resilver_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", range(4))
def test_the_engines_agree_on_long_resilvers_in_order(seed: int) -> None:
    case = long_case(seed)
    case["array"]["layout"] |= {"vdevs": 1}
    for changed in (in_order(case), resilvered(seed, case)):
        divergence = difference(changed)
        assert divergence is None, f"{changed}: {divergence}"


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_reads_of_draid(block: int) -> None:
    for seed in range(block, N_CASES, 4):
        divergence = difference(draid_case(seed, pool_case(seed)))
        assert divergence is None, f"draid_case({seed}, pool_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", WRITES)
def test_the_engines_agree_on_writes_to_draid(seed: int) -> None:
    divergence = difference(draid_case(seed, writing_case(seed)))
    assert divergence is None, f"draid_case({seed}, writing_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", range(4))
def test_the_engines_agree_on_reads_of_draid_in_order(seed: int) -> None:
    divergence = difference(draid_case(seed, ordered_case(seed)))
    assert divergence is None, f"draid_case({seed}, ordered_case({seed})): {divergence}"


def test_the_cases_show_every_rule() -> None:
    """All parities, spares and none, lost disks, padding, and records that lie in two groups."""
    layouts = [draid_case(seed, pool_case(seed))["array"]["layout"] for seed in range(N_CASES)]
    assert {layout["level"] for layout in layouts} == {"draid1", "draid2", "draid3"}
    assert any(layout.get("failed") for layout in layouts)
    assert {layout["distributed_spares"] for layout in layouts} >= {0, 1}
    has_two_parts = has_padding = False
    for seed in range(N_CASES):
        scenario, requests = build(draid_case(seed, pool_case(seed)))
        tables = scenario.layout
        assert tables.pool is not None
        pool, blocks = tables.pool, tables.pool.record // tables.pool.block
        has_padding |= blocks % tables.n_data != 0
        for sector in requests.offset // scenario.drive.sector_bytes:
            _, first = place_of(tables, int(sector) // pool.record)
            has_two_parts |= len(list(parts_of(tables, first, blocks))) > 1
    assert has_two_parts
    assert has_padding
