"""Puts into etcd on a disk of 7,200 rpm (`tests/data/commits.csv`): 1,000 of them, of 64 bytes each, key and value.

The disk is assumed: nothing more was published. Its file system is ext4 on 20 GB, and the log is in blocks that etcd
has set aside.
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
SEEDS = (1, 2, 3)


def measured() -> dict[int, float]:
    """Puts per second by the number of connections."""
    with TABLE.open() as file:
        found = ((re.search(r"etcd put of (\d+)", row["load"]), row) for row in csv.DictReader(file))
        return {int(match[1]): float(row["commits_per_s"]) for match, row in found if match}


@cache
def simulated(n_connections: int) -> float:
    """Puts per second of the model."""
    member = {"level": "jbod", "disks": 1, "member": "20 GB"}
    array = Array.parse({"drive": "generic-7k2", "layout": member, "host": {"submission": "20 us"}})
    log = {"kind": "commits", "record": RECORD, "clients": n_connections, "offset": "40%", "span": "64 MiB"}
    workload = Workload.parse(log | {"file_system": "ext4", "file": "unwritten"})
    rates = []
    for seed in SEEDS:
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=N_PUTS, seed=seed)
        rates.append(N_PUTS / (run(resolve(array, seed), requests).end_ns / 1e9))
    return sum(rates) / len(rates)
