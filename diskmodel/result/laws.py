"""Laws that hold in every run, whatever was simulated. A broken one is our own fault and raises.

Each is checked exactly, in integers, over the whole run: nothing lost, time parts that add up, the population of a
closed stream, Little's law, the utilisation law's bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import ConservationError
from diskmodel.records import Int64, Requests, Run


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
    _check_little(run)
    check_devices(run)


def number_in_system_integral(issue_ns: Int64, done_ns: Int64) -> int:
    """Integral of the number in system over time, by a sweep over the sorted events; exact, request · ns."""
    time, change = _events(issue_ns, done_ns)
    inside = np.cumsum(change)[:-1]
    return exact_sum(inside * np.diff(time))


def exact_sum(values: Int64) -> int:
    """Sum as a Python integer, without overflow of the total."""
    return sum(int(values[start : start + 4096].sum()) for start in range(0, len(values), 4096))


def _events(issue_ns: Int64, done_ns: Int64) -> tuple[Int64, Int64]:
    """Times in order and the change of the number in system at each; completions first at the same instant."""
    time = np.concatenate([np.sort(done_ns), np.sort(issue_ns)])
    change = np.repeat(np.array([-1, 1], dtype=np.int64), len(issue_ns))
    order = np.argsort(time, kind="stable")
    return time[order], change[order]


def _check_rows(requests: Requests, run: Run) -> None:
    done = run.completions
    n = len(requests)
    if len(done.issue_ns) != n or len(done.done_ns) != n:
        raise ConservationError(f"{n} requests went in and {len(done.done_ns)} came out")
    _first(done.issue_ns < 0, "was issued before time 0")
    _first(done.done_ns < done.issue_ns, "completed before it was issued, or never")
    _first(done.done_ns > run.end_ns, "completed after the end of the run")
    is_open = np.array([rule.n_clients == 0 for rule in requests.streams], dtype=np.bool_)
    _first(is_open[requests.stream] & (done.issue_ns != requests.when_ns), "of an open stream was not issued in time")


def _check_parts(run: Run) -> None:
    done = run.completions
    _first((done.parts_ns < 0).any(axis=1), "spent a negative time somewhere")
    _first(done.parts_ns.sum(axis=1) != done.done_ns - done.issue_ns, "has time parts that do not add up")


def _check_population(requests: Requests, run: Run) -> None:
    for index, rule in enumerate(requests.streams):
        rows = requests.stream == index
        if rule.n_clients == 0 or not rows.any():
            continue
        _, change = _events(run.completions.issue_ns[rows], run.completions.done_ns[rows])
        most = int(np.cumsum(change).max())
        if most > rule.n_clients:
            raise ConservationError(f"stream {rule.name}: {most} requests outstanding with {rule.n_clients} clients")


def _check_little(run: Run) -> None:
    """N = X R over the whole run: it begins and ends empty, so both are the same integral, counted in two ways."""
    done = run.completions
    integral = number_in_system_integral(done.issue_ns, done.done_ns)
    responses = exact_sum(done.done_ns - done.issue_ns)
    if integral != responses:
        raise ConservationError(
            f"Little's law: the number in system integrates to {integral}, responses to {responses}"
        )


def check_devices(run: Run) -> None:
    """U = X S, so no disk can be busy longer than the run lasted."""
    devices = run.devices
    for name in ("busy_ns", "response_ns", "n_reads", "n_writes", "read_bytes", "write_bytes", "n_cache_hits"):
        _first(getattr(devices, name) < 0, f"has a negative {name}", "disk")
    _first(devices.busy_ns > run.end_ns, f"was busy longer than the run of {run.end_ns} ns (U = X S > 1)", "disk")


def _first(broken: NDArray[np.bool_] | np.bool_, what: str, kind: str = "request") -> None:
    if broken.any():
        raise ConservationError(f"{kind} {int(np.argmax(broken))} {what}")
