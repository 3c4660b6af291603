"""One call: an array, a directory, and a file in it that answers as the array would, until it is stopped."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.errors import Fault, MountError
from diskmodel.host.description import Host
from diskmodel.mount import place, store
from diskmodel.mount.store import DATA_KINDS, DataKind

#: Name of the file in the mounted directory.
FILE_NAME = "disk"
#: Real-time priority of the server, low among real-time threads.
_PRIORITY = 10
_NEEDS = "a virtual drive runs in the native kernel, which does not cover it"


@dataclass(frozen=True)
class Served:
    """What a virtual drive did while it was mounted.

    Attributes
    ----------
    n_reads, n_writes, n_flushes : int
    read_bytes, write_bytes : int
    n_data_errors : int
        Requests whose data could not be stored or fetched; they were answered with an I/O error.
    most_outstanding : int
        Requests under way at once.
    busy_s : float
        From the first request to the last answer (s).
    late_p50_ns, late_p99_ns, late_max_ns : int
        How much later than the model said the answers were given.
    is_unmounted : bool
        Somebody else unmounted it; else it was stopped.
    is_realtime : bool
        The server ran with real-time priority.
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
        """Requests per second from the first request to the last answer; 0 when there were none."""
        return self.n_requests / self.busy_s if self.busy_s > 0 else 0.0


class Stopper:
    """Ends a `serve` that runs in another thread, or from a signal handler."""

    def __init__(self) -> None:
        self.fd, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def wakeup_fd(self) -> int:
        """What `signal.set_wakeup_fd` may write to."""
        return self._writing

    def stop(self) -> None:
        """Ask the server to end; again does no harm."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writing, b"\0")

    def close(self) -> None:
        """Give the pipe back."""
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
    """Serve `array` as the file `disk` in `directory` until `stopper` says so or somebody unmounts it.

    The simulation runs along with the clock: each answer is given when the model has it completed. The host in the
    description is left out, because this machine is the host.

    Parameters
    ----------
    array : Array
    directory : path
        Empty; mounted on, and unmounted at the end.
    stopper : Stopper
    data : {"sparse-file", "memory", "zero"}
        Where data are kept.
    data_folder : Path, optional
        Of the sparse file; the system's temporary folder unless given.
    size_bytes : int, optional
        Present only the first bytes of the array; all of it unless given.
    time_scale : float
        Seconds that a second of the model lasts; above 0.
    is_realtime : bool
        Ask for real-time priority; does without where that is not allowed.
    seed : int
        Draws the spindles' angles and cache hits, where they are random.
    on_ready : callable, optional
        Called with the file and its size as soon as it can be used.

    Returns
    -------
    Served

    Raises
    ------
    MountError
        When the directory or FUSE is not fit, or the size or the array cannot be served.
    DescriptionError
        When parts of the array do not fit each other.
    CoverageError
        When the kernel's tables cannot hold the array.
    """
    directory = Path(directory)
    scenario = replace(resolve(array, seed), host=Host())
    if (reason := native.cannot_serve(scenario)) is not None:
        raise MountError(Fault("description", reason, _NEEDS, "describe it without"))
    if data not in DATA_KINDS:
        raise MountError(Fault("data", data, "is no kind of store", f"use {', '.join(DATA_KINDS)}"))
    if not 1e-9 <= time_scale <= 1e9:
        raise MountError(Fault("time_scale", time_scale, "must be 1e-9 to 1e9", "use 1 for real time"))
    capacity = scenario.layout.capacity * scenario.drive.sector_bytes
    size = capacity if size_bytes is None else size_bytes
    if not 0 < size <= capacity:
        raise MountError(Fault("size", size, f"must be at most the array's {capacity} bytes", "leave it out"))
    place.check(directory)
    with (
        store.opened(data, size, data_folder) as store_fd,
        place.mounted(directory) as fuse_fd,
        _priority(is_realtime) as has_priority,
    ):
        settings = {
            "fuse_fd": fuse_fd, "stop_fd": stopper.fd, "store_fd": store_fd, "size_bytes": size, "uid": os.getuid(),
            "gid": os.getgid(), "mounted_unix_s": int(time.time()), "time_scale": time_scale, "seed": seed,
        }  # fmt: skip
        if on_ready is not None:
            on_ready(directory / FILE_NAME, size)
        counts = native.serve(scenario, settings)
    busy_s = counts.pop("busy_ns") / 1e9
    return Served(busy_s=busy_s, is_realtime=has_priority, **counts)


@contextlib.contextmanager
def _priority(is_wanted: bool):  # type: ignore[no-untyped-def]
    """Real-time priority for this thread, where it is allowed; yields whether it is."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        if is_wanted:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        is_wanted = False
    try:
        yield is_wanted
    finally:
        if is_wanted:
            os.sched_setscheduler(0, *before)
