"""What a check is: an input drawn by a generator of random numbers, and what has to hold of it.

Each check stands once. `test_short.py` lets hypothesis make the choices, a hundred inputs each, so that a failure is
shrunk; `python -m tests.fuzz` makes them by the number of the input, a million each, so that a failure is repeated
by its number.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

#: Draws an input and checks it; whether it was understood, which is neither good nor bad: it shows whether the inputs
#: are damaged so much that all of them are refused at once. Anything raised is a failure.
Run = Callable[[Random], bool]


@dataclass(frozen=True)
class Check:
    """One parser, loader or engine under fuzzing.

    Attributes
    ----------
    name : str
    run : Run
    share : int
        One input of the long tier for this many of others, where an input takes long.
    """

    name: str
    run: Run
    share: int = 1

    def run_number(self, number: int) -> bool:
        """Check the input of that number: the same one whenever and wherever."""
        return self.run(Random(f"{self.name} {number}"))


CHECKS: dict[str, Check] = {}


def check(name: str, share: int = 1) -> Callable[[Run], Run]:
    """Enter a function among the checks."""

    def enter(run: Run) -> Run:
        if name in CHECKS:
            raise ValueError(f"{name}: is a check already")
        CHECKS[name] = Check(name, run, share)
        return run

    return enter


def on_disk(data: bytes, name: str = "input") -> Path:
    """A file of these bytes, for readers that take a path; the next input overwrites it."""
    path = _folder() / f"{name}-{os.getpid()}"
    with open(path, "wb") as file:
        file.write(data)
    return path


_scratch: tempfile.TemporaryDirectory[str] | None = None


def _folder() -> Path:
    """In memory where that can be had: a million small files wear a disk out for nothing."""
    global _scratch
    if _scratch is None:
        memory = "/dev/shm"
        _scratch = tempfile.TemporaryDirectory(
            prefix="diskmodel-fuzz-", dir=memory if os.access(memory, os.W_OK) else None
        )
        atexit.register(_scratch.cleanup)
    return Path(_scratch.name)
