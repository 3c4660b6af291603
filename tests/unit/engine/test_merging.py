"""Adjacent waiting commands become one command of the disk (rule Q9)."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.records import Run
from diskmodel.result import Result, summarize
from diskmodel.workload import Workload


def outcome(queue: dict[str, object], addresses: str, n: int = 2000) -> tuple[Result, Run]:
    array = Array.parse(
        {"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}, "queue": {"drive_depth": 1, **queue}}
    )
    stream = {"read_ratio": 1.0, "size": "4 KiB", "clients": 32, "addresses": {"pattern": addresses}}
    requests = Workload.parse({"streams": [stream]}).requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
    run = simpy_engine.run(resolve(array, 1), requests)
    return summarize(requests, run, n_disks=1), run


def test_sequential_requests_reach_the_disk_in_fewer_and_longer_commands() -> None:
    merged, run = outcome({"merge": True}, "sequential")
    plain, plain_run = outcome({}, "sequential")
    assert run.devices.n_reads[0] < plain_run.devices.n_reads[0] / 8
    assert run.devices.read_bytes[0] == plain_run.devices.read_bytes[0] == 2000 * 4096
    assert merged.latency.mean_ns < plain.latency.mean_ns


def test_the_limit_holds() -> None:
    _, run = outcome({"merge": True, "merge_limit": "16 KiB"}, "sequential")
    assert run.devices.read_bytes[0] <= run.devices.n_reads[0] * 16384


def test_random_requests_are_hardly_ever_adjacent() -> None:
    _, run = outcome({"merge": True}, "uniform")
    assert run.devices.n_reads[0] >= 1995
