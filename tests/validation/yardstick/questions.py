"""Every public figure that a predictor can be scored on: a load on a drive or array, and what was measured.

Four groups: published measurements of drives and arrays by other people, and three that were made with the real Linux
kernel and the real OpenZFS over disks of exactly known mechanics. What needs a file that cannot be shipped (a trace,
the requests of one run in their order) is not a question here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from diskmodel.array import Array
from diskmodel.workload import Workload
from tests.validation.coverage import evidence
from tests.validation.coverage.evidence import STATISTICS
from tests.validation.md import file_systems, flush, md_raid
from tests.validation.zfs import pool_writes, pools

#: Counts up when a question is added, removed or corrected: scores of different versions are not comparable.
VERSION = 1
#: Short name of a group → what it is.
GROUPS = {
    "published": "drives and arrays of other people, described by their data sheets",
    "linux-md": "RAID of the Linux kernel over disks of known mechanics",
    "flushes": "commits through the Linux kernel to such disks and RAID",
    "openzfs": "pools of OpenZFS over such disks",
}


@dataclass(frozen=True)
class Question:
    """A load on a drive or array.

    Attributes
    ----------
    id : str
        Unique, and the same in every version.
    group : str
        One of `GROUPS`.
    array : Array
    workload : Workload
        One stream of clients.
    measured : dict of str to float
        By statistic, one of "iops" (1/s), "mean" and "p99" (response times, ms).
    """

    id: str
    group: str
    array: Array
    workload: Workload
    measured: dict[str, float]


@cache
def questions() -> tuple[Question, ...]:
    """Return all questions, by group."""
    return (*_published(), *_linux_md(), *_flushes(), *_openzfs())


def fingerprint() -> str:
    """Return a hash of what is asked for and what was measured: another one asks for another `VERSION`."""
    text = json.dumps([(item.id, item.measured) for item in questions()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def document() -> dict[str, Any]:
    """Return the questions for a program that knows nothing of this one: drives once, by a key, and all in SI units."""
    drives: dict[str, dict[str, Any]] = {}
    asked = []
    for item in questions():
        array = item.array.to_dict()
        text = json.dumps(array["drive"], sort_keys=True)
        key = f"{array['drive']['name']} ({hashlib.sha256(text.encode()).hexdigest()[:6]})"
        drives[key] = array["drive"]
        array["drive"] = key
        known = {"array": array, "workload": item.workload.to_dict(), "measured": item.measured}
        asked.append({"id": item.id, "group": item.group} | known)
    return {"version": VERSION, "groups": GROUPS, "drives": drives, "questions": asked}


def _published() -> Iterator[Question]:
    for case in evidence.cases():
        if case.seconds is None:  # the first seconds of an idle drive are another question
            yield Question(case.name, "published", case.array, case.workload, case.measured)


def _linux_md() -> Iterator[Question]:
    seen = set()
    for row in md_raid.rows():
        setup = md_raid.setup_of(row)
        name = f"{setup.level} of {setup.disks}, {setup.pattern}, depth {setup.depth}"
        if name in seen:
            continue
        seen.add(name)
        array, workload = md_raid.array_of(setup), md_raid.workload_of(setup)
        if "mix" in setup.pattern:  # its response times are of reads and of writes apart
            yield Question(name, "linux-md", array, workload, {"iops": float(row["total_iops"])})
        else:
            found = {"iops": "iops", "mean": "mean_ms", "p99": "p99_ms"}
            yield Question(
                name, "linux-md", array, workload, {key: float(row[column]) for key, column in found.items()}
            )


def _flushes() -> Iterator[Question]:
    for row in flush.rows():
        # one write, one sync, and nothing else: there the response time is the commit's
        if file_systems.is_file(row) or row["pattern"] != "rand" or int(row["readers"]) or row["mode"] == "fds8":
            continue
        found = flush.measured(row)
        known = {"iops": found.iops, "mean": found.commit_mean_ms}
        if flush.is_write_call(row):
            known["p99"] = found.sync_p99_ms
        yield Question(row["run"], "flushes", flush.array_of(row), flush.workload_of(row), known)


def _openzfs() -> Iterator[Question]:
    for row in pools.rows():
        if row["source"] == "z_span":  # reads of four files far apart
            continue
        reads = {"size": row["run"].split("_randread")[1].split("k_")[0] + " KiB", "clients": int(row["numjobs"])}
        load = Workload.parse(reads | {"span": f"{_file_mib(row, pools.FILES)} MiB"})
        measured = {"iops": float(row["iops"]), "mean": float(row["lat_mean_ms"]), "p99": float(row["p99_ms"])}
        yield Question(f"{row['run']} ({row['source']})", "openzfs", pools.array_of(row["run"]), load, measured)
    for row in pool_writes.rows():
        if "_syncwrite" not in row["run"]:
            continue
        array = pool_writes.array_of(row["run"])
        size = row["run"].split("_syncwrite")[1].split("k_")[0]
        writes = {"size": f"{size} KiB", "read_ratio": 0.0, "sync": "dsync", "clients": int(row["numjobs"])}
        load = Workload.parse(writes | {"span": f"{_file_mib(row, pool_writes.FILES)} MiB"})
        found = {"iops": float(row["iops"]), "mean": float(row["lat_mean_ms"]), "p99": float(row["p99_ms"])}
        yield Question(f"{row['run']} ({row['source']})", "openzfs", array, load, found)


def _file_mib(row: dict[str, str], files: dict[str, dict[int, int]]) -> int:
    return files[row["source"]][int(row["run"].split("_r")[1].split("_")[0])]


def statistics_of(question: Question) -> list[str]:
    """Return the statistics that a question asks for, in the order of the answers' columns."""
    return [name for name in STATISTICS if name in question.measured]
