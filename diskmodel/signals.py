"""Signals as far as a system has them: what ends a program, and an alarm for the main thread."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable
from types import FrameType

#: What ends a program from outside beside Ctrl-C; Windows has no terminal that hangs up.
TERMINATIONS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

Handler = Callable[[int, FrameType | None], object]


def set_alarm(seconds: float, handler: Handler) -> Callable[[], None]:
    """Have `handler` called in the main thread after so many seconds; what it raises is raised there.

    To be called in the main thread. One alarm at a time: a second one replaces the first.

    Returns
    -------
    callable
        Cancels the alarm, and gives its signal back to whom it belonged.
    """
    if not hasattr(signal, "setitimer"):
        return _set_timer(seconds, handler)
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)

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
