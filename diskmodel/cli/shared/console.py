"""Where text goes: answers to standard output, everything else to standard error."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from diskmodel.errors import visible
from diskmodel.plain import plain

#: Width of text that goes to a file or a pipe.
WIDTH_OF_FILES = 100


_is_stdout_taken: ContextVar[bool] = ContextVar("is_stdout_taken", default=False)


@contextmanager
def stdout_taken(is_taken: bool) -> Iterator[None]:
    """Within the block, answers for people go to standard error: standard output carries a file (`--out -`)."""
    token = _is_stdout_taken.set(is_taken)
    try:
        yield
    finally:
        _is_stdout_taken.reset(token)


def show(*parts: RenderableType) -> None:
    """Print an answer for people; a line that wraps keeps its indent."""
    console = _console(is_error=_is_stdout_taken.get())
    for part in parts:
        if isinstance(part, str):
            text = part.lstrip(" ")
            part = Padding(Text(text), (0, 0, 0, len(part) - len(text)), expand=False)
        console.print(_Visible(part))


def show_lines(text: str) -> None:
    """Print lines as they are, however long."""
    _console(is_error=_is_stdout_taken.get()).print(Text(visible(text)), soft_wrap=True)


def show_command(command: str) -> None:
    """Print a command so that it can be copied: on one line, however long."""
    console = _console(is_error=False)
    console.print()
    console.print(Text(visible(f"$ {command}"), style="bold cyan"), soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """Print a message for people on standard error."""
    _console(is_error=True).print(Text(visible(text), style=style), soft_wrap=True)


def print_json(data: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command; nan and infinity become null."""
    sys.stdout.write(json.dumps(plain(data), indent=2, allow_nan=False) + "\n")


def progress() -> Progress:
    """Return a progress display on standard error; it stays silent unless that is a terminal."""
    console = _console(is_error=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class _Visible:
    """A part of an answer whose control characters are shown as escapes: a terminal would obey those of a name."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._part, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class _Console(Console):
    """A console that leaves it to the command to end when nobody reads its answer."""

    def on_broken_pipe(self) -> None:
        """Standard output: the command ends. Standard error: nobody reads messages, and the command goes on."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _console(*, is_error: bool) -> Console:
    console = _Console(stderr=is_error, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = _Console(stderr=is_error, highlight=False, width=WIDTH_OF_FILES)
    return console
