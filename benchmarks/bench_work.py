"""Instructions and events of the kernel for each host I/O: figures that do not depend on how fast a machine is.

Each scene of bench_speed.py is run without Python under Valgrind's cachegrind, twice, with so many requests and with
half of them; the difference is the work of the second half. So reading the scenario and building its tables count
nothing, and neither does what only begins. Instructions depend on the compiler, whose version is in the table.

Run: make bench, or python benchmarks/bench_work.py [--write]: compares with the table, or writes it and the one of
docs/explanation/speed.md anew.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bench_speed import PAGE, SCENES, Scene, prepare

from diskmodel.engine import native

TABLE = Path(__file__).with_name("bench_work.csv")
BEGIN, END = "<!-- work: begin -->", "<!-- work: end -->"
ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "target" / "release" / "examples" / "work"
BUILD = "cargo build --release --locked --quiet --features serde -p diskmodel-kernel --example work"
COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
#: Of the counted program. Large columns never come from the heap, where it would depend on what was freed before
#: whether they have to be moved and set to zero: on the same program that made a difference of 3 %.
ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=65536"}
#: Requests of the longer run: enough for caches and queues to be full in its second half.
N_REQUESTS = 10_000
#: A scene that grows by more is reported.
MAX_GROWTH_RATIO = 1.03


class Work(NamedTuple):
    """What a host I/O of a scene costs."""

    scene: str
    events: float
    instructions: float


def build() -> None:
    """Compile the program whose instructions are counted."""
    subprocess.run(BUILD.split(), cwd=ROOT, check=True)


def compiler() -> str:
    """Return version of the Rust compiler, on which instructions depend."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def n_instructions(scenario: Path, n: int) -> int:
    """Return instructions of a run of `n` requests, process start included."""
    command = [*COUNTER, PROGRAM, scenario, str(n)]
    counted = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    found = re.search(r"I\s+refs:\s+([\d,]+)", counted.stderr)
    if found is None:
        raise ValueError(f"cachegrind reported no count: {counted.stderr}")
    return int(found.group(1).replace(",", ""))


def n_events(scenario: Path, n: int) -> int:
    """Return events that a run of `n` requests schedules."""
    return int(subprocess.run([PROGRAM, scenario, str(n)], capture_output=True, text=True, check=True).stdout)


def work_of(scene: Scene, folder: Path) -> Work:
    """Count a scene's work for each I/O of the second half of its requests."""
    name, array, clients, read_ratio, _ = scene
    scenario, described, workload = prepare(array, clients, read_ratio)
    requests = workload.requests(capacity_bytes=described.usable_bytes, n=N_REQUESTS, seed=1)
    path = folder / f"{SCENES.index(scene)}.json"
    columns = {key: getattr(requests, key) for key in ("when_ns", "op", "offset", "length", "stream", "cache_draw")}
    rows = columns | {"streams": native.streams_of(requests.streams)}
    kept = {"array": native.array_of(scenario), "requests": rows}
    path.write_text(json.dumps(kept, default=lambda column: column.tolist()))
    half = N_REQUESTS // 2
    events = (n_events(path, N_REQUESTS) - n_events(path, half)) / half
    instructions = (n_instructions(path, N_REQUESTS) - n_instructions(path, half)) / half
    return Work(name, events, instructions)


def measured() -> list[Work]:
    """Count every scene's work."""
    build()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda scene: work_of(scene, Path(folder)), SCENES))


def kept() -> tuple[str, list[Work]]:
    """Return the compiler of the table and its rows."""
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows[0]["compiler"], [Work(row["scene"], float(row["events"]), float(row["instructions"])) for row in rows]


def grown(before: list[Work], after: list[Work], *, with_instructions: bool) -> list[str]:
    """Describe each figure that has grown by more than the limit, or has no row in the table."""
    known = {work.scene: work for work in before}
    found = []
    for work in after:
        old = known.get(work.scene)
        if old is None:
            found.append(f"{work.scene}: not in {TABLE.name}")
            continue
        if work.events > old.events * MAX_GROWTH_RATIO:
            found.append(f"{work.scene}: {work.events:.2f} events an I/O instead of {old.events:.2f}")
        if with_instructions and work.instructions > old.instructions * MAX_GROWTH_RATIO:
            found.append(
                f"{work.scene}: {work.instructions:,.0f} instructions an I/O instead of {old.instructions:,.0f}"
            )
    return found


def write(works: list[Work]) -> None:
    """Write the table, and the one on the page."""
    with TABLE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scene", "events", "instructions", "compiler"])
        rows.writerows([w.scene, f"{w.events:.3f}", f"{w.instructions:.0f}", compiler()] for w in works)
    lines = ["| Scenario | events | instructions |", "|---|--:|--:|"]
    lines += [f"| {w.scene} | {w.events:.2f} | {w.instructions:,.0f} |" for w in works]
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text("\n".join([head + BEGIN, *lines, END]) + rest.split(END)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} and the page anew")
    is_to_write = parser.parse_args().write
    now = measured()
    for work in now:
        print(f"{work.events:6.2f} events {work.instructions:8,.0f} instructions  {work.scene}")
    if is_to_write:
        write(now)
        return
    version, before = kept()
    found = grown(before, now, with_instructions=version == compiler())
    if version != compiler():
        print(f"Instructions are not compared: the table is of rustc {version}, this is {compiler()}.")
    sys.exit("\n".join(found) or None)


if __name__ == "__main__":
    main()
