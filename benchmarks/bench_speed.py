"""Simulated I/Os per second of both engines, in one run; writes the table of docs/explanation/speed.md.

Run: make bench, or python benchmarks/bench_speed.py [--no-write]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine import _kernel, native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.simulate import simulate
from diskmodel.records import Requests, Run
from diskmodel.workload import Workload

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "speed.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
LONG_RUN = 10_000_000
Engine = Callable[[Scenario, Requests], Run]
#: Name, array, clients (0: an open load), share of reads, requests.
Scene = tuple[str, dict[str, Any], int, float, int]
#: A drive without its buffer: mechanics alone, with the full zone geometry.
PLAIN = {k: v for k, v in load_drive("generic-15k").to_dict().items() if k != "cache"}
CACHES = {"read_cache": {"size": "1 GiB", "policy": "arc"}, "write_cache": {"size": "256 MiB"}, "read_ahead": "256 KiB"}
POPULAR = {"span": "32 GiB", "addresses": {"pattern": "zipf", "theta": 0.9}}
BUFFERED = {"is_buffered": True, "submission": "3 us", "read_ahead": "128 KiB"}
PAGE_CACHE = {**BUFFERED, "page_cache": {"memory": "16 MiB", "writeback_depth": 128}}
MIXED = {"size": ["4 KiB", "16 KiB", "64 KiB"], "rate": "60/s"}
FEW_FILES = {"span": "64 MiB", "addresses": {"pattern": "zipf", "theta": 0.9}}
#: A drive whose buffer is full of writes within a few thousand requests.
WRITE_BACK = load_drive("generic-7k2").to_dict()
WRITE_BACK["cache"] = {**WRITE_BACK["cache"], "size_bytes": 4 << 20}
NVME, SATA = "micron-7450-pro-1920", "samsung-870-evo-1tb"
SCENES: tuple[Scene, ...] = (
    ("one disk without a buffer, FCFS, random 4 KiB reads, 1 outstanding", {"drive": PLAIN}, 1, 1.0, 2_000_000),
    ("one disk with buffer and read-ahead, the same", {}, 1, 1.0, 2_000_000),
    (
        "one disk with buffer and read-ahead, open random 4 KiB reads, 100 a second: busy for half of the time",
        {"load": {"rate": "100/s"}},
        0,
        1.0,
        2_000_000,
    ),
    ("one disk, FCFS, random 4 KiB reads, 32 outstanding", {}, 32, 1.0, 2_000_000),
    ("one disk, SPTF, random 4 KiB reads, 32 outstanding", {"queue": {"scheduler": "sptf"}}, 32, 1.0, 1_000_000),
    ("the same, 256 outstanding, LOOK", {"queue": {"scheduler": "look"}}, 256, 1.0, 200_000),
    ("the same, 2048 outstanding, LOOK", {"queue": {"scheduler": "look"}}, 2048, 1.0, 100_000),
    (
        "RAID 5 of 8 disks without buffers, random 4 KiB writes, 8 outstanding",
        {"drive": PLAIN, "layout": {"level": "raid5", "disks": 8, "strip": "64 KiB"}},
        8,
        0.0,
        500_000,
    ),
    (
        "one disk without a buffer, SPTF, random 4 KiB reads, 32 outstanding",
        {"drive": PLAIN, "queue": {"scheduler": "sptf"}},
        32,
        1.0,
        1_000_000,
    ),
    (
        "RAID 5 of 8 disks, random 4 KiB writes, 8 outstanding",
        {"layout": {"level": "raid5", "disks": 8, "strip": "64 KiB"}},
        8,
        0.0,
        500_000,
    ),
    (
        "RAID 10 of 8 disks, 4 KiB, 70 % reads, 32 outstanding",
        {"layout": {"level": "raid10", "disks": 8, "strip": "64 KiB"}},
        32,
        0.7,
        500_000,
    ),
    (
        "the same behind 1 GiB of ARC and 256 MiB of write-back, 32 GiB of Zipf",
        {"layout": {"level": "raid10", "disks": 8, "strip": "64 KiB"}, "controller": CACHES, "load": POPULAR},
        32,
        0.7,
        500_000,
    ),
    (
        "one disk that writes back, its buffer of 4 MiB full, random 4 KiB writes, 32 outstanding",
        {"drive": WRITE_BACK},
        32,
        0.0,
        500_000,
    ),
    (
        "RAID 5 of 5 disks, one reader in order, 256 KiB",
        {
            "layout": {"level": "raid5", "disks": 5, "strip": "64 KiB"},
            "load": {"size": "256 KiB", "addresses": {"pattern": "sequential"}},
        },
        1,
        1.0,
        500_000,
    ),
    (
        "one disk, a buffered host that reads ahead, 4 sequential readers of 16 KiB",
        {"host": BUFFERED, "load": {"size": "16 KiB", "addresses": {"pattern": "sequential", "n_readers": 4}}},
        4,
        1.0,
        500_000,
    ),
    (
        "one disk behind a page cache of 16 MiB, 4 KiB, 70 % reads, 32 clients, 64 MiB of Zipf",
        {"host": PAGE_CACHE, "load": FEW_FILES},
        32,
        0.7,
        500_000,
    ),
    ("an NVMe drive, random 4 KiB reads, 32 outstanding", {"drive": NVME}, 32, 1.0, 2_000_000),
    ("a SATA SSD in its steady state, random 4 KiB writes, 32 outstanding", {"drive": SATA}, 32, 0.0, 1_000_000),
    (
        "RAID 5 of 4 SATA SSDs, random 4 KiB writes, 32 outstanding",
        {"drive": SATA, "layout": {"level": "raid5", "disks": 4, "strip": "64 KiB"}},
        32,
        0.0,
        500_000,
    ),
)


def prepare(array: dict[str, Any], clients: int, read_ratio: float) -> tuple[Scenario, Array, Workload]:
    """A scene's array and workload; `load` beside the array's own keys changes the workload."""
    own = {key: value for key, value in array.items() if key != "load"}
    described = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}, **own})
    closed = {"clients": clients} if clients else {}
    load = {"size": "4 KiB", "read_ratio": read_ratio, **closed, **array.get("load", {})}
    return resolve(described, 1), described, Workload.parse(load)


def rate(engine: Engine, prepared: tuple[Scenario, Array, Workload], n: int) -> float:
    """Best of three, per second of processor time: other programs on the machine do not count."""
    scenario, array, workload = prepared
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
    best = 0.0
    for _ in range(3):
        began = time.thread_time()
        engine(scenario, requests)
        best = max(best, n / (time.thread_time() - began))
    return best


def row(scene: Scene) -> str:
    name, array, clients, read_ratio, n = scene
    prepared = prepare(array, clients, read_ratio)
    simpy = rate(simpy_engine.run, prepared, max(n // 50, 2 * clients))
    kernel = rate(native.run, prepared, n)
    return f"| {name} | {kernel / 1e6:.2f} million | {simpy:,.0f} | {kernel / simpy:.0f} |"


def threads() -> tuple[float, float]:
    """Two runs at the same time against one after the other: ratio of rates by the clock, and by processor time."""
    scenario, array, workload = prepare({}, 1, 1.0)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=2_000_000, seed=1)

    def work(_: int) -> float:
        began = time.thread_time()
        native.run(scenario, requests)
        return time.thread_time() - began

    def by(workers: int) -> tuple[float, float]:
        with ThreadPoolExecutor(workers) as pool:
            began = time.perf_counter()
            used = sum(pool.map(work, range(4)))
            return time.perf_counter() - began, used

    pairs = [(by(1), by(2)) for _ in range(3)]
    return max(one[0] / two[0] for one, two in pairs), max(2 * one[1] / two[1] for one, two in pairs)


def long_run(keep: str, n: int, load: str) -> None:
    """In a process of its own: the most memory that a long run with its whole result takes, before and after."""
    described: dict[str, Any] = {"load": MIXED} if load == "mixed" else {}
    _, array, workload = prepare(described, 0 if described else 1, 0.7 if described else 1.0)
    before = most_memory()
    simulate(array, workload, n_requests=n, keep=keep, engine="native")  # type: ignore[arg-type]
    print(before, most_memory())


def most_memory() -> int:
    """Most bytes that this process has held; what its parent held before it does not count."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def memory_of_long_run(keep: str, n: int, load: str = "plain") -> tuple[float, float]:
    """Memory in MB before and after a long run."""
    command = [sys.executable, __file__, "--long-run", keep, str(n), load]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, after = (int(v) / 1e6 for v in output.split())
    return before, after


def table() -> str:
    cores, machine = os.cpu_count(), platform.machine()
    lines = [
        "| Scenario | kernel, host I/O per second | SimPy engine | kernel / SimPy |",
        "|---|--:|--:|--:|",
    ]
    for scene in SCENES:
        lines.append(row(scene))
        print(lines[-1], flush=True)
    before, whole = memory_of_long_run("all", LONG_RUN)
    mixed = memory_of_long_run("all", LONG_RUN, "mixed")[1]
    folded, longer = (memory_of_long_run("histogram", n)[1] for n in (LONG_RUN, 4 * LONG_RUN))
    by_clock, by_processor = threads()
    lines += [
        "",
        f"- Two threads: {by_processor:.2f} times one by processor time, {by_clock:.2f} times by the clock "
        f"(which counts what else the machine was doing: load {os.getloadavg()[0]:.1f}).",
        f"- {LONG_RUN:,} requests with every completion kept and exact percentiles: {whole:,.0f} MB at most, and "
        f"{mixed:,.0f} MB where they come at open times, of mixed sizes, reads and writes; the interpreter and its "
        f"libraries take {before:,.0f} MB of that. With histograms only: {folded:,.0f} MB, and "
        f"{longer:,.0f} MB for {4 * LONG_RUN:,} requests.",
        f"- Machine: {machine}, {cores} cores, load {os.getloadavg()[0]:.1f} at the end; Python "
        f"{platform.python_version()}; command: `make bench`.",
    ]
    print("\n".join(lines[-3:]))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave the page as it is")
    parser.add_argument("--long-run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if _kernel.IS_DEBUG_BUILD:
        sys.exit("the kernel is a debug build: run `make build`")
    if options.long_run:
        long_run(options.long_run[0], int(options.long_run[1]), options.long_run[2])
        return
    measured = table()
    if not options.no_write:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{measured}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
