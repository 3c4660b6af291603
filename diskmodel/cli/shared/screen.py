"""The screen that rich draws on: standard output or standard error."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from diskmodel.errors import visible


class Screen(Console):
    """A console that leaves it to the command to end when nobody reads its answer."""

    @classmethod
    def of(cls, width: int, *, is_error: bool) -> Self:
        """Return the screen of a stream; a file or a pipe has this width."""
        # names of emoji would be replaced, and their list takes longer to load than a table to draw
        screen = cls(stderr=is_error, highlight=False, emoji=False)
        return screen if screen.is_terminal else cls(stderr=is_error, highlight=False, emoji=False, width=width)

    def on_broken_pipe(self) -> None:
        """Standard output: the command ends. Standard error: nobody reads messages, and the command goes on."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def show(self, part: RenderableType) -> None:
        """Draw a part of an answer; a line that wraps keeps its indent."""
        if isinstance(part, str):
            text = part.lstrip(" ")
            part = Padding(Text(text), (0, 0, 0, len(part) - len(text)), expand=False)
        self.print(_Visible(part))

    def write(self, text: str, style: str = "") -> None:
        """Print lines as they are, however long."""
        self.print(Text(visible(text), style=style), soft_wrap=True)

    def progress(self) -> Progress:
        """Return a progress display; it stays silent unless the stream is a terminal."""
        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=self,
            transient=True,
            disable=not self.is_terminal,
        )


class _Visible:
    """A part of an answer whose control characters are shown as escapes: a terminal would obey those of a name."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._part, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def plain_table(title: str | None = None) -> Table:
    """Return an empty table with a line under its head."""
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
