"""A trace is simulated like any other workload."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import CoverageError
from diskmodel.workload import TraceWorkload

ARRAY = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
N = 500


def trace(**options: object) -> TraceWorkload:
    rng = np.random.default_rng(1)
    times = np.arange(N) * 20_000_000
    return TraceWorkload.from_arrays(times, np.zeros(N), rng.integers(0, 10**6, N) * 4096, np.full(N, 4096), **options)


@pytest.mark.parametrize(("options", "rate"), [({}, 50), ({"timing": "scaled", "speed_up": 2}, 100)])
def test_recorded_times(options: dict[str, object], rate: float) -> None:
    result = simulate(ARRAY, trace(**options))
    assert result.n_requests == N
    assert result.iops.mean == pytest.approx(rate, rel=0.01)
    both = [simulate(ARRAY, trace(**options), engine=engine) for engine in ("simpy", "native")]
    assert (both[0].run.completions.done_ns == both[1].run.completions.done_ns).all()


def test_a_clock_is_coarse_where_requests_share_its_steps() -> None:
    def of(times: list[int], **options: object) -> TraceWorkload:
        n = len(times)
        return TraceWorkload.from_arrays(times, np.zeros(n), np.zeros(n), np.full(n, 4096), **options)

    second = 10**9
    assert of([0, 0, second, 3 * second]).coarse_clock_ns == second
    assert of([0, 0, second, 3 * second], timing="scaled", speed_up=2).coarse_clock_ns == second // 2
    assert of([0, 0, second, 3 * second], timing="closed").coarse_clock_ns == 0
    assert of([0, second, 2 * second]).coarse_clock_ns == 0
    assert of([0, 0, second, second + 1]).coarse_clock_ns == 0
    assert of([0, 0, 999_999]).coarse_clock_ns == 0
    assert of([0, 0]).coarse_clock_ns == 0


def test_closed_timing_keeps_so_many_outstanding() -> None:
    result = simulate(ARRAY, trace(timing="closed", queue_depth=8), n_requests=400)
    assert result.n_requests == 400
    assert result.per_disk[0].mean_in_disk == pytest.approx(8, rel=0.05)


def test_histograms_are_for_drawn_workloads() -> None:
    with pytest.raises(CoverageError, match="not for a trace"):
        simulate(ARRAY, trace(), keep="histogram")
