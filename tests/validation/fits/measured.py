"""fio's figures over queue depths in tests/data/fio-depths.csv, and files of fio that hold them.

Random reads and writes of 4 KiB on a whole drive (one on a file of 30 GB), a run for each depth, with as few jobs as
the depth was measured with. They are from github.com/louwrentius/fio-plot, history of benchmark_data; `folder` is the
folder there. Runs in which a command timed out after 30 s are left out, and other runs of the same depth taken; with
the collection at hand, `python -m tests.validation.fits.choose_runs` writes the table.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "fio-depths.csv"
#: fio prints these percentiles by default, and the table has them.
PERCENTS = (1, 50, 90, 95, 99)


@dataclass(frozen=True)
class Point:
    """What fio reported of one run.

    Attributes
    ----------
    drive : str
    op : "read" or "write"
    depth, jobs : int
        Requests outstanding, and the jobs that share them.
    iops, mean_ms : float
    percentiles_ms : dict of int to float
        Percent → response.
    max_ms : float
    folder : str
    """

    drive: str
    op: str
    depth: int
    jobs: int
    iops: float
    mean_ms: float
    percentiles_ms: dict[int, float]
    max_ms: float
    folder: str

    @property
    def p99_ms(self) -> float:
        """Return the 99th percentile of the responses."""
        return self.percentiles_ms[99]

    def job(self, group: int) -> dict[str, Any]:
        """Return the run as a job of fio's JSON."""
        latency = {"min": 0, "max": self.max_ms * 1e6, "mean": self.mean_ms * 1e6, "stddev": 0}
        percentiles = {f"{percent:.6f}": round(ms * 1e6) for percent, ms in self.percentiles_ms.items()}
        n = round(self.iops * 60)
        options = {
            "rw": f"rand{self.op}",
            "bs": "4k",
            "iodepth": str(self.depth // self.jobs),
            "numjobs": str(self.jobs),
            "ioengine": "libaio",
            "direct": "1",
            "group_reporting": "1",
        }
        return {
            "jobname": f"rand{self.op}-{self.depth}",
            "groupid": group,
            "error": 0,
            "job options": options,
            self.op: {
                "total_ios": n,
                "io_bytes": n * 4096,
                "bw": round(self.iops * 4),
                "iops": self.iops,
                "runtime": 60_000,
                "clat_ns": latency | {"percentile": percentiles},
                "lat_ns": latency,
            },
        }


@cache
def points() -> tuple[Point, ...]:
    """Return all runs of the table."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return tuple(_point(row) for row in csv.DictReader(file))


def of_drive(drive: str) -> list[Point]:
    """Return the runs of one drive."""
    return [point for point in points() if point.drive == drive]


def write_fio(path: Path, chosen: Iterable[Point]) -> Path:
    """Write runs as fio's JSON output, and return its path."""
    jobs = [point.job(group) for group, point in enumerate(chosen)]
    path.write_text(json.dumps({"fio version": "fio-3.16", "jobs": jobs}), encoding="utf-8")
    return path


def _point(row: dict[str, str]) -> Point:
    return Point(
        row["drive"],
        row["pattern"].removeprefix("rand"),
        int(row["depth"]),
        int(row["jobs"]),
        float(row["iops"]),
        float(row["mean_ms"]),
        {percent: float(row[f"p{percent}_ms"]) for percent in PERCENTS},
        float(row["max_ms"]),
        row["folder"],
    )
