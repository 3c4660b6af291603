"""Disks reduced to the part that a formula speaks of, and short ways to run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import Int64, Requests, Run
from diskmodel.workload import Workload

N_CYLINDERS = 10_000
SEEK_NS_PER_CYLINDER = 1_000


def seeking_drive(scheduler: str = "fcfs", depth: int = 64) -> dict[str, object]:
    """Linear seek, a block of 4 KiB a cylinder, and a revolution too short to matter."""
    ms = SEEK_NS_PER_CYLINDER / 1e6
    return {
        "kind": "hdd",
        "name": "seeking",
        "source": "test",
        "capacity_bytes": N_CYLINDERS * 4096,
        "rpm": 15000,
        "revolution_ns": 8,
        "heads": 1,
        "zones": [{"cylinders": N_CYLINDERS, "sectors_per_track": 8}],
        "seek": {"kind": "table", "distance": [1, N_CYLINDERS - 1], "time_ms": [ms, ms * (N_CYLINDERS - 1)]},
        "read_overhead_ns": 0,
        "write_overhead_ns": 0,
        "interface_bytes_per_s": 1e15,
        "queue": {"depth": depth, "scheduler": scheduler},
    }


def turning_drive(revolution_ns: int, sectors_per_track: int = 1024) -> dict[str, object]:
    """One track: no seeks, only rotation."""
    return {
        "kind": "hdd",
        "name": "turning",
        "source": "test",
        "capacity_bytes": sectors_per_track * 512,
        "rpm": 15000,
        "revolution_ns": revolution_ns,
        "heads": 1,
        "zones": [{"cylinders": 1, "sectors_per_track": sectors_per_track}],
        "seek": {"kind": "table", "distance": [1, 2], "time_ms": [0.1, 0.1]},
        "read_overhead_ns": 0,
        "write_overhead_ns": 0,
        "interface_bytes_per_s": 1e15,
        "queue": {"depth": 64, "scheduler": "fcfs"},
    }


def simulated(
    array: Mapping[str, Any], workload: Mapping[str, Any], n: int, seed: int, ops: list[int] | None = None
) -> tuple[Requests, Run]:
    """Raw outcome; `ops` is a pattern of operations that repeats."""
    parsed = Array.parse(array)
    requests = Workload.parse({"size": "4 KiB", **workload}).requests(
        capacity_bytes=parsed.usable_bytes, n=n, seed=seed
    )
    if ops is not None:
        requests = replace(requests, op=np.resize(np.array(ops, np.uint8), n))
    return requests, run(resolve(parsed, seed), requests)


def response_ns(outcome: Run) -> Int64:
    return outcome.completions.done_ns - outcome.completions.issue_ns
