"""The intervals that the product prints of described loads, kept in tests/data/units/printed.csv.

Each is made with the spreads that all units but its own show.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from unittest import mock

from diskmodel.engine.predict import predict
from diskmodel.uncertainty import spread as drawn
from tests.validation.coverage import spread_table
from tests.validation.coverage.spread import OVERALL, STATISTICS, figures, left_out
from tests.validation.units.evidence import FOLDER, UnitCase
from tests.validation.units.page import pairs

TABLE = FOLDER / "printed.csv"
COLUMNS = ("case", "statistic", "low", "high")
#: Processes that simulate at the same time.
WORKERS = 2
#: Requests of the run that an interval is around: ratios of drawn runs with the same requests count.
N_REQUESTS = 8_000

Ends = dict[tuple[str, str], tuple[float, float]]


def described() -> list[UnitCase]:
    """Return the loads whose sources describe drive, array and load."""
    return [case for case, _ in pairs() if case.standing == "complete" and case.seconds is None]


def renew() -> None:
    """Simulate all described loads, and write the table."""
    tables, cases = tables_left_out(), described()
    with ProcessPoolExecutor(WORKERS) as pool:
        found = pool.map(_ends, range(len(cases)), [tables[case.unit] for case in cases], chunksize=2)
        rows = [row for part in found for row in part]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def tables_left_out() -> dict[str, str]:
    """Return by unit the table of spreads of all units but that."""
    return {unit: spread_table.text_of(spreads) for unit, spreads in left_out(figures(pairs())).items()}


def read() -> Ends:
    """Return the ends of intervals by the name of the load and the statistic."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {(row["case"], row["statistic"]): (float(row["low"]), float(row["high"])) for row in rows}


@cache
def _cases() -> list[UnitCase]:
    return described()


def _ends(number: int, table: str) -> list[tuple[str, str, str, str]]:
    """Return the rows of a load, with the spreads of a table."""
    case = _cases()[number]
    _, assumed = drawn.TABLES
    together = drawn.joined(tomllib.loads(text) for text in (table, assumed.read_text(encoding="utf-8")))
    with mock.patch.object(drawn, "_table", return_value=together):
        return list(_rows(case))


def _rows(case: UnitCase) -> Iterable[tuple[str, str, str, str]]:
    result = case.simulate(0)
    prediction = predict(case.array, case.workload, result, start=case.start) if result.is_stable else None
    if prediction is None:
        return
    for name in STATISTICS:
        if name not in case.measured:
            continue
        if name in OVERALL:
            interval = prediction.intervals[name]
        else:
            subset, _, statistic = name.partition("_")
            interval = prediction.subsets[subset][statistic]
        scale = 1.0 if name == "iops" else 1e6
        yield case.name, name, f"{interval.low / scale:.5g}", f"{interval.high / scale:.5g}"
