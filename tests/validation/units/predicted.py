"""What the model predicts of each figure, simulated once and kept in tests/data/units/predicted.csv."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from tests.validation.units.evidence import FOLDER, OPERATIONS, TIMES, UnitCase, new_cases

TABLE = FOLDER / "predicted.csv"
COLUMNS = ("case", "statistic", "predicted")
#: Processes that simulate at the same time.
WORKERS = 2


def predict(case: UnitCase) -> dict[str, float]:
    """Return what the model says of the figures of a load: requests per second, ms; infinite times of an overload."""
    result = case.simulate(0)
    data = result.to_dict()
    found = {"iops": float(result.iops.mean)} | _times(data["latency_ms"], "")
    n = sum(data[op]["n"] for op in OPERATIONS if data.get(op))
    for op in OPERATIONS:
        if data.get(op):
            found[f"{op}_iops"] = found["iops"] * data[op]["n"] / n
            found |= _times(data[op]["latency_ms"], f"{op}_")
    missing = set(case.measured) - set(found)
    if not result.is_stable:
        found |= dict.fromkeys(missing, math.inf)
    elif missing:
        raise ValueError(f"{case.name}: the result has no {', '.join(sorted(missing))}")
    return {name: found[name] for name in case.measured}


def _times(latency_ms: dict[str, float | None], prefix: str) -> dict[str, float]:
    return {prefix + name: float(value) for name in TIMES if (value := latency_ms.get(name)) is not None}


def renew(only: Sequence[str] = (), *, only_missing: bool = False) -> None:
    """Simulate all loads, or those of some units, and write the table.

    Parameters
    ----------
    only : sequence of str
        Names of units; empty for all.
    only_missing : bool
        Whether to leave what the table has.
    """
    found = list(_cases())
    known = read() if TABLE.exists() else {}
    asked = [i for i, c in enumerate(found) if not only or c.unit in only]
    if only_missing:
        asked = [i for i in asked if set(found[i].measured) - set(known.get(found[i].name, {}))]
    with ProcessPoolExecutor(WORKERS) as pool:
        for i, values in zip(asked, pool.map(_predict, asked, chunksize=4), strict=True):
            known[found[i].name] = values
    TABLE.write_text(text((c.name, known[c.name]) for c in found if c.name in known), encoding="utf-8")


@cache
def _cases() -> tuple[UnitCase, ...]:
    return tuple(new_cases())


def _predict(number: int) -> dict[str, float]:
    return predict(_cases()[number])


def text(found: Iterable[tuple[str, dict[str, float]]]) -> str:
    """Return the table as text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, values in found:
        writer.writerows((name, statistic, f"{value:.5g}") for statistic, value in values.items())
    return out.getvalue()


def read() -> dict[str, dict[str, float]]:
    """Return the predictions by case and statistic."""
    found: dict[str, dict[str, float]] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["case"], {})[row["statistic"]] = float(row["predicted"])
    return found
