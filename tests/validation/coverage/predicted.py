"""What the model predicts of each load, run once and kept in tests/data/coverage-predictions.csv."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskmodel.result import Result
from tests.validation.coverage.evidence import STATISTICS, Case

TABLE = Path(__file__).parents[2] / "data" / "coverage-predictions.csv"
#: Columns of a statistic: its nominal value, and the ends of the interval that the product prints.
COLUMNS = tuple(f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high"))


@dataclass(frozen=True)
class Predicted:
    """A prediction and its printed 95 % intervals.

    Attributes
    ----------
    name : str
        Of the case.
    is_drawn, is_predictive : bool
        Whether the intervals contain more than the noise of the run, and whether they are of all that is not known.
    values, low, high : dict of str to float
        By statistic: requests per second, ms.
    """

    name: str
    is_drawn: bool
    is_predictive: bool
    values: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]


def predict(case: Case) -> Predicted:
    """Simulate a case as `diskmodel simulate` does."""
    result = case.simulate(None)
    data = result.to_dict()
    values = {"iops": float(result.iops.mean)} | {name: float(data["latency_ms"][name]) for name in ("mean", "p99")}
    if case.seconds is not None:
        done_s = result.run.completions.done_ns / 1e9
        values["iops"] = float((done_s <= case.seconds).sum()) / case.seconds
    ends = _ends(result, data)
    is_predictive = "sources" in data["interval"]
    is_drawn = is_predictive or result.prediction is not None
    low, high = ({name: ends[name, end] for name in STATISTICS} for end in ("low", "high"))
    return Predicted(case.name, is_drawn, is_predictive, values, low, high)


def _ends(result: Result, data: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Return the ends of the widest intervals that are printed."""
    printed = data["interval"]
    if "iops_low" in printed and "sources" in printed:
        return {
            (name, end): float(printed[f"{name}_{end}" + ("" if name == "iops" else "_ms")])
            for name in STATISTICS
            for end in ("low", "high")
        }
    intervals = {name: result.interval_of(name) for name in STATISTICS}
    if result.prediction is not None:
        intervals |= {name: result.prediction.intervals[name] for name in STATISTICS}
    scale = {"iops": 1.0, "mean": 1e6, "p99": 1e6}
    return {(name, end): getattr(intervals[name], end) / scale[name] for name in STATISTICS for end in ("low", "high")}


def renew(cases: Sequence[Case], word: str = "") -> None:
    """Simulate the cases whose name begins with a word, and write the table of all."""
    kept = read() if word and TABLE.exists() else {}
    found = []
    for number, case in enumerate(cases):
        started = time.perf_counter()
        is_new = case.name.startswith(word) or case.name not in kept
        found.append(predict(case) if is_new else kept[case.name])
        if is_new:
            print(f"{number + 1:4d} of {len(cases)}  {time.perf_counter() - started:6.1f} s  {case.name}", flush=True)
    TABLE.write_text(table(found), encoding="utf-8")


def table(found: Iterable[Predicted]) -> str:
    """Return the table of predictions as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("case", "drawn", "predictive", *COLUMNS))
    for item in found:
        row = [x for name in STATISTICS for x in (item.values[name], item.low[name], item.high[name])]
        writer.writerow((item.name, int(item.is_drawn), int(item.is_predictive), *(f"{x:.5g}" for x in row)))
    return text.getvalue()


def read(path: Path = TABLE) -> dict[str, Predicted]:
    """Return the predictions by the name of their case."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["case"]: _of(row) for row in csv.DictReader(file)}


def _of(row: dict[str, str]) -> Predicted:
    def column(end: str) -> dict[str, float]:
        return {name: float(row[f"{name}{end}"]) for name in STATISTICS}

    flags = (row[name] == "1" for name in ("drawn", "predictive"))
    return Predicted(row["case"], *flags, column(""), column("_low"), column("_high"))


def pairs(cases: Iterable[Case]) -> list[tuple[Case, Predicted]]:
    """Return each case with its prediction."""
    known = read()
    return [(case, known[case.name]) for case in cases]
