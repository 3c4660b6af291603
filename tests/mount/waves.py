"""Show the waves in which Linux writes dirty memory back to a mounted virtual drive, beside those of the model.

    python -m tests.mount.waves DESCRIPTION RATE SECONDS

DESCRIPTION is a file that describes a drive, or a drive of the catalogue. A program writes 4 KiB at random places of it
through the page cache, at RATE a second for SECONDS. It takes root, FUSE, a free loop device, and a machine with the
default settings under /proc/sys/vm.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel import Array, Workload, simulate
from tests.mount.mounting import mounted

BLOCK = 4096
SAMPLE_S = 0.25
#: A wave has ended when nothing was written for so long.
CALM_S = 2.0


@contextlib.contextmanager
def _loop_device(file: Path) -> Iterator[Path]:
    """Yield a block device of the file: a file on FUSE has a page cache with limits of its own."""
    command = ["losetup", "--find", "--show", "--direct-io=on", str(file)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def _write(device: Path, rate: float, ends_at: float) -> None:
    """Write blocks at random places, so many a second."""
    file = os.open(device, os.O_RDWR)
    n_blocks, block = os.lseek(file, 0, os.SEEK_END) // BLOCK, os.urandom(BLOCK)
    draws, due = np.random.default_rng(1), time.monotonic()
    while due < ends_at:
        time.sleep(max(due - time.monotonic(), 0))
        os.pwrite(file, block, int(draws.integers(n_blocks)) * BLOCK)
        due += 1 / rate


def measured(device: Path, rate: float, seconds: float) -> NDArray[np.float64]:
    """Return when Linux wrote to the device, to a quarter of a second."""
    began = time.monotonic()
    writer = threading.Thread(target=_write, args=(device, rate, began + seconds), daemon=True)
    writer.start()
    statistics, before, written_s = Path("/sys/block") / device.name / "stat", -1, []
    while time.monotonic() < began + seconds:
        n_written = int(statistics.read_text().split()[4])
        if n_written > before >= 0:
            written_s.append(time.monotonic() - began)
        before = n_written
        time.sleep(SAMPLE_S)
    writer.join()
    return np.array(written_s)


def modelled(description: str, rate: float, seconds: float) -> NDArray[np.float64]:
    """Return when fewer pages became dirty in the model than were written to the drive."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    given: dict[str, Any] = {
        "drive": description,
        "layout": {"level": "raid0", "disks": 1},
        "host": {"is_buffered": True, "page_cache": {"memory_bytes": memory}},
    }
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate_per_s": rate})
    n_requests = int(rate * seconds)
    result = simulate(Array.parse(given), workload, n_requests=n_requests, start="empty", profile_draws=0)
    at_ns, dirty = result.run.levels[:, 0], result.run.levels[:, 3]
    return np.asarray(at_ns[1:][np.diff(dirty) < 0] / 1e9)


def in_words(written_s: NDArray[np.float64], seconds: float) -> str:
    """Return when waves began, and how long they lasted."""
    begins = np.flatnonzero(np.diff(written_s, prepend=-np.inf) > CALM_S)
    ends = np.append(begins[1:], len(written_s)) - 1
    pairs = ((written_s[first], written_s[last]) for first, last in zip(begins, ends, strict=True))
    return ", ".join(
        f"{first:.1f} s for {last - first:.1f} s" + (" (not over)" if last > seconds - CALM_S else "")
        for first, last in pairs
    )


def main(description: str, rate: float, seconds: float) -> None:
    """Print both."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mounted(description, Path(folder) / "drive") as mount,
        _loop_device(mount.file) as device,
    ):
        print("Linux:", in_words(measured(device, rate, seconds), seconds))
    print("model:", in_words(modelled(description, rate, seconds), seconds))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
