"""The flash drives of the catalogue, whose garbage collection is followed on a smaller drive, alike in both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import Flash, catalogue, load_drive
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.records import Requests, StreamRule
from diskmodel.workload import Workload
from tests.differential.compare import between

DRIVES = [name for name in catalogue() if isinstance(load_drive(name), Flash)]
LAYOUTS: dict[str, dict[str, Any]] = {
    "one drive": {"level": "jbod", "disks": 1},
    "RAID 5": {"level": "raid5", "disks": 4, "strip": "64 KiB"},
    "RAID 10, degraded": {"level": "raid10", "disks": 4, "strip": "64 KiB", "failed": [1]},
}


def test_there_are_flash_drives() -> None:
    assert len(DRIVES) >= 5


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("drive", DRIVES)
def test_drives_of_the_catalogue(drive: str, layout: str) -> None:
    array = Array.parse({"drive": drive, "layout": LAYOUTS[layout]})
    load = Workload.parse({"size": "16 KiB", "read_ratio": 0.4, "clients": 24})
    scenario = resolve(array, 5)
    requests = load.requests(capacity_bytes=array.usable_bytes, n=1200, seed=5)
    difference = between(requests, simpy_engine.run(scenario, requests), native.run(scenario, requests))
    assert difference is None, difference


@pytest.mark.parametrize("policy", ["greedy", pytest.param("cost-benefit", marks=pytest.mark.slow)])
def test_long_enough_to_clean_many_blocks(policy: str) -> None:
    drive = load_drive("intel-x25-m-g2-160").to_dict() | {"gc_policy": policy}
    array = Array.parse({"drive": drive, "layout": LAYOUTS["one drive"]})
    load = Workload.parse({"size": "64 KiB", "read_ratio": 0.0, "clients": 4})
    scenario = resolve(array, 5)
    requests = load.requests(capacity_bytes=array.usable_bytes, n=2000, seed=5)
    difference = between(requests, simpy_engine.run(scenario, requests), native.run(scenario, requests))
    assert difference is None, difference


def test_batches_of_copies_under_an_open_load() -> None:
    """Small batches, so that many begin in a short run; what a full drive holds up comes in order."""
    drive = load_drive("micron-7450-pro-960").to_dict() | {"gc_batch_ns": 1_000_000, "gc_batch_room_bytes": 40_960}
    array = Array.parse({"drive": drive, "layout": LAYOUTS["RAID 5"]})
    writes = {"name": "writes", "size": "16 KiB", "read_ratio": 0.0, "rate_per_s": 15_000}
    reads = {"name": "reads", "size": "4 KiB", "read_ratio": 1.0, "rate_per_s": 5_000}
    load, scenario = Workload.parse({"streams": [writes, reads]}), resolve(array, 5)
    requests = load.requests(capacity_bytes=array.usable_bytes, n=2000, seed=5)
    run = native.run(scenario, requests)
    response = run.completions.done_ns - run.completions.issue_ns
    assert np.quantile(response[requests.op == 1], 0.95) > 400_000
    difference = between(requests, simpy_engine.run(scenario, requests), run)
    assert difference is None, difference


def test_writes_at_the_pace_of_cleaning_under_an_open_load() -> None:
    """Near saturation, so that many writes wait for their pace, and reads suspend programs meanwhile."""
    drive = load_drive("samsung-pm9a3-960")
    writes = {"name": "writes", "size": "4 KiB", "read_ratio": 0.0, "rate_per_s": 60_000}
    reads = {"name": "reads", "size": "4 KiB", "read_ratio": 1.0, "rate_per_s": 10_000}
    load = Workload.parse({"streams": [writes, reads]})
    p90_ns = []
    for paces in (True, False):
        layout = LAYOUTS["one drive"]
        array = Array.parse({"drive": drive.to_dict() | {"paces_writes": paces}, "layout": layout})
        requests = load.requests(capacity_bytes=array.usable_bytes, n=2000, seed=5)
        scenario = resolve(array, 5)
        run = native.run(scenario, requests)
        response = run.completions.done_ns - run.completions.issue_ns
        p90_ns.append(np.quantile(response[requests.op == 1], 0.9))
        difference = between(requests, simpy_engine.run(scenario, requests), run)
        assert difference is None, difference
    assert p90_ns[0] > 3 * p90_ns[1]


def test_reads_of_more_pages_than_are_gone_through_one_by_one() -> None:
    """Small writes scatter the units of a small place over pages; long reads then collect them."""
    array = Array.parse({"drive": "intel-x25-e-64", "layout": LAYOUTS["one drive"]})
    rng = np.random.Generator(np.random.PCG64(3))
    n, span = 300, 1 << 21
    op = np.repeat(np.array([1, 0], np.uint8), (n - 6, 6))
    length = np.where(op == 1, 4096, span).astype(np.int64)
    offset = np.where(op == 1, rng.integers(0, span // 4096, n) * 4096, 0)
    draws, rows = np.ones(n), np.zeros(n, np.int32)
    requests = Requests(np.zeros(n, np.int64), op, offset, length, rows, draws, (StreamRule("scattered", 4),))
    scenario = resolve(array, 5)
    difference = between(requests, simpy_engine.run(scenario, requests), native.run(scenario, requests))
    assert difference is None, difference


@pytest.mark.parametrize("drive", DRIVES)
def test_the_kernel_is_taken_where_nothing_is_said(drive: str) -> None:
    array = Array.parse({"drive": drive, "layout": LAYOUTS["RAID 5"]})
    assert simulate(array, Workload.parse({"size": "4 KiB", "clients": 4}), n_requests=500).engine == "native"
