"""Show the waves in which Linux writes dirty memory back to a mounted virtual drive, beside those of the model.

    python -m tests.mount.waves DRIVE --writes 100 --seconds 200 [--reads 30] [--throttle-us 0]

DRIVE is a file that describes a drive, or a drive of the catalogue. A program writes 4 KiB at random places of it
through the page cache, and reads 16 KiB that bypass it. It takes root, FUSE, a free loop device, and a machine with the
default settings under /proc/sys/vm.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel import Array, Workload, simulate
from diskmodel.host.page_cache import THROTTLED_DEPTH, UNTHROTTLED_DEPTH
from diskmodel.records import Op
from tests.mount.mounting import mounted

WRITE, READ = 4096, 16384
SAMPLE_S = 0.25
#: A wave has ended when nothing was written for so long.
CALM_S = 2.0
#: Reads that may be in progress at once; a further one would be late.
READERS = 64
#: Memory of the model, whose reads go through it: small against the drive, large against what waits to be written.
MEMORY_BYTES = 1 << 30


@dataclass
class Seen:
    """When the device was written to, and how long reads took."""

    written_s: list[float] = field(default_factory=list)
    reads_s: list[float] = field(default_factory=list)

    def in_words(self, seconds: float) -> str:
        """Return when waves began, and how long they lasted."""
        at = np.array(self.written_s)
        begins = np.flatnonzero(np.diff(at, prepend=-np.inf) > CALM_S)
        ends = np.append(begins[1:], len(at)) - 1
        waves = ", ".join(
            f"{at[first]:.1f} s for {at[last] - at[first]:.1f} s"
            + (" (not over)" if at[last] > seconds - CALM_S else "")
            for first, last in zip(begins, ends, strict=True)
        )
        return f"waves at {waves}" + (
            f"; p99 of reads {np.quantile(self.reads_s, 0.99) * 1e3:.0f} ms" * bool(self.reads_s)
        )


@contextlib.contextmanager
def _loop_device(file: Path) -> Iterator[Path]:
    """Yield a block device of the file: a file on FUSE has a page cache with limits of its own."""
    command = ["losetup", "--find", "--show", "--direct-io=on", str(file)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def _throttle(device: Path, throttle_us: int) -> None:
    """Give the loop device what a hard disk has: its kind, its scheduler, and the limit of write-back throttling."""
    for name, value in (("rotational", 1), ("scheduler", "mq-deadline"), ("wbt_lat_usec", throttle_us)):
        (Path("/sys/block") / device.name / "queue" / name).write_text(str(value))


def _write(device: Path, rate: float, ends_at: float) -> None:
    """Write blocks at random places, so many a second."""
    file = os.open(device, os.O_RDWR)
    n_blocks, block = os.lseek(file, 0, os.SEEK_END) // WRITE, os.urandom(WRITE)
    draws, due = np.random.default_rng(1), time.monotonic()
    while due < ends_at:
        time.sleep(max(due - time.monotonic(), 0))
        os.pwrite(file, block, int(draws.integers(n_blocks)) * WRITE)
        due += 1 / rate


def _read(device: Path, rate: float, ends_at: float, took_s: list[float]) -> None:
    """Read at random places and times, so many a second on average."""
    file = os.open(device, os.O_RDONLY | os.O_DIRECT)
    n_blocks = os.lseek(file, 0, os.SEEK_END) // READ
    draws, due = np.random.default_rng(2), time.monotonic()

    def read_one(place: int, since: float) -> None:
        os.preadv(file, [mmap.mmap(-1, READ)], place)
        took_s.append(time.monotonic() - since)

    with ThreadPoolExecutor(READERS) as readers:
        while due < ends_at:
            time.sleep(max(due - time.monotonic(), 0))
            readers.submit(read_one, int(draws.integers(n_blocks)) * READ, due)
            due += draws.exponential(1 / rate)


def measured(device: Path, writes: float, reads: float, seconds: float) -> Seen:
    """Return what Linux does with the device, to a quarter of a second."""
    seen, began = Seen(), time.monotonic()
    threads = [threading.Thread(target=_write, args=(device, writes, began + seconds))]
    if reads:
        threads.append(threading.Thread(target=_read, args=(device, reads, began + seconds, seen.reads_s)))
    for thread in threads:
        thread.start()
    statistics, before = Path("/sys/block") / device.name / "stat", -1
    while time.monotonic() < began + seconds:
        n_written = int(statistics.read_text().split()[4])
        if n_written > before >= 0:
            seen.written_s.append(time.monotonic() - began)
        before = n_written
        time.sleep(SAMPLE_S)
    for thread in threads:
        thread.join()
    return seen


def modelled(drive: str, writes: float, reads: float, seconds: float, depth: int) -> Seen:
    """Return what the model does: when fewer pages became dirty than were written to the drive."""
    cache = {"memory_bytes": MEMORY_BYTES, "writeback_depth": depth}
    given: dict[str, Any] = {
        "drive": drive,
        "layout": {"level": "raid0", "disks": 1},
        "host": {"is_buffered": True, "page_cache": cache},
    }
    streams = [{"name": "writes", "size_bytes": WRITE, "read_ratio": 0.0, "rate_per_s": writes}]
    if reads:
        streams.append({"name": "reads", "size_bytes": READ, "read_ratio": 1.0, "rate_per_s": reads})
    n_requests = int((writes + reads) * seconds)
    workload = Workload.parse({"streams": streams})
    result = simulate(Array.parse(given), workload, n_requests=n_requests, start="empty", profile_draws=0)
    at_ns, dirty = result.run.levels[:, 0], result.run.levels[:, 3]
    done = result.run.completions
    took_ns = (done.done_ns - done.issue_ns)[result.requests.op == Op.READ]
    return Seen(list(at_ns[1:][np.diff(dirty) < 0] / 1e9), list(took_ns / 1e9))


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drive")
    parser.add_argument("--writes", type=float, default=100, help="a second")
    parser.add_argument("--reads", type=float, default=0, help="a second")
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--throttle-us", type=int, default=75_000, help="wbt_lat_usec; 0: no write-back throttling")
    asked = parser.parse_args()
    depth = THROTTLED_DEPTH if asked.throttle_us else UNTHROTTLED_DEPTH
    with (
        tempfile.TemporaryDirectory() as folder,
        mounted(asked.drive, Path(folder) / "drive") as mount,
        _loop_device(mount.file) as device,
    ):
        _throttle(device, asked.throttle_us)
        print("Linux:", measured(device, asked.writes, asked.reads, asked.seconds).in_words(asked.seconds), flush=True)
    seen = modelled(asked.drive, asked.writes, asked.reads, asked.seconds, depth)
    print("model:", seen.in_words(asked.seconds))


if __name__ == "__main__":
    main()
