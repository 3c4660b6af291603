"""Where text goes: answers to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from diskmodel.plain import plain

#: Width of text that goes to a file or a pipe.
WIDTH_OF_FILES = 100


def show(*parts: RenderableType) -> None:
    """Print an answer for people; a line that wraps keeps its indent."""
    console = _console(is_error=False)
    for part in parts:
        if isinstance(part, str):
            text = part.lstrip(" ")
            part = Padding(Text(text), (0, 0, 0, len(part) - len(text)), expand=False)
        console.print(part)


def show_lines(text: str) -> None:
    """Print lines as they are, however long."""
    _console(is_error=False).print(Text(text), soft_wrap=True)


def show_command(command: str) -> None:
    """Print a command so that it can be copied: on one line, however long."""
    console = _console(is_error=False)
    console.print()
    console.print(Text(f"$ {command}", style="bold cyan"), soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """Print a message for people on standard error."""
    _console(is_error=True).print(Text(text, style=style), soft_wrap=True)


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


def _console(*, is_error: bool) -> Console:
    console = Console(stderr=is_error, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(stderr=is_error, highlight=False, width=WIDTH_OF_FILES)
    return console
