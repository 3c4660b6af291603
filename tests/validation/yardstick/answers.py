"""Answers of a predictor: a value of each statistic and, where it has one, a 95 % interval.

The file is a CSV with a row for each question: `id`, then for each statistic its value and the ends of its interval
(`iops`, `iops_low`, `iops_high`, `mean`, …, `p99_high`); an empty cell is no answer.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from diskmodel.errors import Fault, FormatError
from tests.validation.coverage.evidence import STATISTICS
from tests.validation.coverage.predicted import COLUMNS
from tests.validation.yardstick.questions import questions


@dataclass(frozen=True)
class Answer:
    """One statistic of one question.

    Attributes
    ----------
    value : float
        Requests per second, or ms.
    low, high : float or None
        Ends of the 95 % interval in the same unit; None: the predictor states none.
    """

    value: float
    low: float | None = None
    high: float | None = None


#: By the question's id and the statistic.
Answers = dict[tuple[str, str], Answer]


def text_of(answers: Answers) -> str:
    """Return the file of answers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", *COLUMNS))
    for asked in dict.fromkeys(name for name, _ in answers):
        cells: list[str] = []
        for statistic in STATISTICS:
            found = answers.get((asked, statistic))
            row = (None, None, None) if found is None else (found.value, found.low, found.high)
            cells += ["" if number is None else f"{number:.5g}" for number in row]
        writer.writerow((asked, *cells))
    return text.getvalue()


def read(path: Path) -> Answers:
    """Return the answers in a file.

    Raises
    ------
    FormatError
        If a column or a question is unknown, or a cell is no number above 0.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        unknown = set(reader.fieldnames or ()) - {"id", *COLUMNS}
        if unknown or "id" not in (reader.fieldnames or ()):
            fix = f"use {', '.join(('id', *COLUMNS))}"
            raise FormatError(Fault("columns", reader.fieldnames, "must be id and statistics", fix), str(path))
        return dict(_cells(path, reader))


def _cells(path: Path, rows: Iterable[dict[str, str]]) -> Iterable[tuple[tuple[str, str], Answer]]:
    known = {item.id for item in questions()}
    for row in rows:
        if row["id"] not in known:
            fix = "take it from the file that --questions writes"
            raise FormatError(Fault("id", row["id"], "must be that of a question", fix), str(path))
        for statistic in STATISTICS:
            value, low, high = (_number(path, row, f"{statistic}{end}") for end in ("", "_low", "_high"))
            if value is not None:
                yield (row["id"], statistic), Answer(value, low, high)


def _number(path: Path, row: dict[str, str], column: str) -> float | None:
    cell = (row.get(column) or "").strip()
    if not cell:
        return None
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not (number >= 0 and (column.endswith(("_low", "_high")) or 0 < number < math.inf)):
        fault = Fault(f"{row['id']}.{column}", cell, "must be a number above 0", "leave it empty if there is none")
        raise FormatError(fault, str(path))
    return number
