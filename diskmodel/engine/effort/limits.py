"""What a run, and a question, may take at most; an impossible run is refused at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from diskmodel.array import Array
from diskmodel.drive import KINDS
from diskmodel.engine.effort.prices import RECORD_KEPT_BYTES
from diskmodel.errors import DescriptionError, Fault
from diskmodel.workload import Closed, Workload

#: Longest run in requests when precision chooses the length. Half of it gives wider intervals to workloads that never
#: reach the precision; double makes them take twice as long.
MAX_REQUESTS: dict[str, int] = {"native": 4_000_000, "simpy": 128_000, "histogram": 64_000_000} | {
    kind: drive.own_effort.most_requests for kind, drive in KINDS.items() if drive.own_effort is not None
}
#: Bytes per request and completion that are kept, with their summary; and per outstanding request. At half of them
#: runs begin that end for lack of memory; at double, runs are refused that would fit.
_ROW_BYTES = {"all": 90, "histogram": 0}
_OUT_BYTES = {"native": 500, "simpy": 4_000}
#: Bytes of a strip of a request that waits at a drive: 437 of 1 GiB in strips of 4 KiB took 4.8 GB. At half, runs begin
#: that end for lack of memory; at double, some are refused that fit.
_STRIP_BYTES = 40
#: Requests per second of computing time that neither engine exceeds, and the longest run allowed, seconds.
_MAX_PER_S = {"native": 20_000_000, "simpy": 200_000}
_LONGEST_S = 86_400
#: Computing time, seconds, that one question takes by itself for its run, for other angles, and for all draws of what
#: is not known; and for looks at what a request costs. At half of it intervals are wider where requests are rare or
#: large; at double, a command takes up to a minute.
RUNS_S, LOOK_S = 4.0, 0.3
#: Memory that what a run keeps may take, bytes; and that of the fewest requests that say something, of which each may
#: take a part: twenty reads of 1 GiB from records of 16 KiB would take 1.6 GB.
RUN_BYTES, MOST_BYTES = 280_000_000, 200_000_000
#: Memory of each of several runs, bytes: some are made at the same time.
EACH_BYTES = 200_000_000
#: Fewest requests of a run that say something about latency, and of those that only show how much a change moves it.
LEAST, LEAST_OF_MOVED = 20, 8
#: Requests that each client of a closed stream has to make before anything can be measured.
_MIN_TURNS = 2


def check_effort(
    workload: Workload, *, n_requests: int | None, engine: Literal["native", "simpy"], keep: Literal["all", "histogram"]
) -> None:
    """Refuse a run that would take more than a day, or more than this machine's free memory.

    Raises
    ------
    DescriptionError
        With the field that is too large, and the largest value that is possible.
    """
    clients = workload.queue_depth
    most = MAX_REQUESTS["histogram" if keep == "histogram" else engine]
    if n_requests is None and clients * _MIN_TURNS > most:
        rule = f"most of the {clients:,} clients would not make a second request in the longest run ({most:,} requests)"
        fix = f"use at most {most // _MIN_TURNS:,}, or give n_requests, or use a rate instead of clients"
        raise DescriptionError(Fault(_field(workload), clients, rule, fix))
    n = n_requests or max(clients, 1)
    per_s = _MAX_PER_S[engine]
    if n > per_s * _LONGEST_S:
        rule = f"would take more than a day even at {per_s:,} requests per second"
        raise DescriptionError(Fault("n_requests", n, rule, f"use at most {per_s * _LONGEST_S:,}"))
    free = free_bytes()
    if free is None:
        return
    rows, out = n * _ROW_BYTES[keep], min(clients, n) * _OUT_BYTES[engine]
    if rows + out <= free:
        return
    need = f"needs about {_gigabytes(rows + out)} GB of memory, and {_gigabytes(free)} GB are free"
    if out > rows:
        fits = max(free - rows, 0) // _OUT_BYTES[engine]
        fault = Fault(_field(workload), clients, need, f"use at most {fits:,}")
    else:
        fits = max(free - out, 0) // _ROW_BYTES[keep]
        fault = Fault("n_requests", n, need, f'use at most {fits:,}, or keep="histogram"')
    raise DescriptionError(fault)


def check_room(array: Array, workload: Workload, n_requests: int) -> None:
    """Refuse a run that would take more than the free memory for what its requests are made of.

    A request of 1 GiB is 262,144 strips of 4 KiB; as many wait for each that a client sends, or that comes while drives
    cannot keep up.

    Raises
    ------
    DescriptionError
        With the number of requests that fits.
    """
    free = free_bytes()
    if free is None or array.drive.stands_alone or not workload.mean_size_bytes:  # flushes alone have no parts
        return
    tables = array.tables()
    unit = tables.strip * array.drive.sector_bytes
    parts = max(workload.mean_size_bytes / unit, 1.0)
    each = parts * (_STRIP_BYTES if tables.has_strips else RECORD_KEPT_BYTES)
    offered_per_s = workload.offered_rate_per_s
    late = max(1 - moved_per_s(array, workload) / offered_per_s, 0.0) if offered_per_s else 0.0
    clients = min(workload.queue_depth, n_requests)
    n_waiting = max(clients, late * n_requests)
    if each * n_waiting > free:
        need = f"needs about {_gigabytes(int(each * n_waiting))} GB of memory, and {_gigabytes(free)} GB are free"
        rule = f"{need}: {n_waiting:,.0f} requests wait, of {parts:,.0f} parts each"
        most = int(free / each / (1.0 if n_waiting == clients else late))
        fix = f"use at most {most:,}" if most else "use smaller requests"
        raise DescriptionError(Fault("n_requests", n_requests, rule, f"{fix}, or leave it out"))


def moved_per_s(array: Array, workload: Workload) -> float:
    """Return how many requests of this size all disks together read in a second at most."""
    return array.layout.disks * array.drive.sequential_bytes_per_s / workload.mean_size_bytes


def _field(workload: Workload) -> str:
    """Return the field of the closed stream with the most clients."""
    closed = [(s.arrival.clients, -i) for i, s in enumerate(workload.streams) if isinstance(s.arrival, Closed)]
    return f"workload.streams.{-max(closed)[1]}.clients" if closed else "n_requests"


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f}"


def free_bytes() -> int | None:
    """Return the memory that this process may still take; None where the system does not report it."""
    found = [free for free in (_available_bytes(), _allowed_bytes()) if free is not None]
    return min(found, default=None)


def _allowed_bytes() -> int | None:
    """Return what `ulimit -v` leaves; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return limit
    return max(limit - taken, 0)


def _available_bytes() -> int | None:
    """Return the memory of the system that is free; None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
