"""The project's own md measurements (`tests/data/md-raid-own.md`), and the model of each run.

Everything is known here, the moment of the first request included, so a run is simulated once, with its own requests.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests
from diskmodel.workload import Workload
from tests.validation.md import md_raid
from tests.validation.md.md_raid import DIRECTIONS, Figures

TABLE = Path(__file__).parents[2] / "data" / "md-raid-own.csv"
#: Options that the model does not have.
UNKNOWN = ("ppl", "journal")
WARM_UP_S, BITMAP_WARM_UP_S = 2, 30
#: The daemon that clears bits sleeps for 5 s, which the kernel's timers round up to 1,280 ticks of 4 ms.
#: At parity arrays requests wake md's thread before.
BITMAP_INTERVAL = {"RAID5": "5 s", "RAID6": "5 s", "RAID10": "5.12 s"}


@dataclass(frozen=True)
class Setup:
    """One run of the testbed: one line of the table, or the two of a mix."""

    level: str
    disks: int
    failed: int
    option: str
    pattern: str
    depth: int

    @property
    def is_sequential(self) -> bool:
        return self.pattern.startswith("seq")

    @property
    def name(self) -> str:
        """As in `measure.py`."""
        return f"{self.level},{self.disks},{self.failed},{self.option},{self.pattern},{self.depth}"


def rows() -> list[dict[str, str]]:
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def setup_of(row: dict[str, str]) -> Setup:
    counts = (int(row["disks"]), int(row["failed"]))
    return Setup(row["level"], *counts, row["option"], row["pattern"], int(row["queue_depth"]))


def array_of(setup: Setup) -> Array:
    layout: dict[str, object] = {
        "level": setup.level.lower(),
        "disks": setup.disks,
        "member": f"{16 * 1024 + 1} MiB",
        "data_offset": "1 MiB",
        "read_strips": "separate",
    }
    if setup.level == "RAID10":
        layout["largest_request"] = md_raid.LARGEST_REQUEST
    if setup.failed:
        layout["failed"] = list(range(setup.disks - setup.failed, setup.disks))
    if setup.level != "RAID10":
        layout["stripe_cache_pages"] = int(setup.option.split()[-1]) if setup.option.startswith("stripe cache") else 256
    if setup.option == "bitmap":
        layout["bitmap"] = {"chunk": "64 MiB", "clear_interval": BITMAP_INTERVAL[setup.level]}
    return Array.parse(
        {
            "drive": load_drive("md-raid-10k").to_dict(),
            "layout": layout,
            "spindles": {"phase": "spread", "drift_ppm": 400},
            "queue": {"write_throttle": "linux", "block_requests": 32},
        }
    )


def requests_of(setup: Setup, capacity_bytes: int, n: int, start_ns: int) -> Requests:
    """The first `n` requests of a run, which begins at `start_ns`."""
    stream: dict[str, object] = {"size": "1 MiB" if setup.is_sequential else "4 KiB", "clients": setup.depth}
    stream |= {"addresses": {"pattern": "sequential"}} if setup.is_sequential else {"read_ratio": 1.0}
    requests = Workload.parse(stream).requests(capacity_bytes=capacity_bytes, n=n, seed=md_raid.SEED)
    when = np.zeros(n, np.int64)
    when[: setup.depth] = start_ns
    op = md_raid.fio_mix(n) if setup.pattern == "mix70" else np.full(n, "write" in setup.pattern, np.uint8)
    requests = replace(requests, op=op, when_ns=when)
    return requests if setup.is_sequential else replace(requests, offset=md_raid.fio_offsets(n, capacity_bytes // 4096))


@cache
def simulated(setup: Setup) -> tuple[dict[int, Figures], float, float]:
    """Figures of a run by direction, and member reads and writes per request."""
    row = next(row for row in rows() if setup_of(row) == setup)
    rate, start_ns = float(row["total_iops"]), int(row["start_ns"])
    seconds = round(int(row["n"]) / float(row["iops"]))
    array = array_of(setup)
    warm_up_s = BITMAP_WARM_UP_S if setup.option == "bitmap" else WARM_UP_S
    n = int((seconds + warm_up_s) * 1.2 * rate) + 4 * setup.depth
    while True:
        requests = requests_of(setup, array.usable_bytes, n, start_ns)
        outcome = run(resolve(array, md_raid.SEED), requests)
        done = outcome.completions
        since_s = (done.done_ns - start_ns) / 1e9
        if since_s.max() > warm_up_s + seconds:
            break
        n *= 2
    is_counted = (since_s > warm_up_s) & (since_s <= warm_up_s + seconds)
    figures = {}
    for op in DIRECTIONS.values():
        ms = (done.done_ns - done.issue_ns)[is_counted & (requests.op == op)] / 1e6
        if len(ms):
            figures[op] = Figures(len(ms) / seconds, float(ms.mean()), float(np.percentile(ms, 99)))
    return figures, float(outcome.devices.n_reads.sum() / n), float(outcome.devices.n_writes.sum() / n)
