"""What the model predicts of each load, run once and kept in tests/data/coverage-predictions.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from diskmodel.engine.drawn_runs import DRAWS, Trials
from diskmodel.engine.predict import prediction_of
from diskmodel.result import Result
from diskmodel.result.prediction import Prediction
from tests.validation.coverage.evidence import STATISTICS, Case

TABLE = Path(__file__).parents[2] / "data" / "coverage-predictions.csv"
#: Columns of a statistic: its nominal value, and the ends of the interval that the product prints.
COLUMNS = tuple(f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high"))
#: Requests of a run with a drawn truth. Of the product's own it has at most 10,000; only ratios of runs with the same
#: requests count, and with a fifth they take minutes instead of hours.
DRAWN_REQUESTS = 2_000


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


def nominal(case: Case) -> Predicted:
    """Simulate a case as it is described, with intervals of the noise of the run."""
    return _predicted(case, case.simulate(0), None)


def predict(case: Case) -> Predicted:
    """Simulate a case as `diskmodel simulate` does, with shorter runs of drawn truths."""
    result = case.simulate(0)
    if not result.is_stable or case.seconds is not None:  # the product has no interval of the first seconds alone
        return _predicted(case, result, None)
    truths = Trials(case.array, case.workload, DRAWN_REQUESTS, seed=0, start=case.start).truths(DRAWS)
    if truths is None:
        return _predicted(case, result, None)
    own = {name: result.run_interval(name) for name in STATISTICS}
    return _predicted(case, result, prediction_of(truths, own, result.confidence))


def _predicted(case: Case, result: Result, prediction: Prediction | None) -> Predicted:
    """Return the statistics of a result, and the widest intervals that are printed of it."""
    data = result.to_dict()
    values = {"iops": float(result.iops.mean)} | {name: float(data["latency_ms"][name]) for name in ("mean", "p99")}
    intervals = {name: result.run_interval(name) for name in STATISTICS}
    if prediction is not None:
        intervals |= {name: prediction.intervals[name] for name in STATISTICS}
    scale = {"iops": 1.0, "mean": 1e6, "p99": 1e6}
    if case.seconds is not None:
        done_s = result.run.completions.done_ns / 1e9
        first = float((done_s <= case.seconds).sum()) / case.seconds
        scale["iops"], values["iops"] = values["iops"] / first, first
    low, high = ({name: getattr(intervals[name], end) / scale[name] for name in STATISTICS} for end in ("low", "high"))
    return Predicted(case.name, prediction is not None, prediction is not None, values, low, high)


def write(found: Iterable[Predicted]) -> None:
    """Write the table."""
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
