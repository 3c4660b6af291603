"""Shingled disks: reads and long runs are simulated, random writes are refused wherever they come from."""

import numpy as np
import pytest

from diskmodel import Array, PlanDescription, Workload, run_plan, simulate
from diskmodel.errors import CoverageError
from diskmodel.workload import TraceWorkload

SHINGLED = Array.from_words("2x seagate-archive-st8000as0002 raid1")
LOAD = {"size": "1 MiB", "rate": "5/s"}


def sequential(mean_run):
    return {"pattern": "sequential", "mean_run": mean_run}


@pytest.mark.parametrize(
    "load",
    [
        {"read_ratio": 1.0},
        {"read_ratio": 0.0, "addresses": {"pattern": "sequential"}},
        {"read_ratio": 0.0, "addresses": sequential(256)},
    ],
)
def test_reads_and_long_runs_are_simulated(load):
    assert simulate(SHINGLED, Workload.parse({**LOAD, **load}), n_requests=300).latency.mean_ns > 0


@pytest.mark.parametrize(
    "load",
    [
        {"read_ratio": 0.99},
        {"read_ratio": 0.0, "addresses": sequential(255)},
        {"streams": [{**LOAD, "read_ratio": 1.0}, {**LOAD, "read_ratio": 0.0}]},
    ],
)
def test_random_writes_are_refused(load):
    workload = Workload.parse(load if "streams" in load else {**LOAD, **load})
    with pytest.raises(CoverageError, match=r"drive='Seagate Archive .*shingled.*conventional recording"):
        simulate(SHINGLED, workload, n_requests=300)


@pytest.mark.parametrize(("writes", "is_refused"), [(0, False), (1, True)])
def test_a_trace_with_a_write_is_refused(writes, is_refused):
    op = np.zeros(300, np.int64)
    op[:writes] = 1
    at = np.arange(300) * 50_000_000
    trace = TraceWorkload.from_arrays(at, op, np.arange(300) * 4096, np.full(300, 4096))
    if is_refused:
        with pytest.raises(CoverageError):
            simulate(SHINGLED, trace)
    else:
        assert simulate(SHINGLED, trace).n_requests == 300


def test_a_plan_does_not_size_shingled_disks_for_random_writes():
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        "objective": {"iops": 100, "latency": {"p99": "200 ms"}, "capacity": "1 TB"},
        "candidates": {"drives": ["seagate-archive-st8000as0002"], "levels": ["raid10"], "max_disks": 8},
    }
    with pytest.raises(CoverageError, match="random writes cannot be predicted"):
        run_plan(PlanDescription.parse(question))
