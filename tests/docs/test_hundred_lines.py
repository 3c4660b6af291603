"""The hundred lines: the page shows the program whole, the program fits, and agrees with diskmodel to the nanosecond.

There is no tolerance: both sides compute with whole nanoseconds and follow the same rules (M1 to M7, Q2, Q6, T2), so
any difference is a fault on one of the sides. The disk, the places and the clients vary beyond those of the page.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from tests.docs.blocks import blocks

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples/hundred_lines.py"
PAGE = ROOT / "docs/course/hundred-lines.md"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hundred_lines", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["hundred_lines"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_it_is_a_hundred_lines() -> None:
    assert len(PROGRAM.read_text().splitlines()) <= 100


def test_the_page_shows_all_of_it_in_order() -> None:
    shown = [line for b in blocks(PAGE) if 'title="hundred_lines.py"' in b.options for line in lines_of(b.text)]
    assert shown == lines_of(PROGRAM.read_text())


def test_it_prints_what_the_page_says() -> None:
    reported = next(b.text for b in blocks(PAGE) if b.language == "console").split("\n", 1)
    assert reported[0] == "$ python examples/hundred_lines.py"
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.rstrip("\n") == reported[1]


def described(disk: Any) -> dict[str, object]:
    """The disk of the program as a drive of diskmodel."""
    n_tracks = disk.cylinders * disk.heads
    zone = {"cylinders": disk.cylinders, "sectors_per_track": disk.sectors_per_track}
    return {
        "kind": "hdd",
        "name": "hundred lines",
        "capacity_bytes": n_tracks * disk.sectors_per_track * 512,
        "rpm": 60e9 / disk.revolution_ns,
        "revolution_ns": disk.revolution_ns,
        "heads": disk.heads,
        "zones": [zone | {"track_skew": disk.skew, "cylinder_skew": disk.skew}],
        "seek": {"kind": "curve", "a_ns": 800_000, "b_ns_per_root": 80_000},
        "head_switch_ns": disk.seek_ns(1),
        "read_overhead_ns": 0,
        "interface_bytes_per_s": 1e15,
    }


DISKS: list[dict[str, int]] = [
    {},
    {"heads": 1, "cylinders": 50_000, "sectors_per_track": 637, "skew": 0},
    {"heads": 7, "cylinders": 3001, "sectors_per_track": 811, "skew": 97, "revolution_ns": 4_000_000},
]


@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
@pytest.mark.parametrize("form", DISKS, ids=["page", "one head", "15k, seven heads"])
@pytest.mark.parametrize(
    ("size", "clients", "pattern"),
    [
        ("4 KiB", 1, "uniform"),
        ("4 KiB", 16, "uniform"),
        ("1 MiB", 3, "uniform"),
        ("64 KiB", 1, "sequential"),
    ],
)
@pytest.mark.parametrize("engine", ["simpy", "native"])
def test_it_agrees_with_diskmodel_to_the_nanosecond(
    program: ModuleType,
    scheduler: str,
    form: dict[str, int],
    size: str,
    clients: int,
    pattern: str,
    engine: Any,
) -> None:
    disk = program.Disk(**form)
    array = Array.parse(
        {
            "drive": described(disk),
            "layout": {"level": "jbod", "disks": 1},
            "queue": {"scheduler": scheduler, "drive_depth": 1},
            "spindles": {"phase": "synchronised"},
        }
    )
    workload = Workload.parse({"size": size, "clients": clients, "addresses": {"pattern": pattern}})
    result = simulate(array, workload, n_requests=400, engine=engine, seed=3)
    rows, done = result.requests, result.run.completions
    places = list(zip((rows.offset // 512).tolist(), (rows.length // 512).tolist(), strict=True))
    ours = np.array(program.simulate(places, clients, scheduler, disk))
    theirs = done.done_ns - done.issue_ns
    first = int(np.argmax(ours != theirs))
    assert (ours == theirs).all(), f"request {first} at {places[first]}: {ours[first]} and {theirs[first]} ns"
