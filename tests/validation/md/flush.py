"""Scenarios of the measurements of flushes and FUA (`tests/data/flush.md`): what was measured, and the model of it.

Addresses are drawn: those of the measurements are known for one writer only. Random rows are run from several seeds, so
that what remains is the sampling error of the measurement.
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
from diskmodel.records import PARTS, Int64, Op, Requests, Run
from diskmodel.workload import Workload
from tests.validation.md import file_systems

TABLE = Path(__file__).parents[2] / "data" / "flush.csv"
SYNC = {"fds1": "fdatasync", "fds8": "fdatasync", "fs1": "fsync", "osync": "dsync", "odsync": "dsync", "none": "none"}
SEEDS = (1, 2, 3)
#: From one writer's start to the next one's, in the traces of the evidence.
START_NS = 54_500
#: Processor time from an answer to the next command, in the same traces: 14 to 17 µs.
TURNAROUND_US = {"raw": 14, "md1_2": 15, "md5_4": 15}
#: The same on files: 25 µs where blocks are there already, 70 where they are allocated or converted.
FILE_TURNAROUND_US = {"overwrite": 25, "shared": 25, "append": 70, "falloc": 70}
#: Disk of the file systems, whose journals lie at 10.9 GB in the traces.
FILE_LAYOUT = {"level": "jbod", "disks": 1, "member": "20 GiB"}
#: So often are growing files placed by the order of the run before: from the third on the figures stay the same.
N_PLACINGS = 3
#: Share of reads that fio issued of a mix of 70/30.
MIXED = 0.694


@dataclass(frozen=True)
class Figures:
    """Of one run; ms. A commit is a sync call and the write calls before it, one or eight."""

    iops: float
    commit_mean_ms: float
    sync_p99_ms: float
    flushes_per_write: float


def rows() -> list[dict[str, str]]:
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def is_write_call(row: dict[str, str]) -> bool:
    """Whether the write call itself waits until the data is safe."""
    if file_systems.is_file(row):
        return file_systems.waits_in_write(row)
    return (SYNC[row["mode"]] != "fdatasync" and SYNC[row["mode"]] != "fsync") or row["wcache"] == "0"


def measured(row: dict[str, str]) -> Figures:
    write_ms, sync_ms = float(row["write_mean_ms"]), float(row["sync_mean_ms"] or 0)
    is_one_call = is_write_call(row)
    if file_systems.is_file(row):
        p99_ms = float(row["write_p99_ms"] if is_one_call else row["sync_p99_ms"])
        return Figures(float(row["write_iops"]), write_ms + sync_ms, p99_ms, float(row["flushes_per_write"]))
    every = 8 if row["mode"] == "fds8" else 1
    return Figures(
        iops=float(row["write_iops"]),
        commit_mean_ms=write_ms if is_one_call else every * write_ms + sync_ms,
        sync_p99_ms=float(row["write_p99_ms"] if is_one_call else row["sync_p99_ms"]),
        flushes_per_write=float(row["flushes_per_write"]),
    )


def turnaround_us(row: dict[str, str]) -> int:
    if file_systems.is_file(row):
        return FILE_TURNAROUND_US[file_systems.pattern_of(row)]
    return TURNAROUND_US[row["target"]]


def array_of(row: dict[str, str]) -> Array:
    drive = load_drive("md-raid-10k").to_dict()
    drive["cache"] = {
        "size": "16 MiB",
        "segments": 1,
        "read_ahead_bytes": 0,
        "write_back": True,
        "destage": "in-order",
    }
    member = {"member": f"{16 * 1024 + 1} MiB", "data_offset": "1 MiB"}
    layout: dict[str, dict[str, object]] = {
        "raw": {"level": "jbod", "disks": 1, "member": "16 GiB"},
        "md1_2": {"level": "raid1", "disks": 2} | member,
        "ext4": FILE_LAYOUT,
        "xfs": FILE_LAYOUT,
        "md5_4": {"level": "raid5", "disks": 4, "stripe_cache_pages": 256, "read_strips": "separate"} | member,
    }
    return Array.parse(
        {
            "drive": drive,
            "layout": layout[row["target"]],
            "drive_write_cache": row["wcache"] == "1",
            "drive_fua": row["fua"] == "1",
            "spindles": {"phase": "spread", "drift_ppm": 400},
            "host": {"submission": f"{turnaround_us(row)} us"},
            # as many requests as the disks have tags: without a scheduler
            "queue": {"write_throttle": "linux", "block_requests": 32},
        }
    )


def workload_of(row: dict[str, str], seed: int = 1) -> Workload:
    n_writers, n_readers = int(row["writers"]), int(row["readers"])
    if file_systems.is_file(row):
        return file_systems.workload_of(row, SYNC[row["mode"]], seed)
    stream = {"size": "4 KiB", "read_ratio": 0.0, "sync": SYNC[row["mode"]], "clients": n_writers}
    stream |= {"sync_every": 8} if row["mode"] == "fds8" else {}
    if row["pattern"] == "seq":
        places = [{"offset": f"{128 * at} MiB", "span": "128 MiB"} for at in range(n_writers)]
        own = stream | {"clients": 1, "addresses": {"pattern": "sequential"}, "weight": 1}
        return Workload.parse({"streams": [own | place | {"name": str(i)} for i, place in enumerate(places)]})
    if row["pattern"] == "mix70":
        return Workload.parse(stream | {"read_ratio": MIXED})
    streams = [stream | {"name": "writers", "weight": float(row["write_iops"])}]
    if n_readers:
        reads = {"size": "4 KiB", "clients": n_readers, "weight": float(row["read_iops"])}
        streams.append({"name": "readers"} | reads)
    return Workload.parse({"streams": streams})


def requests_of(row: dict[str, str], capacity_bytes: int, seed: int) -> Requests:
    """Requests of a run as long as the measured one, whose writers start one after the other."""
    rate = float(row["write_iops"]) + float(row["read_iops"] or 0)
    n = int(rate * float(row["runtime_s"]))
    requests = workload_of(row, seed).requests(capacity_bytes=capacity_bytes, n=n, seed=seed)
    when = requests.when_ns.copy()
    begun = 0
    for stream, rule in enumerate(requests.streams):
        first = np.flatnonzero(requests.stream == stream)[: rule.n_clients]
        when[first] = (begun + np.arange(len(first))) * START_NS
        begun += len(first)
    return replace(requests, when_ns=when)


def run_of(row: dict[str, str], array: Array, seed: int) -> tuple[Requests, Run]:
    """Requests of a row and their run; where blocks of growing files are is found from the order in which they come."""
    requests, scenario = requests_of(row, array.usable_bytes, seed), resolve(array, seed)
    outcome = run(scenario, requests)
    for _ in range(N_PLACINGS if file_systems.is_grown(row) else 0):
        requests = file_systems.placed(row, requests, outcome.completions.issue_ns)
        outcome = run(scenario, requests)
    return requests, outcome


@cache
def simulated(name: str) -> Figures:
    """Figures of a row, of the time in which all streams were at work."""
    row = next(row for row in rows() if row["run"] == name)
    array = array_of(row)
    seeds = SEEDS[:1] if row["pattern"] == "seq" else SEEDS
    if file_systems.is_file(row):
        seeds = file_systems.seeds_of(row)
    found = [_once(row, array, seed) for seed in seeds]
    commits = np.concatenate([commit for commit, _, _, _ in found])
    syncs = np.concatenate([sync for _, sync, _, _ in found])
    return Figures(
        iops=float(np.mean([iops for _, _, iops, _ in found])),
        commit_mean_ms=float(commits.mean()),
        sync_p99_ms=float(np.percentile(syncs, 99)),
        flushes_per_write=float(np.mean([flushes for _, _, _, flushes in found])),
    )


def _once(row: dict[str, str], array: Array, seed: int) -> tuple[Int64, Int64, float, float]:
    """Times of commits and of their syncs, ms; writes per second; flushes per write."""
    requests, outcome = run_of(row, array, seed)
    done = outcome.completions
    until_ns = int(done.done_ns.max())
    if int(row["readers"]):
        # the streams of a run do not end together
        until_ns = min(int(done.issue_ns[requests.stream == s].max()) for s in range(len(requests.streams)))
    is_write = requests.op == Op.WRITE
    is_counted = is_write & (done.done_ns <= until_ns)
    response_ms = (done.done_ns - done.issue_ns) / 1e6
    sync_ms = done.parts_ns[:, PARTS.index("sync")] / 1e6
    iops = is_counted.sum() / (until_ns / 1e9)
    flushes = outcome.devices.n_flushes.sum() / is_write.sum()
    if is_write_call(row) or (file_systems.is_file(row) and file_systems.is_all_in_sync(row)):
        return response_ms[is_counted], response_ms[is_counted], iops, flushes
    is_synced = is_counted & (sync_ms > 0)
    every = 8 if row["mode"] == "fds8" else 1
    writes_ms = every * (response_ms - sync_ms)[is_counted].mean()
    return writes_ms + sync_ms[is_synced], sync_ms[is_synced], iops, flushes
