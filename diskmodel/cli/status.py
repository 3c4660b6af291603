"""How a command ends: what it raises becomes a message on standard error and an exit status."""

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

DONE, OWN_FAULT, BAD_INPUT, NO = 0, 1, 2, 3
INTERRUPTED, NOBODY_READS = 130, 141
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def honest_no(reason: str) -> typer.Exit:
    """The end of a command whose answer is no."""
    say(f"no: {reason}", "bold yellow")
    return typer.Exit(NO)


def ends_well(command: Callable[..., None]) -> Callable[..., None]:
    """`command` with every way of ending told as the reference of the commands promises."""

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
            raise typer.Exit(NOBODY_READS) from None
        except MemoryError:
            say("error: this does not fit into memory; lower --requests, or keep a histogram only", "red")
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            if _is_ending(error):
                raise
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                _forget_output()
                say(f"error: output: {(error.strerror or '').lower()}; make room, or write elsewhere", "red")
                raise typer.Exit(BAD_INPUT) from None
            _tell_own_fault(error, bool(options.get("debug")))
            raise typer.Exit(OWN_FAULT) from None

    return run


def _forget_output() -> None:
    """Let what is still to be written go nowhere, so that the interpreter's own end does not fail on it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_ending(error: Exception) -> bool:
    """Whether the command-line library raised it to end the command or to tell a usage error."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


def _tell_own_fault(error: Exception, is_debugging: bool) -> None:
    if is_debugging:
        sys.stderr.write("".join(traceback.format_exception(error)))
    what = str(error) if isinstance(error, DiskmodelError) else f"{type(error).__name__}: {error}"
    hint = "" if is_debugging else " (a fault of diskmodel itself; --debug shows where)"
    say(f"error: {' '.join(what.split())}{hint}", "red")


def check_place(path: Path | None, field: str, endings: tuple[str, ...] = ()) -> None:
    """Refuse a place that cannot be written, before time is spent on what should be written there.

    Raises
    ------
    DescriptionError
        When its folder is not there, it is a folder itself, or its ending is none of `endings`.
    """
    if path is None:
        return
    fault = None
    if endings and path.suffix.lower() not in endings:
        fault = Fault(field, str(path), "has no known ending", f"end it in {' or '.join(endings)}")
    elif path.is_dir():
        fault = Fault(field, str(path), "is a directory", "name a file in it")
    elif not path.parent.is_dir():
        fault = Fault(field, str(path), "its directory does not exist", f"create {path.parent} first")
    elif not os.access(path.parent, os.W_OK):
        fault = Fault(field, str(path), "its directory may not be written", "name another place")
    if fault:
        raise DescriptionError(fault)


@contextlib.contextmanager
def writing(path: Path, field: str) -> Iterator[None]:
    """Turn an operating system's refusal to write into a fault of the input."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        raise DescriptionError(Fault(field, str(path), reason, "name another place")) from None
