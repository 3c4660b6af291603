"""The answer of a plan of one kind, ready to be shown: what to buy, why, and a table of all candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from diskmodel.array import Array
from diskmodel.loading import dataclass
from diskmodel.plan.question.narrow import asked_in_words
from diskmodel.plan.question.objective import Objective
from diskmodel.workload import Workload


class Column(NamedTuple):
    """A column of the table: its name, and its width in text; 0: the last one, as wide as its cells."""

    name: str
    width: int


@dataclass(frozen=True)
class Row:
    """A candidate.

    Attributes
    ----------
    group : str
        What stands above it in text: its drive and level, its type.
    cells : tuple of str
        One for each column of a candidate that meets the objective; of another the first of them.
    limit : str
        What it misses; of one that meets the objective what fewer would miss.
    feasible : bool
    record : mapping
        The candidate's fields, for CSV.
    is_best : bool
        Whether it is the answer.
    last : str
        Cell of the last column, where that has no width.
    """

    group: str
    cells: Sequence[str]
    limit: str
    feasible: bool
    record: Mapping[str, Any]
    is_best: bool = False
    last: str = ""


@dataclass(frozen=True)
class Sheet:
    """The answer.

    Attributes
    ----------
    workload : Workload
        As designed for.
    objective : Objective
    asks : str
        What is looked for: "how many nodes and drives".
    answer : tuple of str
        What to buy, in one sentence; several lines of it in text.
    because : tuple of str
    facts : tuple of (str, str)
        What a manager asks first: label and value.
    heading : str
        Of the first column in a report: what rows of a group have in common.
    columns : tuple of Column
    rows : tuple of Row
    notes : tuple of str
        What the columns mean.
    array : Array or None
        The answer; None where nothing meets the objective.
    said : tuple of str
        Remarks about the answer.
    bars : tuple of (str, float)
        Names and values of what a report draws beside latency against load, `bars_title` above it.
    """

    workload: Workload
    objective: Objective
    asks: str
    answer: Sequence[str]
    because: Sequence[str]
    facts: Sequence[tuple[str, str]]
    heading: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str]
    array: Array | None
    said: Sequence[str] = ()
    bars: Sequence[tuple[str, float]] = field(default=())
    bars_title: str = ""

    @property
    def question(self) -> str:
        """What was asked, in a sentence."""
        asked = asked_in_words(self.objective)
        return f"The question: {self.asks} for {self.load}{f'; {asked}' if asked else ''}?"

    @property
    def load(self) -> str:
        """The workload in words."""
        return "; ".join(stream.in_words() for stream in self.workload.streams)

    def lines(self) -> list[str]:
        """Return the answer in lines of text, 80 columns wide but for the last column and what is missed."""
        found = [*self.answer, *(f"  {line}" for line in self.because), "", self.load]
        for group in dict.fromkeys(row.group for row in self.rows):
            found += ["", group, self._aligned([column.name for column in self.columns])]
            found += [self._line(row) for row in self.rows if row.group == group]
        return [*found, "", *self.notes]

    def _line(self, row: Row) -> str:
        left = self._aligned(row.cells)
        if row.feasible:
            return f"{left}  {row.last}" if row.last else left
        missed = f"{left} no: {row.limit}"
        widths = [column.width + 1 for column in self.columns if column.width]
        return f"{missed.ljust(sum(widths) - 1)}  {row.last}" if row.last else missed

    def _aligned(self, cells: Sequence[str]) -> str:
        wide = [(cell, column.width) for cell, column in zip(cells, self.columns, strict=False)]
        return " ".join(cell.rjust(width) if width else f" {cell}" for cell, width in wide)
