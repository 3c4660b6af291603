"""Tables that become lists where a terminal is too narrow for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


@dataclass
class TableOrList:
    """A table with a row for each item; where a word of it would be cut, a paragraph for each item.

    Attributes
    ----------
    title : str
    names : sequence of str
        Of the columns.
    words : collection of str
        Names of the columns that hold words; the others are figures.
    rows : list of (cells, style)
    """

    title: str
    names: Sequence[str]
    words: Sequence[str]
    rows: list[tuple[list[str], str]] = field(default_factory=list)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, or the paragraphs."""
        table = self._table()
        if Measurement.get(console, options.update(width=10_000), table).minimum <= options.max_width:
            yield table
            return
        if self.title:
            yield Text(self.title, style="italic")
        for cells, style in self.rows:
            pairs = list(zip(self.names, cells, strict=True))
            head = [cell for name, cell in pairs if name in self.words and cell]
            yield Text(", ".join(head), style=style)
            figures = ", ".join(f"{name} {cell}" for name, cell in pairs if name not in self.words and cell)
            yield Padding(Text(figures), (0, 0, 0, 2), expand=False)

    def _table(self) -> Table:
        table = Table(
            title=self.title or None, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
        )
        for name in self.names:
            table.add_column(name, justify="left" if name in self.words else "right", overflow="fold")
        for cells, style in self.rows:
            table.add_row(*cells, style=style)
        return table
