"""Writes to OpenZFS pools over disks of known mechanics: what was measured, and the model of it.

fio wrote blocks of its file at random, again and again: with the log device a group had 5,875 different records after
1.21 s and 1.58 s of one writer, whose 23,338 writes in 5 s fit that if a block comes again, and not otherwise. `sync`
rows opened the file with O_SYNC. One processor did all the work, and a tenth of its memory was `dirty_data_max`
(zfs.md, zfs-txgs.csv).
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
from diskmodel.records import Int64, Op, Requests
from diskmodel.workload import Workload
from tests.validation.zfs.pools import FILES as READ_FILES
from tests.validation.zfs.pools import MIB, RUN_S, SEED, TABLE, WARM_UP_S

FILES = READ_FILES | {"z_aw": {8: 512, 128: 1024}, "z_slog": {8: 128}, "z_wc": {8: 128}}
DIRTY_DATA_MAX = "242 MiB"
#: What the processor of the machine did for a write that had to be safe and for one that did not, by its share of time
#: (`guest_cpu_pct`). With the log device a write took, without its part of groups, 124 us with a block of the log for
#: each (one writer), and 100 us with 0.58 blocks for each (eight): so a write takes 65 us, and a block about as much.
SUBMISSION, SUBMISSION_ASYNC = "65 us", "50 us"
#: The same for a record of a group: where nobody waited a write took 121 us together on RAID-Z2 of 6, and five of six
#: made a record dirty. Eight writers took 151 us for each write of a mirror, 157 us of RAID-Z1 of 4, 193 us of RAID-Z2.
RECORD_WORK = {"mirror": "50 us", "raidz1": "55 us", "raidz2": "85 us"}
#: Runs began when a group was opened: the group before had the same 942,080 dirty bytes on every geometry and none of
#: the run, and the first of the run was open for 5.0 to 5.2 s (zfs-txgs.csv).
GROUP_NS = 5_000_000_000
#: What that group before wrote to the disks, no block of the log among it, where it is known to have been counted.
EMPTY_GROUPS = {
    "mir2_s128": 88,
    "mir2_wc11": 108,
    "rz1_3": 128,
    "rz2_4": 169,
    "rz2_6": 216,
    "rz2_6_wc11": 267,
    "rz2_8": 243,
}
COUNTED_EMPTY_GROUP = ("z_geo", "z_slog", "z_wc")
#: Of the log device: it answered every command in 50 us, of whatever length.
LOG = {"write": "50 us", "bytes_per_s": 1e11}
#: Moments at which a run may have begun: groups come two or three times in a run, whatever the angle of the disks.
STARTS = 2
#: Runs with the log device were 5 s long (zfs.md), the one without syncs 20 s, of which 5 s before were not counted.
LENGTHS_S = {"slog": 5.0, "async": 20.0}
WARM_UPS_S = {"async": 5.0}
#: Writes of the disks were counted until fio had ended: it began to write 0.20 to 0.27 s after its start, and ended
#: with its last write (`wall_s`). Only with the log device and eight or 32 writers it ended 1.8 and 2.5 s later, of
#: which `member_writes_per_op` takes 1 and 2 s for time in which it wrote. They were not: with 32 writers the records
#: of both groups are those of 47,900 writes until the second was closed, and what else was written with the second,
#: 102 MB, is the log of 12,000 more at most: 6.5 s at the rate of the run. In 8 s it would have been 73,500.
BEFORE_S = 0.2
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
    writes_per_op = float(row["member_writes_per_op"])
    if "slog" in row["run"]:
        # the last disk is the log device
        *disks, _ = [int(n) for n in row["per_disk_writes"].split()]
        writes_per_op = sum(disks) / (float(row["iops"]) * (warm_up_s(row["run"]) + length_s(row["run"])))
    if row["source"] in COUNTED_EMPTY_GROUP and row["run"].endswith("_j1"):
        geometry = max((name for name in EMPTY_GROUPS if row["run"].startswith(name)), key=len)
        n_ops = float(row["member_writes"]) / float(row["member_writes_per_op"])
        writes_per_op -= EMPTY_GROUPS[geometry] / n_ops
    return Figures(float(row["iops"]), float(row["lat_mean_ms"]), writes_per_op)


def length_s(run_name: str) -> float:
    return next((seconds for word, seconds in LENGTHS_S.items() if word in run_name), RUN_S)


def warm_up_s(run_name: str) -> float:
    return next((seconds for word, seconds in WARM_UPS_S.items() if word in run_name), WARM_UP_S)


def array_of(run_name: str) -> Array:
    found = _NAME.match(run_name)
    assert found is not None
    level = "mirror" if found["kind"] == "mir" else f"raidz{found['number']}"
    layout: dict[str, object] = {"level": level, "disks": int(found["width"] or found["number"])}
    layout |= {"record": f"{found['record']} KiB", "member": "16 GiB", "data_offset": "4 MiB"}
    layout |= {"dirty_data_max": DIRTY_DATA_MAX, "record_work": RECORD_WORK[level]} | (
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


def begin_ns(start: int) -> int:
    """Return the moment at which a run begins: just behind a multiple of 5 s, as groups come at these."""
    return start * GROUP_NS + 1


def requests_of(row: dict[str, str], array: Array, n: int, start: int) -> Requests:
    """Return `n` writes of the file as fio drew them, the first ones at the start's moment."""
    found = _NAME.match(row["run"])
    assert found is not None
    jobs, size = int(found["jobs"]), int(found["size"]) * 1024
    file_bytes = FILES[row["source"]][int(found["record"])] * MIB
    stream = {"size": f"{found['size']} KiB", "clients": jobs, "read_ratio": 0.0, "span": f"{file_bytes // MIB} MiB"}
    load = Workload.parse(stream | ({"sync": "dsync"} if found["sync"] == "sync" else {}))
    requests = load.requests(capacity_bytes=array.usable_bytes, n=n, seed=SEED + start)
    order = np.random.default_rng(SEED + start).integers(0, file_bytes // size, n)
    when = np.zeros(n, np.int64)
    when[:jobs] = begin_ns(start)
    return replace(requests, offset=order * size, when_ns=when)


def ended_by_read(requests: Requests, done_ns: Int64, until_ns: int) -> Requests:
    """Return the writes with a read for the last, so that the run goes on until then: the disks write what is left."""
    op, when = requests.op.copy(), requests.when_ns.copy()
    jobs = int((when > 0).sum())
    # the read's turn comes with the end of so many writes that one of the jobs has none left
    turn_ns = int(np.sort(done_ns)[len(requests) - 1 - jobs])
    op[-1], when[-1] = Op.READ, max(until_ns - turn_ns, 0)
    return replace(requests, op=op, when_ns=when)


@cache
def simulated(run_name: str, source: str, starts: int = STARTS) -> Figures:
    """Return the figures of a row: the run as long as it was, from each of the starts."""
    row = next(row for row in rows() if (row["run"], row["source"]) == (run_name, source))
    array, begin_s = array_of(run_name), warm_up_s(run_name)
    until_s = begin_s + length_s(run_name)
    n = int(float(row["iops"]) * until_s * (2.5 if "slog" in run_name else 1.6)) + 64
    figures = []
    for start in range(starts):
        scenario = resolve(array, SEED)
        done = run(scenario, requests_of(row, array, n, start)).completions
        since_s = (done.done_ns - begin_ns(start)) / 1e9
        assert since_s.max() > until_s
        counted = (since_s > begin_s) & (since_s <= until_s)
        mean_ms = float((done.done_ns - done.issue_ns)[counted].mean()) / 1e6
        n_done = int((since_s <= until_s).sum())
        counted_ns = begin_ns(start) + round((float(row["wall_s"]) - BEFORE_S) * 1e9)
        again = run(scenario, ended_by_read(requests_of(row, array, n_done + 1, start), done.done_ns, counted_ns))
        per_op = int(again.devices.n_writes.sum()) / n_done
        figures.append((counted.sum() / length_s(run_name), mean_ms, per_op))
    return Figures(*np.mean(figures, axis=0).tolist())
