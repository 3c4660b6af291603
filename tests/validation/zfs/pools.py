"""Pools of OpenZFS over disks of known mechanics: what was measured, and the model of it.

The disks are those of `md-raid.md`, and the layout is what the pool was made with. A run lasted 10 s, within which two
neighboring disks turn two thirds of a revolution against each other; so each row is simulated from several moments, as
the rows of Linux md are.
"""

from __future__ import annotations

import csv
import re
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

TABLE = Path(__file__).parents[2] / "data" / "zfs.csv"
MIB = 1 << 20
SEED = 1
#: Moments at which a run may have begun, and the time in which disk 1 gains one revolution on disk 0.
STARTS = 8
GAIN_NS = 5_985_037 * 2500
#: Of a run that is not counted, and the length of the run (zfs.md).
WARM_UP_S, RUN_S = 1.0, 10.0
#: Size of the file by the runs' source and the records' KiB, MiB (zfs.md).
FILES = {
    "first": {8: 512, 128: 1024},
    "z_rest": {8: 512, 128: 1024},
    "z_geo": {8: 128, 128: 512},
    "z_misc": {8: 128, 32: 128},
    "z_span": {8: 4 * 48, 128: 4 * 1536},
}
#: Of z_span: the four files with records of 8 KiB, and what lies between them, MiB.
SPAN_FILE, SPAN_GAP = 48, 1536
_NAME = re.compile(r"(?P<kind>mir|rz)(?P<number>\d)(?:_(?P<width>\d+))?(?:_(?P<about>ow|span))?_r(?P<record>\d+)")
_READS = re.compile(r"_randread(?P<size>\d+)k_j(?P<jobs>\d+)$")


@dataclass(frozen=True)
class Figures:
    """What is compared."""

    iops: float
    p99_ms: float
    reads_per_op: float


def rows() -> list[dict[str, str]]:
    """Return the random reads that were measured."""
    with TABLE.open() as file:
        return [row for row in csv.DictReader(file) if _READS.search(row["run"])]


def measured(row: dict[str, str]) -> Figures:
    return Figures(float(row["iops"]), float(row["p99_ms"]), float(row["member_reads_per_op"]))


def array_of(run_name: str) -> Array:
    found = _NAME.match(run_name)
    assert found is not None
    level = "mirror" if found["kind"] == "mir" else f"raidz{found['number']}"
    # OpenZFS was given whole disks, without partitions: its labels are all that lies before the data
    layout = {"level": level, "disks": int(found["width"] or found["number"]), "record": f"{found['record']} KiB"}
    layout |= {"member": "16 GiB", "data_offset": "4 MiB"}
    spindles = {"phase": "spread", "drift_ppm": 400}
    return Array.parse({"drive": load_drive("md-raid-10k").to_dict(), "layout": layout, "spindles": spindles})


@dataclass(frozen=True)
class Parts:
    """What the name of a run says: KiB of a read and of the pool's records, jobs, MiB of the file."""

    size: int
    record: int
    jobs: int
    file: int


def parts_of(row: dict[str, str]) -> Parts:
    """Return what the name of a run of reads says."""
    name, reads = _NAME.match(row["run"]), _READS.search(row["run"])
    assert name is not None
    assert reads is not None
    record = int(name["record"])
    return Parts(int(reads["size"]), record, int(reads["jobs"]), FILES[row["source"]][record])


def requests_of(row: dict[str, str], array: Array, n: int, start: int) -> Requests:
    """Return `n` reads of the file as fio draws them, the first ones at the start's moment."""
    name = parts_of(row)
    record, jobs = name.record, name.jobs
    load = Workload.parse({"size": f"{name.size} KiB", "clients": jobs, "span": f"{name.file} MiB"})
    requests = load.requests(capacity_bytes=array.usable_bytes, n=n, seed=SEED + start)
    if row["source"] == "z_span" and record == 8:
        file, inside = np.divmod(requests.offset, SPAN_FILE * MIB)
        requests = replace(requests, offset=file * (SPAN_FILE + SPAN_GAP) * MIB + inside)
    when = np.zeros(n, np.int64)
    when[:jobs] = start * GAIN_NS // STARTS
    return replace(requests, when_ns=when)


@cache
def simulated(run_name: str, source: str) -> Figures:
    """Return the figures of a row: the run as long as it was, from each of the starts."""
    row = next(row for row in rows() if (row["run"], row["source"]) == (run_name, source))
    array = array_of(run_name)
    n = int(float(row["iops"]) * (WARM_UP_S + RUN_S) * 1.4) + 64
    ms, n_reads = [], 0
    for start in range(STARTS):
        requests = requests_of(row, array, n, start)
        outcome = run(resolve(array, SEED), requests)
        done = outcome.completions
        since_s = (done.done_ns - start * GAIN_NS // STARTS) / 1e9
        assert since_s.max() > WARM_UP_S + RUN_S
        counted = (since_s > WARM_UP_S) & (since_s <= WARM_UP_S + RUN_S)
        ms.append((done.done_ns - done.issue_ns)[counted] / 1e6)
        n_reads += int(outcome.devices.n_reads.sum())
    together = np.concatenate(ms)
    iops = len(together) / RUN_S / STARTS
    return Figures(iops, float(np.percentile(together, 99)), n_reads / n / STARTS)
