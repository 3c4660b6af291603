"""Virtual drives mounted by the command, as a user does it, in a process of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

READY_S = 30.0


def need_fuse() -> None:
    """Skip where nothing can be mounted."""
    if not Path("/dev/fuse").exists():
        pytest.skip("this machine has no /dev/fuse")
    if os.geteuid() != 0:
        pytest.skip("only root mounts without fusermount3, and the tests do not rely on that")
    capabilities = int(Path("/proc/self/status").read_text().partition("CapEff:")[2].split()[0], 16)
    if not capabilities >> 21 & 1:
        pytest.skip("this container may not mount (no CAP_SYS_ADMIN)")


def is_mounted(directory: Path) -> bool:
    return any(line.split()[1] == str(directory) for line in Path("/proc/self/mounts").read_text().splitlines())


@dataclass
class Mount:
    """A mounted virtual drive; `statistics` are there when it has ended."""

    directory: Path
    process: subprocess.Popen[str]
    messages: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: int | None = None

    @property
    def file(self) -> Path:
        return self.directory / "disk"

    def end(self, signum: int = signal.SIGINT) -> None:
        """Stop it and take its statistics."""
        if self.status is None:
            self.process.send_signal(signum)
            out, rest = self.process.communicate(timeout=30)
            self.messages += rest.splitlines()
            self.status = self.process.returncode
            if out:
                self.statistics = json.loads(out)


@contextlib.contextmanager
def mounted(description: object, directory: Path, *options: object) -> Iterator[Mount]:
    """`description` mounted on `directory`, ready; stopped at the end unless the test has done it."""
    need_fuse()
    directory.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "diskmodel", "mount", description, directory, "--json", *options]
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    mount = Mount(directory, process)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            mount.messages.append(line.rstrip())
            if line.startswith("ready"):
                break
        assert mount.messages[-1].startswith("ready"), "\n".join(mount.messages)
        yield mount
    finally:
        if process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                mount.end()
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Whatever is started in here runs on one processor with real-time priority, as far as that is allowed: the virtual
    drive and the program that measures it wake each other without waiting for the rest of the machine."""
    before = os.sched_getaffinity(0)
    scheduler, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
        yield
    finally:
        os.sched_setscheduler(0, scheduler, parameters)
        os.sched_setaffinity(0, before)


def soon(condition: Any, seconds: float = 5.0) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())
