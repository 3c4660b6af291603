"""Every published figure that an interval can be compared with, with its class and the unit it was measured on.

Sources are `published_arrays.toml`, `published.toml` and `fio-depths.csv` in tests/data; `coverage-classes.toml` says
what belongs together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady.shared import Begin
from diskmodel.result import Result
from diskmodel.workload import Workload
from tests.validation import published, published_arrays
from tests.validation.fits import fio_depths, measured

CLASSES = Path(__file__).parents[2] / "data" / "coverage-classes.toml"

#: What is compared; the first in 1/s, the others in ms.
STATISTICS = ("iops", "mean", "p99")
#: Their keys in published_arrays.toml.
KEYS = {"iops": "iops", "mean": "mean_ms", "p99": "p99_ms"}
#: Of the drives of fio's table, those that published_arrays.toml has too, at some of the depths.
ROWS_TOO = ("Samsung F1 1 TB", "WD Raptor 74 GB", "Intel D3-S4610 (IBM M1015)")
#: Requests of a run, the same as for the pages of these measurements.
N_REQUESTS = published_arrays.N_REQUESTS


@dataclass(frozen=True)
class Case:
    """One load on one drive or array, and what was measured.

    Attributes
    ----------
    name : str
    class_ : str
        Leaf of the tree of classes.
    unit : str
        The drive or array that was measured.
    array : Array
    workload : Workload
    measured : dict of str to float
        By statistic: requests per second, ms.
    n_requests : int
    seconds : float or None
        Only the first seconds of an idle drive count; None: the long run.
    """

    name: str
    class_: str
    unit: str
    array: Array
    workload: Workload
    measured: dict[str, float]
    n_requests: int = N_REQUESTS
    seconds: float | None = None

    @property
    def start(self) -> Begin:
        """Return what caches and buffers hold when the load begins."""
        return "steady" if self.seconds is None else "empty"

    def simulate(self, draws: int | None) -> Result:
        """Return the result of the load, with so many drawn drives (None: as by default)."""
        return simulate(self.array, self.workload, n_requests=self.n_requests, profile_draws=draws, start=self.start)


def classes() -> dict[str, Any]:
    """Return the classes and units of all measurements."""
    return tomllib.loads(CLASSES.read_text(encoding="utf-8"))


def cases() -> list[Case]:
    """Return all loads with their figures."""
    known = classes()
    return [*_of_rows(known["rows"]), *_of_cases(known["cases"]), *_of_fio(known["fio"])]


def _of_rows(known: dict[str, Any]) -> Iterator[Case]:
    for row in published_arrays.rows():
        for point in row.get("points", ()):
            array, workload = published_arrays.scenario(row, point)
            found = {
                s: point[key] for s, key in (("iops", "iops"), ("mean", "mean_ms"), ("p99", "p99_ms")) if key in point
            }
            if "mb_s" in point:
                found["iops"] = point["mb_s"] * 1e6 / size_bytes(workload)
            what = point.get("what", "")
            name = (
                f"{row['id']}: {point.get('size', '4 KiB')} {point['reads']:.0%} reads, depth {point['depth']} {what}"
            )
            n = point.get("requests", N_REQUESTS)
            yield Case(name.strip(), *_place(known[row["id"]]), array, workload, found, n, point.get("seconds"))


def _of_cases(known: dict[str, Any]) -> Iterator[Case]:
    for case in published.cases():
        figure = case.get("figure", "iops")
        if figure not in ("iops", "mean_ms"):
            continue
        fields = {key: case[key] for key in ("drive", "layout", "queue", "drive_write_cache") if key in case}
        array = Array.parse({"layout": published.SINGLE} | fields)
        place = known["raid0"] if case.get("layout", {}).get("disks") == 6 else known[case["drive"]]
        found = {"mean" if figure == "mean_ms" else "iops": float(case["measured"])}
        yield Case(case["what"], *_place(place), array, Workload.parse(case["workload"]), found)


def _of_fio(known: dict[str, Any]) -> Iterator[Case]:
    rows = classes()["rows"]
    carried = {
        (*_place(rows[row["id"]]), point["reads"], point["depth"])
        for row in published_arrays.rows()
        for point in row.get("points", ())
    }
    for point in measured.points():
        if point.drive not in known:
            continue
        entry = known[point.drive]
        reads = 1.0 if point.op == "read" else 0.0
        if point.drive in ROWS_TOO and (*_place(entry), reads, point.depth) in carried:
            continue
        is_sorted = point.depth > fio_depths.SATA_DEPTH and fio_depths.AHCI in point.drive
        above = {"scheduler": "mq-deadline", "drive_depth": fio_depths.SATA_DEPTH} if is_sorted else {}
        array = Array.parse({"drive": entry["profile"], "layout": published.SINGLE, "queue": above})
        workload = Workload.parse({"size": "4 KiB", "read_ratio": reads, "clients": point.depth})
        found = {"iops": point.iops, "mean": point.mean_ms, "p99": point.p99_ms}
        yield Case(f"{point.drive}: {point.op}s, depth {point.depth}", *_place(entry), array, workload, found)


def size_bytes(workload: Workload) -> int:
    """Return the size of the requests, which all have the same."""
    ((size,),) = ([item.size_bytes for item in stream.sizes] for stream in workload.streams)
    return int(size)


def _place(entry: dict[str, str]) -> tuple[str, str]:
    return entry["class"], entry["unit"]
