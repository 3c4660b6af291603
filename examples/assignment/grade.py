"""Grade a disk simulator: run it on drawn disks and requests, and compare every response with diskmodel's.

    python examples/assignment/grade.py SUBMISSION.py [--seed 1]

A submission defines `Disk`, with the fields of `examples/hundred_lines.py` (cylinders, heads, sectors_per_track, skew,
revolution_ns), and `simulate(blocks, clients, scheduler="fcfs", disk=Disk())`, which returns the response time of each
block (first sector, sectors) in nanoseconds. It runs in a process of its own; no network is needed. Exit status: 0 when
all points are reached, 3 otherwise, 2 when there is no such file.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskmodel import Array, Workload, simulate

#: Seconds for a submission to serve the requests of one task; the hundred lines need less than one.
LIMIT_S = 60
#: A response is right when it differs by no more than this, a microsecond, for other orders of rounding. The smallest
#: error of a rule, one sector, is three times as long; with half a sector, a wrong skew could pass.
TOLERANCE_NS = 1_000
_RUN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("submission", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["submission"] = module
spec.loader.exec_module(module)
task = json.load(sys.stdin)
blocks = [tuple(block) for block in task["blocks"]]
found = module.simulate(blocks, task["clients"], task["scheduler"], module.Disk(**task["disk"]))
print("\\n" + json.dumps([int(ns) for ns in found]))
"""


@dataclass(frozen=True)
class Task:
    """One part of the grade: what it asks, its points, and the requests by which it is found out."""

    name: str
    points: int
    size: str
    clients: int
    scheduler: str
    pattern: str
    skew: bool
    n: int = 150


TASKS = (
    Task("one block at a time: seek, rotation, transfer", 30, "4 KiB", 1, "fcfs", "uniform", skew=False),
    Task("tracks: a request that goes on to the next head or cylinder", 20, "1 MiB", 1, "fcfs", "uniform", skew=True),
    Task("sequential reads: skew hides the head switches", 15, "64 KiB", 1, "fcfs", "sequential", skew=True),
    Task("a queue, first come, first served", 15, "4 KiB", 8, "fcfs", "uniform", skew=True),
    Task("SPTF: rotation counts, too", 20, "4 KiB", 16, "sptf", "uniform", skew=True),
)


def draw_disk(rng: random.Random, *, with_skew: bool) -> dict[str, int]:
    """Return the fields of a disk."""
    per_track = rng.randrange(500, 1500)
    return {
        "cylinders": rng.randrange(3_000, 30_000),
        "heads": rng.choice([2, 4, 7]),
        "sectors_per_track": per_track,
        "skew": rng.randrange(per_track // 8, per_track // 4) if with_skew else 0,
        "revolution_ns": rng.choice([4_000_000, 6_000_000, 8_333_333, 11_111_111]),
    }


def expected(task: Task, disk: dict[str, int], seed: int) -> tuple[list[list[int]], list[int]]:
    """Return the blocks of a task, and the response of each by diskmodel."""
    n_sectors = disk["cylinders"] * disk["heads"] * disk["sectors_per_track"]
    zone = {"cylinders": disk["cylinders"], "sectors_per_track": disk["sectors_per_track"]}
    drive = {
        "kind": "hdd",
        "name": "assignment",
        "capacity_bytes": n_sectors * 512,
        "rpm": 60e9 / disk["revolution_ns"],
        "revolution_ns": disk["revolution_ns"],
        "heads": disk["heads"],
        "zones": [zone | {"track_skew": disk["skew"], "cylinder_skew": disk["skew"]}],
        "seek": {"kind": "curve", "a_ns": 800_000, "b_ns_per_root": 80_000},
        "head_switch_ns": 880_000,
        "read_overhead_ns": 0,
        "interface_bytes_per_s": 1e15,
    }
    array = Array.parse(
        {
            "drive": drive,
            "layout": {"level": "jbod", "disks": 1},
            "queue": {"scheduler": task.scheduler, "drive_depth": 1},
            "spindles": {"phase": "synchronised"},
        }
    )
    load = {"size": task.size, "clients": task.clients, "addresses": {"pattern": task.pattern}}
    result = simulate(array, Workload.parse(load), n_requests=task.n, seed=seed)
    rows, done = result.requests, result.run.completions
    blocks = [[int(at) // 512, int(n) // 512] for at, n in zip(rows.offset, rows.length, strict=True)]
    return blocks, (done.done_ns - done.issue_ns).tolist()


def answered(submission: Path, task: dict[str, Any]) -> list[int] | str:
    """Return what a submission answers, or what went wrong."""
    command = [sys.executable, "-c", _RUN, str(submission)]
    try:
        done = subprocess.run(
            command, input=json.dumps(task), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {LIMIT_S} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["ended without a message"])[-1]
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return "did not return a list of whole numbers"
    return found if isinstance(found, list) else "did not return a list of whole numbers"


def grade(submission: Path, seed: int) -> list[tuple[Task, float, str]]:
    """Return each task with its points and a remark."""
    rng, graded = random.Random(seed), []
    for task in TASKS:
        disk = draw_disk(rng, with_skew=task.skew)
        blocks, theirs = expected(task, disk, seed)
        question = {"blocks": blocks, "clients": task.clients, "scheduler": task.scheduler, "disk": disk}
        ours = answered(submission, question)
        if isinstance(ours, str):
            graded.append((task, 0.0, ours))
            continue
        if len(ours) != len(theirs):
            graded.append((task, 0.0, f"returned {len(ours)} responses, not {len(theirs)}"))
            continue
        right = [abs(a - b) <= TOLERANCE_NS for a, b in zip(ours, theirs, strict=True)]
        remark = f"{sum(right)} of {len(right)} responses are right"
        if not all(right):
            first = right.index(False)
            place, a, b = blocks[first], ours[first] / 1e6, theirs[first] / 1e6
            remark += f"; the first that is not: request {first}, block {place[0]}: {a:.3f} ms, should be {b:.3f} ms"
        # half of the points for all that is right, the other half only when everything is
        share = 0.5 * sum(right) / len(right) + 0.5 * all(right)
        graded.append((task, task.points * share, remark))
    return graded


def main() -> int:
    """Print the grade; return the exit status."""
    parser = argparse.ArgumentParser(description="Grade a disk simulator against diskmodel.")
    parser.add_argument("submission", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other disks and requests")
    options = parser.parse_args()
    if not options.submission.is_file():
        print(f"submission={options.submission}: there is no such file; name a Python file", file=sys.stderr)
        return 2
    graded = grade(options.submission, options.seed)
    for task, points, remark in graded:
        print(f"{points:5.1f} of {task.points:2d}  {task.name}\n               {remark}")
    total = sum(points for _, points, _ in graded)
    print(f"{total:5.1f} of 100 (seed {options.seed})")
    return 0 if total == 100 else 3


if __name__ == "__main__":
    sys.exit(main())
