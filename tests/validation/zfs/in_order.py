"""Reads and writes of OpenZFS pools in order, over disks of known mechanics: what was measured, and the model of it.

One program read or wrote a file of 128 KiB records from its beginning to its end, 1 MiB at a time, again and again.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests
from diskmodel.workload import Workload
from tests.validation.zfs.pool_writes import DIRTY_DATA_MAX
from tests.validation.zfs.pool_writes import FILES as WRITTEN_FILES
from tests.validation.zfs.pools import FILES, GAIN_NS, MIB, SEED, TABLE

#: What the processor of the machine did for a request: a read that found all in memory took 0.46 ms (the median of
#: RAID-Z2 of 6). A write took as much to be copied, and its eight records what was left of the processor's share of
#: time: 290 us each on RAID-Z1 of 4, 360 on RAID-Z2 of 6, 390 on a mirror.
SUBMISSION, RECORD_WORK = "460 us", "330 us"
#: Of a run that is not counted, and the length of the run: reads and writes (zfs.md).
WARM_UP_S, RUN_S = {"read": 1.0, "write": 5.0}, {"read": 6.0, "write": 12.0}
STARTS = 2
_NAME = re.compile(r"(?P<kind>mir|rz)(?P<number>\d)(?:_(?P<width>\d+))?_r128_seq(?P<op>read|write)1m_j1$")


@dataclass(frozen=True)
class Figures:
    """What is compared: requests a second, and reads or writes of the disks for each."""

    iops: float
    per_op: float


def rows() -> list[dict[str, str]]:
    """Return the runs in order that were measured."""
    with TABLE.open() as file:
        return [row for row in csv.DictReader(file) if _NAME.match(row["run"])]


def measured(row: dict[str, str]) -> Figures:
    return Figures(float(row["iops"]), float(row[f"member_{row['op']}s_per_op"]))


def array_of(run_name: str) -> Array:
    found = _NAME.match(run_name)
    assert found is not None
    level = "mirror" if found["kind"] == "mir" else f"raidz{found['number']}"
    layout = {"level": level, "disks": int(found["width"] or found["number"]), "record": "128 KiB"}
    layout |= {"member": "16 GiB", "data_offset": "4 MiB", "dirty_data_max": DIRTY_DATA_MAX}
    layout |= {"record_work": RECORD_WORK}
    array = {"layout": layout, "spindles": {"phase": "spread", "drift_ppm": 400}, "host": {"submission": SUBMISSION}}
    return Array.parse(array | {"drive": load_drive("md-raid-10k").to_dict()})


def requests_of(row: dict[str, str], array: Array, n: int, start: int) -> Requests:
    """Return `n` requests from the beginning of the file on, the first one at the start's moment."""
    ratio = 1.0 if row["op"] == "read" else 0.0
    load = Workload.parse({"size": "1 MiB", "clients": 1, "read_ratio": ratio, "addresses": "sequential"})
    requests = load.requests(capacity_bytes=array.usable_bytes, n=n, seed=SEED)
    files = FILES if row["op"] == "read" else WRITTEN_FILES
    when = np.zeros(n, np.int64)
    when[0] = start * GAIN_NS // STARTS
    size_mib = (files | WRITTEN_FILES)[row["source"]][128]
    return replace(requests, offset=np.arange(n) % size_mib * MIB, when_ns=when)


@cache
def simulated(run_name: str) -> Figures:
    """Return the figures of a row: the run as long as it was, from each of the starts."""
    row = next(row for row in rows() if row["run"] == run_name)
    array, begin_s = array_of(run_name), WARM_UP_S[row["op"]]
    until_s = begin_s + RUN_S[row["op"]]
    n = int(float(row["iops"]) * until_s * 1.6) + 64
    figures = []
    for start in range(STARTS):
        outcome = run(resolve(array, SEED), requests_of(row, array, n, start))
        since_s = (outcome.completions.done_ns - start * GAIN_NS // STARTS) / 1e9
        assert since_s.max() > until_s
        counted = (since_s > begin_s) & (since_s <= until_s)
        devices = outcome.devices
        n_commands = int((devices.n_reads if row["op"] == "read" else devices.n_writes).sum())
        figures.append((counted.sum() / RUN_S[row["op"]], n_commands / n))
    return Figures(*np.mean(figures, axis=0).tolist())
