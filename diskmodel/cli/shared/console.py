"""Where text goes: answers to standard output, everything else to standard error.

Rich is loaded where something is drawn, colored or wrapped: it takes as long as a short command without it.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from diskmodel.engine.ledger import current
from diskmodel.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from diskmodel.cli.shared.screen import Screen

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
    is_error = _is_stdout_taken.get()
    lines = [part for part in parts if isinstance(part, str)]
    if not is_error and len(lines) == len(parts) and all(map(_fits, lines)):
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        return
    screen = _screen(is_error=is_error)
    for part in parts:
        screen.show(part)


def _fits(line: str) -> bool:
    """Whether a line fits into the width of standard output as it is: nothing has to be wrapped or escaped."""
    width = len(line) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    return bool(line) and line.isprintable() and width <= width_of_output()


def show_lines(text: str) -> None:
    """Print lines as they are, however long."""
    _screen(is_error=_is_stdout_taken.get()).write(text)


def show_command(command: str) -> None:
    """Print a command so that it can be copied: on one line, however long."""
    screen = _screen(is_error=False)
    screen.print()
    screen.write(f"$ {command}", "bold cyan")


def say(text: str, style: str = "") -> None:
    """Print a message for people on standard error, where one may have stopped reading.

    A terminal gets it wrapped between words; a file or a pipe gets it as it is, for programs that look for words.
    """
    if sys.stderr.isatty():
        lines = [textwrap.fill(line, width_of_output()) for line in text.split("\n")]
        text = "\n".join(lines)
    if style or not all(line.isprintable() for line in text.split("\n")):
        _screen(is_error=True).write(text, style)
        return
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def print_json(data: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command; nan and infinity become null. What was left out of it is added."""
    if left_out := current().left_out:
        data = {**data, "not_simulated": left_out}
    sys.stdout.write(json.dumps(plain(data), indent=2, allow_nan=False) + "\n")


def progress() -> Progress:
    """Return a progress display on standard error; it stays silent unless that is a terminal."""
    return _screen(is_error=True).progress()


def width_of_output() -> int:
    """Columns of standard output: what COLUMNS says, or the terminal."""
    return shutil.get_terminal_size((WIDTH_OF_FILES, 0)).columns


def _screen(*, is_error: bool) -> Screen:
    from diskmodel.cli.shared.screen import Screen

    return Screen.of(width_of_output(), is_error=is_error)
