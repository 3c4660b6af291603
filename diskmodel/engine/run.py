"""Running given requests on an engine."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal, cast

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.effort import entered_s
from diskmodel.engine.ledger import current
from diskmodel.engine.scenario import Scenario, check_requests
from diskmodel.engine.steady.reach import within_reach
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import Requests, Run
from diskmodel.result import DEFAULT_PRECISION, Result, summarize
from diskmodel.workload import TraceWorkload, Workload

if TYPE_CHECKING:
    from diskmodel.drive import HddTables

#: "auto": the native kernel where it covers the scenario, else the SimPy engine.
Engine = Literal["auto", "native", "simpy"]


def as_they_meet(array: Array, workload: Workload | TraceWorkload) -> tuple[Array, Workload | TraceWorkload]:
    """Return an array with what its host does with a load, and streams in order and a pass begun apart (W9 and R1)."""
    array = array.behind_host(workload)
    if isinstance(workload, TraceWorkload):
        return array, workload
    workload = workload.apart(array.usable_bytes)
    return array.passed_apart_from(workload), workload


def run(scenario: Scenario, requests: Requests, engine: Engine = "auto") -> Run:
    """Return the raw outcome of given requests.

    Raises
    ------
    DescriptionError
        When a request does not lie on the array.
    CoverageError
        When `engine="native"` does not cover the scenario.
    """
    check_requests(scenario, requests)
    scenario = _beside_full_buffers(within_reach(scenario, requests))
    found = _run(scenario, requests, engine)
    # who asks for SimPy gets the same answer as of the kernel, and waits for it
    counted_as = found.engine if engine == "auto" else "native"
    n_bytes = int(requests.length.sum())
    current().enter_run(entered_s(found, scenario, len(requests), n_bytes, counted_as), len(requests))
    return found


def _beside_full_buffers(scenario: Scenario) -> Scenario:
    """Return the scenario with disks whose buffers have what their start leaves of them."""
    apart = scenario.start.buffers_apart
    return replace(scenario, drive=cast("HddTables", scenario.drive).beside(apart)) if apart else scenario


def _run(scenario: Scenario, requests: Requests, engine: Engine) -> Run:
    if scenario.drive.own_engine:
        if engine != "auto":
            rule = f"does not cover drives of the kind {scenario.drive.kind}, which have an engine of their own"
            raise CoverageError(Fault("engine", engine, rule, "use auto"))
        outcome: Run = resolve_name(scenario.drive.own_engine)(scenario, requests)
        return outcome
    return _with_charges(scenario, _in_an_engine(scenario, requests, engine))


def _with_charges(scenario: Scenario, found: Run) -> Run:
    """Return a run with what its drives say of the operations that commands counted for."""
    n_charged, devices = int(found.devices.n_charged.sum()), found.devices
    n_commands = int(devices.n_reads.sum() + devices.n_writes.sum())
    said = scenario.drive.said_of(n_commands, n_charged) if n_charged else ()
    return replace(found, said=said) if said else found


def _in_an_engine(scenario: Scenario, requests: Requests, engine: Engine) -> Run:
    if engine == "simpy":
        return _run_in_simpy(scenario, requests)
    reason = native.covers(scenario, requests)
    if reason is None:
        return native.run(scenario, requests)
    if engine == "native":
        raise CoverageError(Fault("engine", engine, f"does not cover {reason}", "use auto or simpy"))
    return _run_in_simpy(scenario, requests)


def _run_in_simpy(scenario: Scenario, requests: Requests) -> Run:
    from diskmodel.engine.reference import (
        simpy_engine,  # the engine and SimPy take a while to load, and most runs are native
    )

    return simpy_engine.run(scenario, requests)


def run_to_result(
    array: Array,
    workload: Workload | TraceWorkload,
    n_requests: int,
    *,
    scenario: Scenario,
    seed: int,
    engine: Engine = "auto",
    precision: float = DEFAULT_PRECISION,
    percentile: str | None = None,
    with_operations: bool = True,
) -> Result:
    """Return the result of one run of `n_requests` requests that keeps every completion.

    Parameters
    ----------
    array, workload, seed, engine, precision, percentile, with_operations
        As `diskmodel.engine.simulate.simulate`.
    scenario : Scenario
        The array, resolved with the same seed.
    """
    requests, outcome = draw_and_run(array, workload, n_requests, scenario=scenario, seed=seed, engine=engine)
    return summarize(
        requests,
        outcome,
        n_disks=scenario.n_devices,
        precision=precision,
        percentile=percentile,
        with_operations=with_operations,
    )


def draw_and_run(
    array: Array,
    workload: Workload | TraceWorkload,
    n_requests: int,
    *,
    scenario: Scenario,
    seed: int,
    engine: Engine = "auto",
) -> tuple[Requests, Run]:
    """Return the requests of one run, and its raw outcome without any estimate. Parameters as `run_to_result`."""
    # what came before a trace is unknown
    before = {"n_before": scenario.start.n_before} if isinstance(workload, Workload) else {}
    requests = workload.requests(
        capacity_bytes=array.usable_bytes, n=n_requests, seed=seed, with_cache_draws=scenario.has_drawn_hits, **before
    )
    return requests, run(scenario, requests, engine)
