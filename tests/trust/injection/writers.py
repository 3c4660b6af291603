"""Runs under the shim: every way to write a file, with a fault at every call, and what the file is afterwards.

    LD_PRELOAD=shim.so INJECT_FOLDER=FOLDER python -m tests.trust.injection.writers FOLDER [WRITER ...] [--no-fsync]

Prints one JSON object: for each writer and kind of fault, how many calls were failed, and what went wrong.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diskmodel.drive import catalogue
from diskmodel.errors import OutputError
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.writers import write_trace
from diskmodel.output import append_line, write_bytes, write_text
from diskmodel.plan.show.plot import save_plot
from diskmodel.workload import Workload

OLD = b"the old content, of which every byte is needed\n"


def requests(n: int = 3000) -> TraceChunk:
    """Requests of a trace; more than one buffer of a compressed file."""
    whole = np.arange(n, dtype=np.int64)
    op, device = np.zeros(n, np.int8), np.zeros(n, np.int32)
    return TraceChunk(whole * 1000, op, whole * 4096, whole * 0 + 4096, whole * 7 % 1000, device, ("sda",))


WORKLOAD = Workload.parse({"size": "4 KiB", "queue_depth": 2})
WRITERS: dict[str, Callable[[Path], object]] = {
    "write_text": lambda path: write_text(path, "new\n" * 10_000),
    "write_bytes": lambda path: write_bytes(path, b""),
    "drive": catalogue()["generic-10k"].save,
    "workload": WORKLOAD.save,
    "trace-csv": lambda path: write_trace(path, requests(), format="csv"),
    "trace-gz": lambda path: write_trace(path, requests(), format="fio-iolog3"),
    "trace-parquet": lambda path: write_trace(path, requests(), format="parquet"),
    "plot-png": lambda path: save_plot(lambda axes: axes.plot([1, 2]), path),
    "plot-svg": lambda path: save_plot(lambda axes: axes.plot([1, 2]), path),
}
ENDINGS = {"plot-svg": ".svg", "plot-png": ".png", "trace-gz": ".gz"}
FAULTS = {"no space": str(errno.ENOSPC), "I/O error": str(errno.EIO), "no memory": str(errno.ENOMEM)}
ENDS = ("kill", "power-kept", "power-undone")

shim = ctypes.CDLL(None)


def arm(at: int, how: str) -> None:
    """Let the call number `at` from now on fail in that way; 0 lets all pass."""
    shim.inject_arm(b"any", at, how.encode())


def clear(folder: Path) -> None:
    """Remove everything in it."""
    for path in folder.iterdir():
        path.unlink()


def trial(folder: Path, name: str, old: bytes | None, at: int, how: str) -> tuple[int, str]:
    """Calls that counted (0: the process ended), and what went wrong."""
    arm(0, "5")
    clear(folder)
    path = folder / f"file{ENDINGS.get(name, '')}"
    if old is not None:
        path.write_bytes(old)
    if how in ENDS:
        count = ended(lambda: WRITERS[name](path), at, how)
        raised = ""
    else:
        count, raised = failed(lambda: WRITERS[name](path), at, how)
    names = sorted(entry.name for entry in folder.iterdir() if entry != path)
    content = path.read_bytes() if path.exists() else None
    problems = []
    if how not in ENDS and names:
        problems.append(f"left {names}")
    if content not in (old, expected(folder, name)):
        problems.append(f"the file has {len(content or b'')} bytes of neither the old nor the new content")
    if how not in ENDS and at <= count and raised == "" and content == old and old != expected(folder, name):
        problems.append("no error was raised")
    if raised not in ("", "OutputError"):
        problems.append(f"raised {raised}")
    return count, "; ".join(problems)


def failed(write: Callable[[], object], at: int, how: str) -> tuple[int, str]:
    """Write with a call that fails: how many calls counted, and the exception's name."""
    arm(at, how)
    raised = ""
    try:
        write()
    except OutputError:
        raised = "OutputError"
    except BaseException as error:
        raised = f"{type(error).__name__}: {error}"
    count = int(shim.inject_count())
    arm(0, "5")
    return count, raised


def ended(write: Callable[[], object], at: int, how: str) -> int:
    """Write in a process that ends at a call: 0 where it ended so, else how many calls counted."""
    process = os.fork()
    if process == 0:
        arm(at, how)
        write()
        count = int(shim.inject_count())
        os._exit(min(count, 250))
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return at
    return os.WEXITSTATUS(status)


_expected: dict[str, bytes] = {}


def expected(folder: Path, name: str) -> bytes:
    """What the writer writes when nothing fails."""
    if name not in _expected:
        path = folder / f"expected{ENDINGS.get(name, '')}"
        WRITERS[name](path)
        _expected[name] = path.read_bytes()
        path.unlink()
    return _expected[name]


def main(folder: Path, names: list[str]) -> dict[str, dict[str, object]]:
    """Every writer, over an old file and without one, with every fault at every call."""
    table: dict[str, dict[str, object]] = {}
    for name in names:
        expected(folder, name)
        for start, old in (("old", OLD), ("none", None)):
            for what, how in {**FAULTS, **{how: how for how in ENDS}}.items():
                found, at = [], 0
                while True:
                    at += 1
                    count, problem = trial(folder, name, old, at, how)
                    if problem:
                        found.append(f"call {at}: {problem}")
                    if count < at or at > 200:
                        break
                table[f"{name}, {start}, {what}"] = {"calls": at - 1, "problems": found}
    table["append"] = appended(folder)
    return table


def appended(folder: Path) -> dict[str, object]:
    """A shared file of lines: whole lines that were there before stay, whatever fails."""
    found = []
    for what, how in FAULTS.items():
        for at in (1, 2):
            clear(folder)
            path = folder / "memory"
            append_line(path, "\nfirst\n")
            failed(lambda path=path: append_line(path, "\nsecond\n"), at, how)  # type: ignore[misc]
            append_line(path, "\nthird\n")
            lines = path.read_text().splitlines()
            if "first" not in lines or "third" not in lines:
                found.append(f"{what} at {at}: {lines}")
    return {"calls": 2, "problems": found}


if __name__ == "__main__":
    if "--no-fsync" in sys.argv:
        os.fsync = lambda handle: None  # a writer that forgets it has to be found
    chosen = [word for word in sys.argv[2:] if word in WRITERS]
    print(json.dumps(main(Path(sys.argv[1]), chosen or list(WRITERS)), indent=1))
