"""Scenarios as JSON, with what becomes of their requests: the kernel's own tests read them without Python.

Usage: python -m tests.differential.json_scenarios writes the files anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel.engine import native
from diskmodel.records import PARTS
from tests.differential.cases import build, random_case

FOLDER = Path(__file__).parents[2] / "diskmodel" / "engine" / "kernel" / "tests" / "scenarios"
#: Cases by what they show.
SEEDS = {
    "raid5-rebuild-and-write-cache": 12,
    "flash-buffered-host-and-pauses": 44,
    "controller-caches-and-write-throttle": 55,
    "page-cache-and-write-cache": 2,
    "raid60-degraded": 27,
    "flash-mirrors-and-caches": 87,
    "virtual-disks-and-caches": 3,
    "media-caches": 18,
}
#: Requests of a file; more would make it large and show nothing else.
N_REQUESTS = 60


def scenario_json(seed: int) -> dict[str, Any]:
    """Array, requests and completions of a case, as the kernel takes and gives them, in plain data."""
    scenario, requests = build(random_case(seed) | {"n": N_REQUESTS})
    run = native.run(scenario, requests)
    done = run.completions
    return _plain(
        {
            "array": native.array_of(scenario),
            "requests": {
                "when_ns": requests.when_ns,
                "op": requests.op,
                "offset": requests.offset,
                "length": requests.length,
                "stream": requests.stream,
                "cache_draw": requests.cache_draw,
                "streams": native.streams_of(requests.streams),
            },
            "completions": {
                "parts": PARTS,
                "issue_ns": done.issue_ns,
                "done_ns": done.done_ns,
                "parts_ns": done.parts_ns.reshape(-1),
                "is_hit": done.is_hit,
                "end_ns": run.end_ns,
            },
        }
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def path_of(name: str) -> Path:
    """File of a scenario."""
    return FOLDER / f"{name}.json"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, seed in SEEDS.items():
        path_of(name).write_text(json.dumps(scenario_json(seed)) + "\n")
