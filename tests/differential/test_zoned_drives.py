"""The engines agree on a whole host-managed drive: its workloads, from the steady start (rules N1 to N4, C7, Z5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.shared import steady_start
from diskmodel.workload import Workload
from tests.differential.compare import between
from tests.differential.whole_drives import ZONED

LOADS = {
    "write pointers": ({"pattern": "zone_write", "n_open": 128}, "4 KiB", 16, 1500),
    "any zone": ({"pattern": "zone_write", "n_open": 9000}, "256 KiB", 16, 300),
    "one writer": ({"pattern": "sequential"}, "4 KiB", 16, 2000),
    "four writers": ({"pattern": "sequential", "n_readers": 4}, "512 KiB", 4, 300),
}


@pytest.mark.parametrize("queue", [{}, {"scheduler": "mq-deadline", "merge": True}], ids=["plain", "merging"])
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("drive", ZONED)
def test_engines_agree(drive: str, load: str, queue: dict[str, object]) -> None:
    addresses, size, clients, n = LOADS[load]
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, "queue": queue})
    described = {"size": size, "read_ratio": 0, "clients": clients, "addresses": addresses, "offset": "131 GiB"}
    workload = Workload.parse(described)
    scenario = resolve(array, 3)
    scenario = replace(scenario, start=steady_start(array, workload, scenario, 3))
    n_before = scenario.start.n_before
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=3, n_before=n_before)
    found = between(requests, simpy_engine.run(scenario, requests), native.run(scenario, requests))
    assert found is None, found
