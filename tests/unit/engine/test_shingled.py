"""Shingled disks without a media cache: reads and long runs are simulated, random writes are refused."""

import numpy as np
import pytest

from diskmodel import Array, PlanDescription, Workload, run_plan, simulate
from diskmodel.errors import CoverageError
from diskmodel.workload import TraceWorkload

KNOWN = Array.from_words("2x seagate-archive-st8000as0002 raid1")
#: The same drive, of whose media cache nothing is known.
DRIVE = {name: value for name, value in KNOWN.drive.to_dict().items() if name not in ("media_cache", "provenance")}
SHINGLED = Array.parse(KNOWN.to_dict() | {"drive": DRIVE})
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
    with pytest.raises(CoverageError, match=r"drive='Seagate Archive .*shingled.*add \[media_cache\]"):
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


@pytest.mark.parametrize("start", ["steady", "empty"])
def test_a_trace_with_writes_must_be_asked_to_begin_with_an_empty_media_cache(start):
    at = np.arange(300) * 50_000_000
    trace = TraceWorkload.from_arrays(at, np.ones(300, np.int64), np.arange(300) * 4096, np.full(300, 4096))
    if start == "steady":
        with pytest.raises(CoverageError, match=r"unknown.*start=empty"):
            simulate(KNOWN, trace)
    else:
        assert simulate(KNOWN, trace, start=start).n_requests == 300


def test_a_plan_does_not_size_shingled_disks_for_random_writes():
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        "objective": {"iops": 100, "latency": {"p99": "200 ms"}, "capacity": "1 TB"},
        "candidates": {"drives": [DRIVE], "levels": ["raid10"], "max_disks": 8},
    }
    with pytest.raises(CoverageError, match="random writes cannot be predicted"):
        run_plan(PlanDescription.parse(question), by_chance=False)


@pytest.mark.slow
def test_a_plan_needs_many_shingled_disks_for_random_writes():
    """A mirrored pair takes some 3 writes a second all over it, so that 8 disks are too few for 30."""
    # a tenth of the disk and of its cache, which are filled ten times as soon
    cache = {"size": "2.5 GB", "band": "27.5 MiB", "max_extents": 25_000}
    small = DRIVE | {"media_cache": cache, "capacity_bytes": 800_000_000_000}
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        "objective": {"iops": 100, "latency": {"p99": "2 s"}, "capacity": "2.5 TB"},
        "candidates": {"drives": [small], "levels": ["raid10"], "max_disks": 8},
    }
    (candidate,) = run_plan(PlanDescription.parse(question), by_chance=False).candidates
    assert not candidate.is_feasible
