"""How a command ends: exceptions become a message on standard error and an exit status."""

from __future__ import annotations

import errno
import functools
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from diskmodel.cli.shared.console import say, stdout_taken
from diskmodel.errors import DescriptionError, DiskmodelError, Fault, InputError
from diskmodel.input import one_command
from diskmodel.output import STDOUT, check_output, discard_stdout

# The exit statuses of docs/reference/cli.md, which scripts rely on. 130 and 141 are what a shell reports for SIGINT and
# SIGPIPE: 128 plus the number of the signal.
BUG, BAD_INPUT, NO = 1, 2, 3
INTERRUPTED, PIPE_CLOSED = 130, 141
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TimeLimitReached(KeyboardInterrupt):
    """The time of the command is over. What heeds Ctrl-C heeds it as well: threads, processes and scratch files end."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def no_answer(reason: str) -> typer.Exit:
    """Return the exit of a command whose answer is no: infeasible, unstable or not converged."""
    say(f"no: {reason}", "bold yellow")
    return typer.Exit(NO)


def ends_well(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap `command` so that every exception ends it with a message and a documented exit status."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            with one_command(), stdout_taken(_is_stdout_taken(options)):
                command(*args, **options)
            sys.stdout.flush()
        except InputError as error:
            say(f"error: {error}", "red")
            raise typer.Exit(error.exit_status) from None
        except TimeLimitReached as reached:
            raise no_answer(str(reached.fault)) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            discard_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except MemoryError:
            say("error: out of memory; lower --requests, or use --keep histogram", "red")
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            if _is_ending(error):
                raise
            if isinstance(error, OSError) and error.errno in _DISK_FULL:
                discard_stdout()
                say(f"error: output: {(error.strerror or '').lower()}; make room, or write elsewhere", "red")
                raise typer.Exit(BAD_INPUT) from None
            _report_bug(error, bool(options.get("debug")))
            raise typer.Exit(BUG) from None

    return run


def _is_stdout_taken(options: Mapping[str, Any]) -> bool:
    """Whether a file that the command writes goes to standard output.

    Raises
    ------
    DescriptionError
        When the JSON document would go there too.
    """
    taken = [name for name, value in options.items() if isinstance(value, Path) and str(value) == STDOUT]
    if taken and options.get("as_json"):
        rule = "is standard output, which the document of --json takes"
        raise DescriptionError(Fault(taken[0], STDOUT, rule, "name a file, or leave out --json"))
    return bool(taken)


def _is_ending(error: Exception) -> bool:
    """Whether the command-line library raised it to end the command or to report a usage error."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


def _report_bug(error: Exception, is_debugging: bool) -> None:
    if is_debugging:
        sys.stderr.write("".join(traceback.format_exception(error)))
    what = str(error) if isinstance(error, DiskmodelError) else f"{type(error).__name__}: {error}"
    hint = "" if is_debugging else " (a bug in diskmodel; --debug shows the traceback)"
    say(f"error: {' '.join(what.split())}{hint}", "red")


def check_place(path: Path | None, field: str, endings: tuple[str, ...] = (), *, is_claimed: bool = True) -> None:
    """Refuse a place that cannot be written, before time is spent on what should be written there.

    Says where a file is there that the result will replace.

    Raises
    ------
    DescriptionError
        When its ending is none of `endings`.
    OutputError
        As `diskmodel.output.check_output`.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        fix = f"use {' or '.join(endings)}"
        raise DescriptionError(Fault(field, str(path), "has an unknown file ending", fix))
    check_output(path, field, is_claimed=is_claimed)
    if is_claimed and str(path) != STDOUT and path.is_file():
        say(f"{path} exists: the result will replace it")
