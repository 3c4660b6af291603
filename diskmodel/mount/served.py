"""Serve an array as a file in a directory that responds with the array's timing, until it is stopped."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from diskmodel.array import Array
from diskmodel.engine import native, resolve
from diskmodel.errors import Fault, MountError
from diskmodel.host import Host
from diskmodel.loading import dataclass
from diskmodel.mount import place, store
from diskmodel.mount.store import DATA_KINDS, DataKind

#: Name of the file in the mounted directory.
FILE_NAME = "disk"
#: Real-time priority of the server, 1 to 99. 10 preempts all ordinary threads, but not the real-time threads of the
#: kernel (50), which complete the real I/O.
_PRIORITY = 10
_NOT_SERVED = "is not supported by the native kernel, which serves virtual drives"


@dataclass(frozen=True)
class Served:
    """Statistics of a virtual drive while it was mounted.

    Attributes
    ----------
    n_reads, n_writes, n_flushes : int
    read_bytes, write_bytes : int
    n_data_errors : int
        Requests whose data could not be stored or read; they failed with an I/O error.
    most_outstanding : int
        Largest number of requests in progress at once.
    busy_s : float
        Seconds from the first request to the last completion.
    late_p50_ns, late_p99_ns, late_max_ns : int
        Delay of completions relative to their simulated time.
    is_unmounted : bool
        Whether another program unmounted it; otherwise it was stopped.
    is_realtime : bool
        Whether the server ran with real-time priority.
    """

    n_reads: int
    n_writes: int
    n_flushes: int
    read_bytes: int
    write_bytes: int
    n_data_errors: int
    most_outstanding: int
    busy_s: float
    late_p50_ns: int
    late_p99_ns: int
    late_max_ns: int
    is_unmounted: bool
    is_realtime: bool

    @property
    def n_requests(self) -> int:
        """Reads and writes."""
        return self.n_reads + self.n_writes

    @property
    def iops(self) -> float:
        """Requests per second from the first request to the last completion; 0 when there were none."""
        return self.n_requests / self.busy_s if self.busy_s > 0 else 0.0


class Stopper:
    """Stops a `serve` that runs in another thread, also from a signal handler."""

    def __init__(self) -> None:
        self.fd, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def wakeup_fd(self) -> int:
        """The descriptor to pass to `signal.set_wakeup_fd`."""
        return self._writing

    def stop(self) -> None:
        """Ask the server to stop; further calls have no effect."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writing, b"\0")

    def close(self) -> None:
        """Close the pipe."""
        os.close(self.fd)
        os.close(self._writing)


def serve(
    array: Array,
    directory: str | Path,
    stopper: Stopper,
    *,
    data: DataKind = "sparse-file",
    data_folder: Path | None = None,
    size_bytes: int | None = None,
    time_scale: float = 1.0,
    is_realtime: bool = True,
    seed: int = 0,
    on_ready: Callable[[Path, int], None] | None = None,
) -> Served:
    """Serve `array` as the file `disk` in `directory` until `stopper` stops it or another program unmounts it.

    The simulation runs in step with the clock: each request completes when the model completes it. The host in the
    description is ignored, because this machine is the host.

    Parameters
    ----------
    array : Array
    directory : path
        An empty directory; it is the mount point until the end.
    stopper : Stopper
    data : {"sparse-file", "memory", "zero"}
        Where data are kept.
    data_folder : Path, optional
        Directory of the sparse file; default: the system's temporary directory.
    size_bytes : int, optional
        Present only the first bytes of the array; default: all of it.
    time_scale : float
        Real seconds per simulated second; above 0.
    is_realtime : bool
        Request real-time priority; continue without it where it is not allowed.
    seed : int
        Seed of the spindles' angles and of cache hits, where they are random.
    on_ready : callable, optional
        Called with the file and its size as soon as it can be used.

    Returns
    -------
    Served

    Raises
    ------
    MountError
        When the directory or FUSE cannot be used, or the array or the size cannot be served.
    DescriptionError
        When parts of the array contradict each other.
    CoverageError
        When the array is too large for the kernel's tables.
    """
    directory = Path(directory)
    if array.drive.zones_in_order is not None:
        rule = "has zones that are written in order, and programs write to a file anywhere"
        raise MountError(Fault("drive", array.drive.name, rule, "use another drive"))
    scenario = replace(resolve(array, seed), host=Host())
    if (reason := native.cannot_serve(scenario)) is not None:
        raise MountError(Fault("description", reason, _NOT_SERVED, "remove it from the description"))
    if data not in DATA_KINDS:
        raise MountError(Fault("data", data, "is not a known kind of store", f"use {', '.join(DATA_KINDS)}"))
    if not 1e-9 <= time_scale <= 1e9:
        raise MountError(Fault("time_scale", time_scale, "must be between 1e-9 and 1e9", "use 1 for real time"))
    capacity = scenario.layout.capacity * scenario.drive.sector_bytes
    size = capacity if size_bytes is None else size_bytes
    if not 0 < size <= capacity:
        raise MountError(
            Fault("size", size, f"must be at most the array's {capacity} bytes", "lower it, or leave it out")
        )
    place.check(directory)
    with (
        store.opened(data, size, data_folder) as store_fd,
        place.mounted(directory) as fuse_fd,
        _priority(is_realtime) as has_priority,
    ):
        settings = {
            "fuse_fd": fuse_fd,
            "stop_fd": stopper.fd,
            "store_fd": store_fd,
            "size_bytes": size,
            "uid": os.getuid(),
            "gid": os.getgid(),
            "mounted_unix_s": int(time.time()),
            "time_scale": time_scale,
            "seed": seed,
        }
        if on_ready is not None:
            on_ready(directory / FILE_NAME, size)
        counts = native.serve(scenario, settings)
    busy_s = counts.pop("busy_ns") / 1e9
    return Served(busy_s=busy_s, is_realtime=has_priority, **counts)


@contextlib.contextmanager
def _priority(is_requested: bool) -> Iterator[bool]:
    """Run with real-time priority where that is requested and allowed; yield whether it is."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        if is_requested:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        is_requested = False
    try:
        yield is_requested
    finally:
        if is_requested:
            os.sched_setscheduler(0, *before)
