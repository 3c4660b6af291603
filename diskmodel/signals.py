"""Signals as far as a system has them: what ends a program, and an alarm for the main thread."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

#: What ends a program from outside beside Ctrl-C; Windows has no terminal that hangs up.
TERMINATIONS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

Handler = Callable[[int, FrameType | None], object]
Function = TypeVar("Function", bound=Callable[..., object])

#: Where what a signal raises is dropped, or becomes an error of another kind: pydantic builds the validators of a
#: class, or extension modules are loaded (Cython's of `numpy.random`; Rust panics). Of 350 commands with a time limit
#: of 0.6 to 0.76 s beside five others, six went on to their end and four panicked; with this, none of 250.
_DROPPING = frozenset({"pydantic", "pydantic_core", "importlib", "_frozen_importlib", "_frozen_importlib_external"})
#: Seconds until it is tried again; and until an alarm that nobody has canceled comes once more, because what it raised
#: was dropped after all. What ends takes less.
_AGAIN_S, REPEAT_S = 0.05, 10.0


#: What runs to its end before a signal raises something.
_WHOLE: set[CodeType] = set()


def whole(function: Function) -> Function:
    """Let a function, and what it calls, run to its end before a signal raises something in it."""
    _WHOLE.add(function.__code__)
    return function


def raise_in(frame: FrameType | None, error: BaseException) -> None:
    """Raise an error for a signal that arrived in `frame`; a moment later where it would be dropped, or in a `whole`
    function.

    To be called in the main thread, as a signal's handler is.
    """
    at = frame
    while at is not None:
        if at.f_code in _WHOLE or str(at.f_globals.get("__name__")).partition(".")[0] in _DROPPING:
            raise_soon(error)
            return
        at = at.f_back
    raise error


def raise_soon(error: BaseException) -> None:
    """Raise an error in the main thread a moment later."""
    set_alarm(_AGAIN_S, lambda signum, frame: raise_in(frame, error))


def set_alarm(seconds: float, handler: Handler) -> Callable[[], None]:
    """Have `handler` called in the main thread after so many seconds; what it raises is raised there.

    It is called again every `REPEAT_S` until the alarm is canceled, where the system has an alarm clock for processes.

    To be called in the main thread. One alarm at a time: a second one replaces the first.

    Returns
    -------
    callable
        Cancels the alarm, and gives its signal back to whom it belonged.
    """
    if not hasattr(signal, "setitimer"):
        return _set_timer(seconds, handler)
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_S)

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    return cancel


def _set_timer(seconds: float, handler: Handler) -> Callable[[], None]:
    """Do the same with a thread where the system has no alarm clock for processes (Windows).

    A system call that blocks is not interrupted then, only what runs Python or the kernel, which asks for signals.
    SIGABRT exists everywhere, and nobody sends it to a program in order to be handled.
    """
    before = signal.signal(signal.SIGABRT, handler)
    timer = threading.Timer(seconds, _thread.interrupt_main, [signal.SIGABRT])
    timer.daemon = True
    timer.start()

    def cancel() -> None:
        timer.cancel()
        signal.signal(signal.SIGABRT, before)

    return cancel
