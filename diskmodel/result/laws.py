"""Conservation laws of every run, whatever was simulated. A violation is a bug of the program and raises.

Each is checked exactly, in integers, over the whole run: nothing lost, time parts that add up, the population of a
closed stream, the utilization law's bound. Little's law over a whole run is none of them: the number in system
integrates to the sum of all responses whatever the times are, since each request adds its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import ConservationError
from diskmodel.records import Int64, Requests, Run

#: Rows that are looked at in one go.
_PIECE = 1 << 18


def check_laws(requests: Requests, run: Run) -> None:
    """Raise where a run breaks a law.

    Raises
    ------
    ConservationError
        Naming the law and the first row or disk that breaks it.
    """
    _check_rows(requests, run)
    _check_parts(run)
    _check_population(requests, run)
    check_devices(run)


def _in_order(values: Int64) -> Int64:
    """Sorted; the same array where it is already. Completions are nearly so, which a stable sort makes use of."""
    return values if (values[:-1] <= values[1:]).all() else np.sort(values, kind="stable")


def exact_sum(values: Int64 | NDArray[np.int32]) -> int:
    """Sum as a Python integer, without overflow of the total."""
    return sum(int(values[start : start + 4096].sum(dtype=np.int64)) for start in range(0, len(values), 4096))


def sum_of_responses(issue_ns: Int64, done_ns: Int64) -> int:
    """Sum of all responses as a Python integer."""
    pieces = (slice(first, first + _PIECE) for first in range(0, len(done_ns), _PIECE))
    return sum(exact_sum(done_ns[piece] - issue_ns[piece]) for piece in pieces)


def _check_rows(requests: Requests, run: Run) -> None:
    done = run.completions
    n = len(requests)
    if len(done.issue_ns) != n or len(done.done_ns) != n:
        raise ConservationError(f"{n} requests went in and {len(done.done_ns)} came out")
    _first(done.issue_ns < 0, "was issued before time 0")
    _first(done.done_ns < done.issue_ns, "completed before it was issued, or never")
    _first(done.done_ns > run.end_ns, "completed after the end of the run")
    _first(requests.are_open & (done.issue_ns != requests.when_ns), "of an open stream was not issued in time")


def _check_parts(run: Run) -> None:
    done = run.completions
    for first in range(0, len(done.done_ns), _PIECE):
        piece = slice(first, first + _PIECE)
        parts = done.parts_ns[piece]
        if parts.min(initial=0) < 0:
            _first((parts < 0).any(axis=1), "spent a negative time somewhere", offset=first)
        # part by part: a sum along rows of nine takes three times as long
        total = parts[:, 0].astype(np.int64)
        for part in range(1, parts.shape[1]):
            total += parts[:, part]
        _first(total != done.done_ns[piece] - done.issue_ns[piece], "has time parts that do not add up", offset=first)


def _check_population(requests: Requests, run: Run) -> None:
    """Request k of a stream of c clients, in order of issue, is not issued before completion k - c."""
    done = run.completions
    for index, rule in enumerate(requests.streams):
        rows = slice(None) if len(requests.streams) == 1 else requests.stream == index
        if rule.n_clients == 0:
            continue
        came, left = _in_order(done.issue_ns[rows]), _in_order(done.done_ns[rows])
        if (left[: max(len(left) - rule.n_clients, 0)] > came[rule.n_clients :]).any():
            n_left = np.searchsorted(left, came, side="right")
            most = int((np.arange(1, len(came) + 1) - n_left).max())
            raise ConservationError(f"stream {rule.name}: {most} requests outstanding with {rule.n_clients} clients")


def check_devices(run: Run) -> None:
    """U = X S, so no disk can be busy longer than the run lasted."""
    for kind, devices in {"disk": run.devices, **run.own}.items():
        for name in ("busy_ns", "response_ns", "n_reads", "n_writes", "read_bytes", "write_bytes", "n_cache_hits"):
            _first(getattr(devices, name) < 0, f"has a negative {name}", kind)
        _first(devices.busy_ns > run.end_ns, f"was busy longer than the run of {run.end_ns} ns (U = X S > 1)", kind)


def _first(broken: NDArray[np.bool_] | np.bool_, what: str, kind: str = "request", offset: int = 0) -> None:
    if broken.any():
        raise ConservationError(f"{kind} {offset + int(np.argmax(broken))} {what}")
