"""Writes to OpenZFS pools over disks of known mechanics: what was measured, and the model of it.

fio wrote each block of its file once, in random order; `sync` rows opened the file with O_SYNC. One processor did all
the work, and a tenth of its memory was `dirty_data_max` (zfs.md, zfs-txgs.csv).
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
from tests.validation.zfs.pools import FILES as READ_FILES
from tests.validation.zfs.pools import GAIN_NS, MIB, RUN_S, SEED, TABLE, WARM_UP_S

FILES = READ_FILES | {"z_aw": {8: 512, 128: 1024}, "z_slog": {8: 128}, "z_wc": {8: 128}}
DIRTY_DATA_MAX = "242 MiB"
#: What the processor of the machine did for a write before it was in the log or, where nobody waited, in memory, and
#: for its part of a group. By its share of time (`guest_cpu_pct`) a write took 121 us together where nobody waited,
#: 125 us through the log of a mirror and 165 us of RAID-Z2 of 6. All eight writers came to each log block, which waits
#: for a tenth of 6 ms: they took less than 75 us each.
SUBMISSION, SUBMISSION_ASYNC, RECORD_WORK = "60 us", "40 us", "80 us"
#: In the runs of one writer for which it is known a group came so long after the beginning (`open_ns` of the first).
FIRST_GROUP_NS, GROUP_NS = 390_000_000, 5_000_000_000
KNOWN_FIRST_GROUP = ("z_geo", "z_slog", "z_wc")
#: Of the log device: it answered every command in 50 us.
LOG = {"write": "50 us"}
#: Moments at which a run may have begun: groups come two or three times in a run, whatever the angle of the disks.
STARTS = 2
#: Runs with the log device were 5 s long (zfs.md), the one without syncs 20 s.
LENGTHS_S = {"slog": 5.0, "async": 20.0}
_NAME = re.compile(
    r"(?P<kind>mir|rz)(?P<number>\d)(?:_(?P<width>\d+))?(?:_(?P<about>s128|wc11|slog))?_r(?P<record>\d+)"
    r"_(?P<sync>sync|async)write(?P<size>\d+)k_j(?P<jobs>\d+)$"
)


@dataclass(frozen=True)
class Figures:
    """What is compared."""

    iops: float
    mean_ms: float
    writes_per_op: float


def rows() -> list[dict[str, str]]:
    """Return the random writes that were measured."""
    with TABLE.open() as file:
        return [row for row in csv.DictReader(file) if _NAME.match(row["run"])]


def measured(row: dict[str, str]) -> Figures:
    return Figures(float(row["iops"]), float(row["lat_mean_ms"]), float(row["member_writes_per_op"]))


def length_s(run_name: str) -> float:
    return next((seconds for word, seconds in LENGTHS_S.items() if word in run_name), RUN_S)


def array_of(run_name: str) -> Array:
    found = _NAME.match(run_name)
    assert found is not None
    level = "mirror" if found["kind"] == "mir" else f"raidz{found['number']}"
    layout: dict[str, object] = {"level": level, "disks": int(found["width"] or found["number"])}
    layout |= {"record": f"{found['record']} KiB", "member": "16 GiB", "data_offset": "4 MiB"}
    layout |= {"dirty_data_max": DIRTY_DATA_MAX, "record_work": RECORD_WORK} | (
        {"log": LOG} if found["about"] == "slog" else {}
    )
    drive = load_drive("md-raid-10k").to_dict()
    array: dict[str, object] = {"layout": layout, "spindles": {"phase": "spread", "drift_ppm": 400}}
    if found["about"] == "wc11":
        drive["cache"] = {"size": "16 MiB", "segments": 1, "read_ahead_bytes": 0, "write_back": True}
        drive["cache"]["destage"] = "in-order"
        array |= {"drive_write_cache": True, "drive_fua": True}
    submission = SUBMISSION if found["sync"] == "sync" else SUBMISSION_ASYNC
    return Array.parse(array | {"drive": drive, "host": {"submission": submission}})


def begin_ns(row: dict[str, str], start: int) -> int:
    """Return the moment at which a run begins: groups come at multiples of 5 s."""
    if row["source"] in KNOWN_FIRST_GROUP and row["run"].endswith("_j1"):
        return (start + 1) * GROUP_NS - FIRST_GROUP_NS
    return start * GAIN_NS // STARTS


def requests_of(row: dict[str, str], array: Array, n: int, start: int) -> Requests:
    """Return `n` writes of the file as fio draws them, the first ones at the start's moment."""
    found = _NAME.match(row["run"])
    assert found is not None
    jobs, size = int(found["jobs"]), int(found["size"]) * 1024
    file_bytes = FILES[row["source"]][int(found["record"])] * MIB
    stream = {"size": f"{found['size']} KiB", "clients": jobs, "read_ratio": 0.0, "span": f"{file_bytes // MIB} MiB"}
    load = Workload.parse(stream | ({"sync": "dsync"} if found["sync"] == "sync" else {}))
    requests = load.requests(capacity_bytes=array.usable_bytes, n=n, seed=SEED + start)
    order = np.random.default_rng(SEED + start).permutation(file_bytes // size)
    when = np.zeros(n, np.int64)
    when[:jobs] = begin_ns(row, start)
    return replace(requests, offset=np.resize(order, n).astype(np.int64) * size, when_ns=when)


@cache
def simulated(run_name: str, source: str, starts: int = STARTS) -> Figures:
    """Return the figures of a row: the run as long as it was, from each of the starts."""
    row = next(row for row in rows() if (row["run"], row["source"]) == (run_name, source))
    array, until_s = array_of(run_name), WARM_UP_S + length_s(run_name)
    n = int(float(row["iops"]) * until_s * (2.5 if "slog" in run_name else 1.6)) + 64
    figures = []
    for start in range(starts):
        scenario = resolve(array, SEED)
        done = run(scenario, requests_of(row, array, n, start)).completions
        since_s = (done.done_ns - begin_ns(row, start)) / 1e9
        assert since_s.max() > until_s
        counted = (since_s > WARM_UP_S) & (since_s <= until_s)
        mean_ms = float((done.done_ns - done.issue_ns)[counted].mean()) / 1e6
        # what the disks had written when the run ended
        n_done = int((since_s <= until_s).sum())
        again = run(scenario, requests_of(row, array, n_done, start))
        per_op = int(again.devices.n_writes.sum()) / n_done
        figures.append((counted.sum() / length_s(run_name), mean_ms, per_op))
    return Figures(*np.mean(figures, axis=0).tolist())
