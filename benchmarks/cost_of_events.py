"""Events of the SimPy engine for each host I/O, and what one costs: `python benchmarks/cost_of_events.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import simpy
from bench_speed import SCENES, prepare, rate

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine

N_SIMPY, N_KERNEL = 5_000, 300_000


def n_scheduled(run: Callable[[], object]) -> int:
    """Events that SimPy schedules during a run."""
    schedule, count = simpy.Environment.schedule, 0

    def counted(*arguments: Any, **options: Any) -> None:
        nonlocal count
        count += 1
        schedule(*arguments, **options)

    simpy.Environment.schedule = counted  # type: ignore[method-assign]
    try:
        run()
    finally:
        simpy.Environment.schedule = schedule  # type: ignore[method-assign]
    return count


def main() -> None:
    print("events an I/O, SimPy us an event, kernel ns an I/O, kernel ns for each of SimPy's events")
    for name, array, clients, read_ratio, *_ in SCENES:
        prepared = prepare(array, clients, read_ratio)
        scenario, described, workload = prepared
        requests = workload.requests(capacity_bytes=described.usable_bytes, n=N_SIMPY, seed=1)
        events = n_scheduled(lambda s=scenario, r=requests: simpy_engine.run(s, r)) / N_SIMPY  # type: ignore[misc]
        simpy_us = 1e6 / rate(simpy_engine.run, prepared, N_SIMPY)
        kernel_ns = 1e9 / rate(native.run, prepared, N_KERNEL)
        print(f"{events:6.2f} {simpy_us / events:6.1f} {kernel_ns:7.0f} {kernel_ns / events:6.0f}  {name}", flush=True)


if __name__ == "__main__":
    main()
