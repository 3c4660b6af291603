"""The resilver of an OpenZFS mirror over disks of known mechanics: what was measured, and the model of it.

512 MiB in records of 128 KiB, with nothing beside it (zfs.md, whose disks are those of `pools.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.workload import Workload
from tests.validation.zfs import pools

#: Seconds that the resilver of the mirror took, and what was stored, MiB (zfs.md).
MEASURED_S, STORED_MIB = 15.1, 512


def scenario_of(level: str, disks: int, record_kib: int, stored_mib: int) -> Scenario:
    """Return a pool with so much stored, whose last disk is resilvered."""
    kind = "mir" if level == "mirror" else f"rz{level[-1]}_"
    whole = pools.array_of(f"{kind}{disks}_r{record_kib}_")
    layout = whole.layout.to_dict() | {"failed": [disks - 1], "spares": 1}
    layout["rebuild"] = {"used_ratio": stored_mib * pools.MIB / whole.usable_bytes}
    return resolve(Array.parse(whole.to_dict() | {"layout": layout}), pools.SEED)


@cache
def simulated_s(level: str = "mirror", disks: int = 2, record_kib: int = 128, stored_mib: int = STORED_MIB) -> float:
    """Return the seconds of a resilver with nothing beside it, within 10 ms.

    A single read shows how far it has come, in one run after the other.
    """
    scenario = scenario_of(level, disks, record_kib, stored_mib)
    capacity_bytes = scenario.layout.capacity * scenario.drive.sector_bytes
    load = Workload.parse({"size": "4 KiB", "clients": 1}).requests(capacity_bytes=capacity_bytes, n=1, seed=1)
    whole = (scenario.layout.rebuild_end - scenario.layout.rebuild_front) * scenario.drive.sector_bytes
    low_ns, high_ns = 0, int(600e9)
    while high_ns - low_ns > 10_000_000:
        middle = (low_ns + high_ns) // 2
        outcome = run(scenario, replace(load, when_ns=np.array([middle], np.int64)))
        if outcome.rebuilt_bytes >= whole:
            high_ns = middle
        else:
            low_ns = middle
    return high_ns / 1e9
