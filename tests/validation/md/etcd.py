"""Puts into etcd on a disk of 7,200 rpm (`tests/data/commits.csv`): 1,000 of them, of 64 bytes each, key and value.

The disk is assumed: nothing more was published. Its file system is ext4 on 20 GB, and the log is in blocks that etcd
has set aside. Beside the log etcd writes its database: every 100 ms, if anything has changed, pages and then the page
that makes them valid, and a fdatasync after each (`backend.defaultBatchInterval`, and bbolt's `Tx.Commit`).
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.workload import Workload

TABLE = Path(__file__).parents[2] / "data" / "commits.csv"
N_PUTS = 1000
#: Key and value, and what the log adds: term, index, kind, checksum and padding.
RECORD = "200 B"
#: Writes of the database: two in 100 ms, of blocks that are overwritten. Their size hardly matters: with 4 KiB and with
#: 64 KiB puts per second move by up to 2 %.
DATABASE = {"name": "database", "kind": "requests", "read_ratio": 0.0, "size": "16 KiB", "clients": 1, "think": "50 ms"}
SEEDS = (1, 2, 3)


def measured() -> dict[int, float]:
    """Puts per second by the number of connections."""
    with TABLE.open() as file:
        found = ((re.search(r"etcd put of (\d+)", row["load"]), row) for row in csv.DictReader(file))
        return {int(match[1]): float(row["commits_per_s"]) for match, row in found if match}


@cache
def simulated(n_connections: int, *, with_database: bool = False) -> float:
    """Puts per second of the model: of the log alone, or with the database beside it."""
    member = {"level": "jbod", "disks": 1, "member": "20 GB"}
    array = Array.parse({"drive": "generic-7k2", "layout": member, "host": {"submission": "20 us"}})
    log = {"name": "log", "kind": "commits", "record": RECORD, "clients": n_connections, "weight": 1.0}
    streams = [log | {"offset": "40%", "span": "64 MiB", "file_system": "ext4", "file": "unwritten"}]
    n = N_PUTS
    if with_database:  # with rows for longer than the puts take
        synced = {"sync": "fdatasync", "file_system": "ext4", "offset": "60%", "span": "256 MiB", "weight": 1.0}
        streams.append(DATABASE | synced)
        n = 2 * N_PUTS
    workload = Workload.parse({"streams": streams})
    rates = []
    for seed in SEEDS:
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=seed)
        done_ns = run(resolve(array, seed), requests).completions.done_ns[requests.stream == 0]
        assert len(done_ns) == N_PUTS
        rates.append(N_PUTS / (done_ns.max() / 1e9))
    return sum(rates) / len(rates)
