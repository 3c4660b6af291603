"""Both engines on pools of OpenZFS that are resilvered or scrubbed (X14, X20 to X22), beside every kind of load."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from diskmodel.engine import native
from diskmodel.layout.levels import POOLS
from tests.differential.cases import Case, build
from tests.differential.compare import difference
from tests.differential.test_pools import KINDS

N_CASES = 8


def resilver_case(seed: int) -> Case:
    """A pool with a little data, a disk of which is resilvered beside a load, drawn from a seed."""
    rng = random.Random(seed)
    pick = rng.choice
    level = KINDS[seed % len(KINDS)]
    parity = POOLS[level].n_parity or 0
    width = pick((2, 3)) if level == "mirror" else parity + pick((1, 2, 3, 5))
    vdevs = pick((1, 1, 2))
    lost = sorted(rng.sample(range(width), min(width - 1, pick((1, 1, parity or 1)))))
    record = pick((8192, 131072, 131072, 1 << 20))
    # few records, so that the reference engine is quick; and some that groups divide
    stored_mib = pick({8192: (2, 4), 131072: (20, 40), 1 << 20: (60, 400)}[record])
    layout: dict[str, Any] = {
        "level": level,
        "disks": width * vdevs,
        "vdevs": vdevs,
        "record_bytes": record,
        "ashift": pick((12, 12, 9)),
        "member_bytes": 1 << 30,
        "failed": lost,
        "spares": 1,
        "rebuild": {"disk": pick(lost), "used_ratio": stored_mib / 1024, "done_ratio": pick((0.0, 0.0, 0.0, 0.3))},
        "dirty_data_max_bytes": pick((16 << 20, 64 << 20)),
    }
    stream: dict[str, Any] = {"size_bytes": pick((4096, 8192, 131072)), "alignment_bytes": 4096}
    stream |= {"span_bytes": pick((8 << 20, 200 << 20)), "read_ratio": pick((1.0, 1.0, 0.5, 0.0))}
    stream |= pick(({"clients": 1}, {"clients": 8}, {"rate_per_s": 15.0}, {"rate_per_s": 300.0}))
    if stream["read_ratio"] < 1:
        stream |= pick(({}, {"sync": "dsync"}, {"sync": "fdatasync"}))
    array: dict[str, Any] = {
        "drive": pick(("md-raid-10k", "md-raid-10k", "generic-7k2", "generic-sas-ssd")),
        "layout": layout,
        "spindles": {"phase": pick(("spread", "random")), "drift_ppm": pick((0, 400))},
    }
    if pick((False, False, True)):
        array["host"] = {"submission_ns": 20_000}
    return {"array": array, "workload": {"streams": [stream]}, "n": 150, "seed": seed}


def long_case(seed: int) -> Case:
    """A resilver that several transaction groups divide, beside writes that make much dirty, or none."""
    layout = {
        "level": ("mirror", "raidz1")[seed % 2],
        "disks": 2 + seed % 2,
        "record_bytes": 1 << 20,
        "member_bytes": 2 << 30,
        "failed": [0],
        "spares": 1,
        "rebuild": {"used_ratio": 0.35},
        "dirty_data_max_bytes": 16 << 20,
    }
    stream = {"size_bytes": 1 << 20, "rate_per_s": 3.0, "read_ratio": (0.0, 1.0)[seed // 2]}
    array = {"drive": "md-raid-10k", "layout": layout, "spindles": {"phase": "spread", "drift_ppm": 400}}
    return {"array": array, "workload": {"streams": [stream]}, "n": 40, "seed": seed}


def scrubbed(case: Case) -> Case:
    """Return a resilver's case with all of its disks, and a scrub instead."""
    given = case["array"]["layout"]
    layout = {name: value for name, value in given.items() if name not in ("failed", "spares")}
    kept = {name: value for name, value in given["rebuild"].items() if name != "disk"}
    layout["rebuild"] = {**kept, "action": "check"}
    return {**case, "array": {**case["array"], "layout": layout}}


@pytest.mark.parametrize("seed", range(4))
def test_the_engines_agree_on_long_resilvers(seed: int) -> None:
    divergence = difference(long_case(seed))
    assert divergence is None, f"long_case({seed}): {divergence}"


@pytest.mark.parametrize("seed", range(4))
def test_the_engines_agree_on_long_scrubs(seed: int) -> None:
    divergence = difference(scrubbed(long_case(seed)))
    assert divergence is None, f"scrubbed(long_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", range(N_CASES))
def test_the_engines_agree_on_scrubs(seed: int) -> None:
    divergence = difference(scrubbed(resilver_case(seed)))
    assert divergence is None, f"scrubbed(resilver_case({seed})): {divergence}"


@pytest.mark.parametrize("seed", range(N_CASES))
def test_the_engines_agree_on_resilvers(seed: int) -> None:
    divergence = difference(resilver_case(seed))
    assert divergence is None, f"resilver_case({seed}): {divergence}"


@pytest.mark.parametrize("change", [lambda case: case, scrubbed], ids=["resilver", "scrub"])
def test_the_cases_show_every_rule(change: Callable[[Case], Case]) -> None:
    """All kinds of vdevs, scans that end and ones that do not, of several vdevs and ones that have begun before."""
    layouts = [resilver_case(seed)["array"]["layout"] for seed in range(N_CASES)]
    assert {layout["level"] for layout in layouts} == set(KINDS)
    assert any(len(layout["failed"]) > 1 for layout in layouts)
    assert any(layout["vdevs"] > 1 and layout["rebuild"]["done_ratio"] for layout in layouts)
    have_ended = set()
    for seed in range(N_CASES):
        scenario, requests = build(change(resilver_case(seed)))
        tables = scenario.layout
        rebuilt = native.run(scenario, requests).rebuilt_bytes // scenario.drive.sector_bytes
        have_ended.add(rebuilt + tables.rebuild_front == tables.rebuild_end)
        assert 0 <= rebuilt <= tables.rebuild_end - tables.rebuild_front
    assert have_ended == {False, True}
