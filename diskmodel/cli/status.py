"""How a command ends: exceptions become a message on standard error and an exit status."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from diskmodel.cli.console import say
from diskmodel.errors import DescriptionError, DiskmodelError, Fault, InputError

# The exit statuses of docs/reference/cli.md, which scripts rely on. 130 and 141 are what a shell reports for SIGINT and
# SIGPIPE: 128 plus the number of the signal.
BUG, BAD_INPUT, NO = 1, 2, 3
INTERRUPTED, PIPE_CLOSED = 130, 141
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def honest_no(reason: str) -> typer.Exit:
    """Return the exit of a command whose answer is no: infeasible, unstable or not converged."""
    say(f"no: {reason}", "bold yellow")
    return typer.Exit(NO)


def ends_well(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap `command` so that every exception ends it with a message and a documented exit status."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except InputError as error:
            say(f"error: {error}", "red")
            raise typer.Exit(error.exit_status) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except MemoryError:
            say("error: out of memory; lower --requests, or use --keep histogram", "red")
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            if _is_ending(error):
                raise
            if isinstance(error, OSError) and error.errno in _DISK_FULL:
                _forget_output()
                say(f"error: output: {(error.strerror or '').lower()}; make room, or write elsewhere", "red")
                raise typer.Exit(BAD_INPUT) from None
            _report_bug(error, bool(options.get("debug")))
            raise typer.Exit(BUG) from None

    return run


def _forget_output() -> None:
    """Discard what is still buffered, so that the interpreter does not fail when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_ending(error: Exception) -> bool:
    """Whether the command-line library raised it to end the command or to report a usage error."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


def _report_bug(error: Exception, is_debugging: bool) -> None:
    if is_debugging:
        sys.stderr.write("".join(traceback.format_exception(error)))
    what = str(error) if isinstance(error, DiskmodelError) else f"{type(error).__name__}: {error}"
    hint = "" if is_debugging else " (a bug in diskmodel; --debug shows the traceback)"
    say(f"error: {' '.join(what.split())}{hint}", "red")


def check_place(path: Path | None, field: str, endings: tuple[str, ...] = ()) -> None:
    """Refuse a path that cannot be written, before time is spent on its contents.

    Raises
    ------
    DescriptionError
        When its directory does not exist, it is a directory itself, or its ending is none of `endings`.
    """
    if path is None:
        return
    fault = None
    if endings and path.suffix.lower() not in endings:
        fault = Fault(field, str(path), "has an unknown file ending", f"use {' or '.join(endings)}")
    elif path.is_dir():
        fault = Fault(field, str(path), "is a directory", "name a file inside it")
    elif not path.parent.is_dir():
        fault = Fault(field, str(path), "is in a directory that does not exist", f"create {path.parent} first")
    elif not os.access(path.parent, os.W_OK):
        fault = Fault(field, str(path), "is in a directory that you cannot write to", "name another file")
    if fault:
        raise DescriptionError(fault)


@contextlib.contextmanager
def writing(path: Path, field: str) -> Iterator[None]:
    """Turn an operating system's refusal to write into a fault of the input."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        raise DescriptionError(Fault(field, str(path), reason, "name another file")) from None
