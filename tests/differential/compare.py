"""Both engines on one case; the first completion in simulated time on which they differ, with both states."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from itertools import product

import numpy as np

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.reference.clock import Port
from diskmodel.engine.scenario import Scenario
from diskmodel.errors import ConservationError
from diskmodel.records import PARTS, DeviceCounters, Int64, Requests, Run
from diskmodel.result.laws import check_laws
from tests.differential.cases import Case, build

Engine = Callable[[Scenario, Requests], Run]


def difference(case: Case) -> str | None:
    """How the engines differ on a case, or None when they agree on everything."""
    scenario, requests = build(case)
    return difference_from(simpy_engine.run(scenario, requests), scenario, requests, case)


def difference_from(simpy: Run, scenario: Scenario, requests: Requests, case: Case) -> str | None:
    """How the kernel differs from what the reference engine made of a case."""
    reason = native.covers(scenario, requests)
    assert reason is None, f"the kernel does not cover {reason}"
    kernel = native.run(scenario, requests)
    divergence = between(requests, simpy, kernel)
    try:
        check_laws(requests, kernel)
    except ConservationError as error:
        divergence = divergence or f"both engines break a law: {error}"
    if divergence is None:
        return None
    if native._kernel.HAS_PORTS:
        said = first_difference(simpy_engine.ports(scenario, requests), native.ports(scenario, requests))
        divergence += f"\nfirst at a port: {said}"
    return f"{divergence}\ncase: {json.dumps(case)}"


def between(requests: Requests, simpy: Run, kernel: Run) -> str | None:
    """First difference between two runs: completions in order of time, then counters, then totals."""
    a, b = simpy.completions, kernel.completions
    wrong = (a.issue_ns != b.issue_ns) | (a.done_ns != b.done_ns) | (a.is_hit != b.is_hit)
    wrong |= (a.parts_ns != b.parts_ns).any(axis=1)
    if wrong.any():
        when = np.where(wrong, np.minimum(a.done_ns, b.done_ns), np.iinfo(np.int64).max)
        row = int(when.argmin())
        n_before = int((np.minimum(a.done_ns, b.done_ns) < when[row]).sum())
        return (
            f"{int(wrong.sum())} of {len(wrong)} completions differ; the first in time, after {n_before} equal ones, "
            f"is row {row}: op={requests.op[row]} offset={requests.offset[row]} length={requests.length[row]} "
            f"stream={requests.stream[row]}\n  simpy  {_state(simpy, row)}\n  kernel {_state(kernel, row)}"
        )
    for field in fields(DeviceCounters):
        x, y = getattr(simpy.devices, field.name), getattr(kernel.devices, field.name)
        if not np.array_equal(x, y):
            return f"devices.{field.name} differs: simpy {x.tolist()}, kernel {y.tolist()}"
    if simpy.own.keys() != kernel.own.keys():
        return f"drives beside the disks differ: simpy {[*simpy.own]}, kernel {[*kernel.own]}"
    for place, field in product(simpy.own, fields(DeviceCounters)):
        x, y = getattr(simpy.own[place], field.name), getattr(kernel.own[place], field.name)
        if not np.array_equal(x, y):
            return f"own[{place}].{field.name} differs: simpy {x.tolist()}, kernel {y.tolist()}"
    if not np.array_equal(simpy.levels, kernel.levels):
        row = (
            int((simpy.levels != kernel.levels).any(axis=1).argmax()) if len(simpy.levels) == len(kernel.levels) else 0
        )
        return f"levels differ from record {row} on: simpy {simpy.levels[row]}, kernel {kernel.levels[row]}"
    for name in ("end_ns", "rebuilt_bytes", "cache_full_ns", "l2arc_hits", "l2arc_misses"):
        if getattr(simpy, name) != getattr(kernel, name):
            return f"{name} differs: simpy {getattr(simpy, name)}, kernel {getattr(kernel, name)}"
    return None


def _state(run: Run, row: int) -> str:
    c = run.completions
    parts = ", ".join(f"{name} {int(ns)}" for name, ns in zip(PARTS, c.parts_ns[row], strict=True) if ns)
    return f"issued {c.issue_ns[row]}, done {c.done_ns[row]}, hit {bool(c.is_hit[row])}: {parts}"


# ------------------------------------------------------------------ what stations say to each other
def first_difference(a: Int64, b: Int64) -> str | None:
    """Return who first says something in one log that is not in the other, and what; None where both say the same.

    Within an instant the order does not count, and it is the station that is first on the way from what a drive has
    done up to the host and down again: what the others say follows from that.

    Parameters
    ----------
    a, b : array of int64, shape (n, 6)
        What `simpy_engine.ports` and `native.ports` return.
    """
    one, other = (sorted(map(tuple, log.tolist())) for log in (a, b))
    at = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    found = [(rows[at], name) for rows, name in ((one, "simpy"), (other, "kernel")) if at < len(rows)]
    if not found:
        return None
    (time_ns, port, drive, op, sector, n), name = min(found)
    who = Port(port).name.lower().replace("_", " ")
    return f"{who}: only {name} says at {time_ns} ns: drive {drive}, op {op}, sector {sector}, {n} sectors"


def station(difference: str) -> str:
    """Return who speaks where a difference begins."""
    return difference.split()[0]
