"""The command `diskmodel`: a thin skin over the library, one command a file."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from types import FrameType
from typing import NoReturn

from diskmodel.signals import TERMINATIONS, raise_in, raise_soon

#: New objects between two searches for garbage in cycles; Python's own number is 700. A command makes hundreds of
#: thousands that live to its end, and hardly a cycle: with 700, searching takes 4 % of a plan's processor time, and
#: with 100,000 the one search takes 0.03 s of each command.
_OBJECTS_BETWEEN_SEARCHES = 250_000


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. After a plain KeyboardInterrupt Python may die of the signal in the end although it was handled (seen
    while modules were loading); it does not take a class of our own for an unhandled one."""


def main() -> None:
    """Run the command line of this process; ends it with the exit status that `docs/reference/cli.md` promises."""
    for ending in TERMINATIONS:
        signal.signal(ending, _terminated)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    sys.unraisablehook = _dropped
    # looking for plugins of other packages takes a twentieth of a short command's time, and there is none for it
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # no matrix here is worth a thread; those that NumPy starts for them wait busily for a while, a tenth of a start
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not sys.warnoptions:
        # NumPy's remarks about single operations; what they came to is checked, and reported in words
        warnings.simplefilter("ignore", RuntimeWarning)
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    try:
        from diskmodel.cli.app import app

        try:
            app(prog_name="diskmodel")
        finally:
            sys.stdout.flush()
            # the interpreter searches once more when it ends, through all there is, unless that is set aside
            gc.freeze()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        _end_unread()
    except SystemExit as ending:
        # The library of the command line turns a closed pipe into 1 by itself.
        if isinstance(ending.__context__, BrokenPipeError):
            _end_unread()
        raise


def _end_unread() -> NoReturn:
    """Nobody reads any more; Python must not complain about it when it flushes at exit."""
    from diskmodel.output import discard_stdout

    discard_stdout()
    sys.exit(141)


def _dropped(found: sys.UnraisableHookArgs) -> None:
    """End a moment later where Python drops what a signal raises: in a finalizer, or a callback (loading has some)."""
    ending = found.exc_value
    if not isinstance(ending, (SystemExit, KeyboardInterrupt)):
        sys.__unraisablehook__(found)
        return

    raise_soon(ending)  # at once it would be raised in here, and dropped as well


def _interrupted(signum: int, frame: FrameType | None) -> None:
    raise_in(frame, Interrupted())


def _terminated(signum: int, frame: FrameType | None) -> None:
    """Turn SIGTERM into an exception, so that scratch files and child processes are cleaned up."""
    signal.signal(signum, signal.SIG_IGN)
    raise_in(frame, SystemExit(128 + signum))
