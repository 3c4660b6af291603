"""Runs that cannot end are refused before they begin; those that can are not."""

import time

import pytest

from diskmodel.array import Array
from diskmodel.engine import effort, native
from diskmodel.engine.effort import PROBE, check_effort, rebuild_bound
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.workload import TraceWorkload, Workload


def closed(clients: int) -> Workload:
    return Workload.parse({"size": "4 KiB", "clients": clients})


def fault_of(workload: Workload, **options: object) -> Fault:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    began = time.perf_counter()
    with pytest.raises(DescriptionError) as caught:
        simulate(array, workload, **options)  # type: ignore[arg-type]
    assert time.perf_counter() - began < 1
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize("options", [{}, {"keep": "histogram"}, {"engine": "simpy"}])
def test_more_clients_than_a_run_has_requests(options: dict[str, str]) -> None:
    fault = fault_of(closed(10**8), **options)
    assert (fault.field, fault.value) == ("workload.streams.0.clients", 10**8)
    most = effort.MAX_REQUESTS[next(iter(options.values()), "native")]
    assert f"use at most {most // 2:,}" in fault.fix


def test_the_stream_with_the_most_clients_is_named() -> None:
    streams = [{"size": "4 KiB", "clients": 8, "name": "a"}, {"size": "4 KiB", "clients": 10**8, "name": "b"}]
    assert fault_of(Workload.parse({"streams": streams})).field == "workload.streams.1.clients"


def test_what_takes_days() -> None:
    fault = fault_of(closed(1), n_requests=10**13, keep="histogram")
    assert (fault.field, fault.value) == ("n_requests", 10**13)
    assert "more than a day" in fault.rule


def test_what_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault_of(closed(1), n_requests=10**12).field == "n_requests"
    monkeypatch.setattr(effort, "free_bytes", lambda: 10**9)
    fault = fault_of(closed(1), n_requests=20_000_000)
    assert "1.8 GB" in fault.rule
    assert "1.0 GB are free" in fault.rule
    assert fault_of(closed(5_000_000), n_requests=6_000_000, keep="histogram").field == "workload.streams.0.clients"


def test_what_can_be_done_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "free_bytes", lambda: 2 * 10**9)
    check_effort(closed(1_000_000), n_requests=None, engine="native", keep="all")
    check_effort(closed(1), n_requests=20_000_000, engine="native", keep="all")
    check_effort(Workload.parse({"size": "4 KiB", "rate": "100/s"}), n_requests=None, engine="simpy", keep="all")
    # free memory is unknown: only what is hopeless anywhere is refused
    monkeypatch.setattr(effort, "free_bytes", lambda: None)
    check_effort(closed(1), n_requests=10**9, engine="native", keep="all")


def test_a_trace_is_there_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "free_bytes", lambda: 0)
    trace = TraceWorkload.from_arrays([0, 10**6], [0, 1], [0, 4096], [4096, 4096])
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    assert simulate(array, trace, n_requests=2).n_requests == 2


def test_free_memory_is_known_here() -> None:
    free = effort.free_bytes()
    assert free is None or 10**6 < free < 10**15


@pytest.mark.parametrize(("rate", "least", "most"), [("2/s", 1_000, 60_000), ("500/s", 200_000, 20_000_000)])
def test_rare_requests_beside_a_rebuild_are_fewer(rate: str, least: int, most: int) -> None:
    """At two requests a second, hundreds of commands of the rebuild come with each."""
    layout = {"level": "raid5", "disks": 5, "failed": [0], "spares": 1, "rebuild": {}}
    array = Array.parse({"drive": "generic-7k2", "layout": layout})
    load = Workload.parse({"streams": [{"read_ratio": 0.7, "size": "8 KiB", "rate": rate}]})
    probe = native.run(resolve(array, 1), load.requests(capacity_bytes=array.usable_bytes, n=PROBE, seed=1))
    assert least <= rebuild_bound(probe) <= most
    assert PROBE <= rebuild_bound(probe, 17) <= rebuild_bound(probe)
