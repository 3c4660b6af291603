"""Both engines on pools of OpenZFS (rules X1 to X19): every kind of vdev, record and block, whole and degraded."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from diskmodel.drive import load_drive
from diskmodel.engine import native
from diskmodel.layout.levels import POOLS
from tests.differential.cases import CORPUS, Case, build
from tests.differential.compare import difference

N_CASES = 24
N_ORDERED = 16
N_ARCS = 32
#: Kinds of vdevs whose records are spread over all of their disks; dRAID has cases of its own.
KINDS = tuple(level for level, kind in POOLS.items() if not kind.is_distributed)
#: Seeds of writes that the reference engine runs in a second or two each.
QUICK = (0, 2, 5, 7, 10, 13, 14, 15, 19, 21, 25, 26)

#: Seeds of writes beside a special vdev.
SPECIAL = (0, 2, 3, 5, 7, 10, 13, 14)


def pool_case(seed: int) -> Case:
    """A pool with a load that fills its queues, drawn from a seed."""
    rng = random.Random(seed)
    pick = rng.choice
    level = pick(list(KINDS))
    parity = POOLS[level].n_parity or 0
    width = pick((2, 3)) if level == "mirror" else parity + pick((1, 2, 3, 4, 7))
    vdevs = pick((1, 1, 2, 3))
    layout: dict[str, Any] = {
        "level": level,
        "disks": width * vdevs,
        "vdevs": vdevs,
        "record_bytes": pick((4096, 8192, 16384, 131072, 1 << 20)),
        "ashift": pick((12, 12, 9)),
        "member_bytes": pick((1 << 30, 3 << 30)),
    }
    if pick((False, True)):
        n_lost = min(width - 1, pick((1, parity or 1)))
        layout["failed"] = sorted(rng.sample(range(width), n_lost))
    size = pick((4096, 8192, 131072, 1 << 20))
    stream: dict[str, Any] = {"size_bytes": size, "alignment_bytes": 4096, "span_bytes": pick((8 << 20, 200 << 20))}
    stream |= pick(({"clients": 1}, {"clients": 8}, {"clients": 64}, {"rate_per_s": 400.0}))
    array: dict[str, Any] = {
        "drive": pick(("md-raid-10k", "generic-7k2", "generic-sas-ssd", "generic-15k")),
        "layout": layout,
        "spindles": {"phase": pick(("spread", "random")), "drift_ppm": pick((0, 400))},
    }
    return {"array": array, "workload": {"streams": [stream]}, "n": 300, "seed": seed}


def writing_case(seed: int) -> Case:
    """A pool that is written to, drawn from a seed: safely or not, with groups and delays within the run."""
    rng = random.Random(seed)
    pick = rng.choice
    case = pool_case(seed)
    array, layout = case["array"], case["array"]["layout"]
    stream = case["workload"]["streams"][0]
    layout["dirty_data_max_bytes"] = pick((16 << 20, 16 << 20, 64 << 20))
    stream["read_ratio"] = pick((0.0, 0.0, 0.5))
    stream |= pick(
        (
            {},
            {"sync": "dsync"},
            {"sync": "dsync"},
            {"sync": "fdatasync"},
            {"sync": "fdatasync", "sync_every": 4},
            {"kind": "commits", "record_bytes": 500, "sync": "fdatasync"},
        )
    )
    if stream.get("kind") == "commits":
        del stream["size_bytes"], stream["read_ratio"]
    elif "sync" in stream:
        layout |= pick(({}, {}, {"sync": "disabled"}, {"log": {"write_ns": 50_000, "bytes_per_s": 100e6}}))
    if pick((False, True)):
        array["host"] = {"submission_ns": pick((10_000, 80_000))}
        layout |= {"record_work_ns": 30_000} if seed % 2 else {}
    if array["drive"] == "md-raid-10k" and pick((False, True)):
        cache = {"size_bytes": 1 << 20, "segments": 1, "read_ahead_bytes": 0, "write_back": True}
        array |= {"drive": load_drive("md-raid-10k").to_dict() | {"cache": cache}, "drive_write_cache": True}
        array["drive_fua"] = pick((False, True))
    case["n"] = 500
    return case


def special_case(seed: int) -> Case:
    """A pool with a special vdev that is written to, drawn from a seed: a fast one, or one slower than the disks."""
    rng = random.Random(2000 + seed)
    pick = rng.choice
    case = writing_case(seed)
    case["array"]["layout"]["special"] = pick(
        (
            {"write_ns": 20_000, "bytes_per_s": 1e9},
            {"write_ns": 2_000_000, "bytes_per_s": 5e6},
            {"write_ns": 40_000_000, "bytes_per_s": 50e6},
        )
    )
    return case


def ordered_case(seed: int) -> Case:
    """A pool that is read in order, by one reader or several, with requests shorter and longer than records."""
    rng = random.Random(seed)
    pick = rng.choice
    case = writing_case(seed) if seed % 3 == 0 else pool_case(seed)
    stream = case["workload"]["streams"][0]
    stream.pop("kind", None)
    stream.pop("record_bytes", None)
    stream.pop("sync_every", None)
    stream |= {"size_bytes": pick((8192, 65536, 1 << 20)), "read_ratio": pick((1.0, 1.0, 0.7))}
    if stream["read_ratio"] == 1.0:
        stream.pop("sync", None)
    stream["addresses"] = {"pattern": "sequential", "n_readers": pick((1, 1, 3, 12))}
    stream["span_bytes"] = 200 << 20
    if pick((False, True)):
        stream["addresses"]["mean_run"] = 20.0
    case["n"] = 300
    return case


def arc_case(seed: int) -> Case:
    """A pool behind an ARC of a few records or of all that is read, drawn from a seed."""
    rng = random.Random(1000 + seed)
    pick = rng.choice
    case = (pool_case, writing_case, ordered_case)[seed % 3](seed)
    array, stream = case["array"], case["workload"]["streams"][0]
    size = array["layout"]["record_bytes"] * pick((1, 6, 40, 400))
    array["controller"] = {"read_cache": {"size_bytes": size}}
    stream["span_bytes"] = pick((4 << 20, 4 << 20, 40 << 20))
    if stream.get("kind") != "commits" and pick((False, True)):
        # parts of records, and requests of several
        stream |= {"size_bytes": pick((4096, 24576, 262144)), "alignment_bytes": 4096}
    case["n"] = 300
    # records that it holds from the beginning, some of them not listed
    case["start"] = random.Random(f"start {seed}").choice((0.0, 0.6, 1.0))
    return case


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_pools_behind_an_arc(block: int) -> None:
    for seed in range(block, N_ARCS, 4):
        divergence = difference(arc_case(seed))
        assert divergence is None, f"arc_case({seed}): {divergence}"


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_reads_in_order(block: int) -> None:
    for seed in range(block, N_ORDERED, 4):
        divergence = difference(ordered_case(seed))
        assert divergence is None, f"ordered_case({seed}): {divergence}"


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_pools(block: int) -> None:
    for seed in range(block, N_CASES, 4):
        divergence = difference(pool_case(seed))
        assert divergence is None, f"pool_case({seed}): {divergence}"


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_writes(block: int) -> None:
    for seed in (QUICK[block], QUICK[block + 4], QUICK[block + 8]):
        divergence = difference(writing_case(seed))
        assert divergence is None, f"writing_case({seed}): {divergence}"


@pytest.mark.parametrize("seed", SPECIAL)
def test_the_engines_agree_on_special_vdevs(seed: int) -> None:
    divergence = difference(special_case(seed))
    assert divergence is None, f"special_case({seed}): {divergence}"


@pytest.mark.parametrize("path", [path for path in CORPUS if "pools" in path.parts[-3:-1]], ids=lambda path: path.stem)
def test_the_engines_agree_on_kept_cases_with_a_special_vdev(path: Path) -> None:
    """One slower than the disks beside scans, throttled writes, processors, and a group that begins with the run."""
    case = json.loads(path.read_text())["case"]
    case["array"]["layout"]["special"] = {"write_ns": 2_000_000, "bytes_per_s": 5e6}
    assert difference(case) is None


def test_the_cases_show_every_rule() -> None:
    """All kinds of vdevs, lost disks, vdevs in turn; and reads that include others, of which there are fewer then."""
    layouts = [pool_case(seed)["array"]["layout"] for seed in range(N_CASES)]
    assert {layout["level"] for layout in layouts} == set(KINDS)
    assert any(layout.get("failed") for layout in layouts)
    assert max(layout["vdevs"] for layout in layouts) > 1
    gathered = 0
    for seed in range(N_CASES):
        scenario, requests = build(pool_case(seed))
        devices = native.run(scenario, requests).devices
        pool = scenario.layout.pool
        assert pool is not None
        longest = int((devices.read_bytes // devices.n_reads.clip(1)).max())
        column = -(-pool.record // scenario.layout.n_data) * scenario.drive.sector_bytes
        gathered += longest > column
    assert gathered
