"""What a run will take of time and memory, estimated before it begins: a hopeless one is refused at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from diskmodel.errors import DescriptionError, Fault
from diskmodel.workload import Workload
from diskmodel.workload.arrivals import Closed

#: Longest run in requests when the length is chosen by precision.
MOST_REQUESTS = {"native": 4_000_000, "simpy": 128_000, "histogram": 64_000_000}
#: Bytes that a request and its completion take where they are kept, with their summary, and that one that is out takes.
_ROW_BYTES = {"all": 90, "histogram": 0}
_OUT_BYTES = {"native": 500, "simpy": 4_000}
#: More requests a second of computing time than either engine makes, and the longest time that anybody waits.
_MOST_PER_S = {"native": 20_000_000, "simpy": 200_000}
_LONGEST_S = 86_400
#: A closed stream is measured when each of its clients has come back some times.
_FEWEST_TURNS = 2


def check_effort(
    workload: Workload, *, n_requests: int | None, engine: Literal["native", "simpy"], keep: Literal["all", "histogram"]
) -> None:
    """Refuse a run that cannot come to an end in a day or in this machine's free memory.

    Raises
    ------
    DescriptionError
        Naming the field that is too large, and what would do.
    """
    clients = workload.queue_depth
    most = MOST_REQUESTS["histogram" if keep == "histogram" else engine]
    if n_requests is None and clients * _FEWEST_TURNS > most:
        rule = f"of {clients:,} clients most would not come to a second request in the {most:,} of the longest run"
        fix = f"use at most {most // _FEWEST_TURNS:,}, or give n_requests, or a rate in the place of clients"
        raise DescriptionError(Fault(_field(workload), clients, rule, fix))
    n = n_requests or max(clients, 1)
    per_s = _MOST_PER_S[engine]
    if n > per_s * _LONGEST_S:
        rule = f"would take more than a day even at {per_s:,} requests a second"
        raise DescriptionError(Fault("n_requests", n, rule, f"use at most {per_s * _LONGEST_S:,}"))
    free = free_bytes()
    if free is None:
        return
    rows, out = n * _ROW_BYTES[keep], min(clients, n) * _OUT_BYTES[engine]
    if rows + out <= free:
        return
    need = f"of about {_gigabytes(rows + out)} GB of memory, and {_gigabytes(free)} GB are free"
    if out > rows:
        fits = max(free - rows, 0) // _OUT_BYTES[engine]
        fault = Fault(_field(workload), clients, f"has need {need}", f"use at most {fits:,}")
    else:
        fits = max(free - out, 0) // _ROW_BYTES[keep]
        fault = Fault("n_requests", n, f"has need {need}", f'use at most {fits:,}, or keep="histogram"')
    raise DescriptionError(fault)


def _field(workload: Workload) -> str:
    """The closed stream with the most clients."""
    closed = [(s.arrival.clients, -i) for i, s in enumerate(workload.streams) if isinstance(s.arrival, Closed)]
    return f"workload.streams.{-max(closed)[1]}.clients" if closed else "n_requests"


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f}"


def free_bytes() -> int | None:
    """Memory that this process may still take; None where the system does not tell."""
    try:
        told = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in told if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
