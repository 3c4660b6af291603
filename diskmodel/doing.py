"""What a command is doing, for who ends it before it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_steps: list[str] = []


@contextmanager
def doing(step: str) -> Iterator[Callable[[str], None]]:
    """Name the step that the block does, for example "simulating 30,000 requests"; steps may contain others.

    Yields a function that gives the step other words. Only the main thread counts: what others do is part of its steps.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda words: None
        return
    place = len(_steps)
    _steps.append(step)

    def now(words: str) -> None:
        _steps[place] = words

    try:
        yield now
    finally:
        del _steps[place:]


def what_is_done() -> str:
    """Return what the main thread is doing, the widest step first."""
    return ": ".join(_steps) or "preparing"
