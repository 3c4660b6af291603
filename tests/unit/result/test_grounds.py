"""No verdict and no percentile without grounds for it."""

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.result.latency import Latency
from diskmodel.result.statistics.stability import judge_counts, judge_stability
from diskmodel.workload import Workload

ARRAY = Array.parse({"drive": "generic-15k", "layout": {"level": "raid0", "disks": 10}})
FAST = Workload.parse({"size": "4 KiB", "rate": "20000/s"})


def test_an_overloaded_run_that_is_too_short_is_not_called_stable() -> None:
    """20,000 requests/s come to ten disks: overload cannot be seen in 150 requests, but this is not stable either."""
    result = simulate(ARRAY, FAST, n_requests=150)
    assert result.to_dict()["stable"] is None
    assert "too short to determine whether the array keeps up" in result.messages[0]
    assert simulate(ARRAY, FAST, n_requests=20_000).to_dict()["stable"] is False
    slow = Workload.parse({"size": "4 KiB", "rate": "300/s"})
    assert simulate(ARRAY, slow, n_requests=20_000).to_dict()["stable"] is True


def test_streamed_runs_judge_alike() -> None:
    assert simulate(ARRAY, FAST, n_requests=150, keep="histogram", engine="native").to_dict()["stable"] is None


def test_a_closed_system_cannot_be_overloaded() -> None:
    closed = Workload.parse({"size": "4 KiB", "queue_depth": 4})
    assert simulate(ARRAY, closed, n_requests=50).to_dict()["stable"] is True


@pytest.mark.parametrize(("n", "share", "verdict"), [(199, 1.0, None), (200, 1.0, True), (1000, 0.5, None)])
def test_verdict(n: int, share: float, verdict: bool | None) -> None:
    """Arrivals at a steady rate; of those of the last half only a share has completed, after a sudden stop."""
    times = np.arange(1, 4097) * 1e6
    came = (np.arange(1, 4097) * n) // 4096
    left = came.copy()
    stop = int(4096 * (0.5 + share / 2))
    left[stop:] = left[stop - 1]
    assert judge_counts(times, came, left, n).verdict is verdict


def test_one_request_is_no_verdict() -> None:
    assert judge_stability(np.array([0]), np.array([5]), 10).verdict is None


def test_far_percentiles_need_requests() -> None:
    few, enough = (Latency.of(np.arange(n, dtype=np.int64) + 1) for n in (9_999, 10_000))
    assert few.to_dict()["p999"] is None
    assert few.to_dict()["p99"] == pytest.approx(9_900 / 1e6)
    assert enough.to_dict()["p999"] == pytest.approx(9_990 / 1e6)


@pytest.mark.parametrize("precision", [0.0, 1e-300, 9e-7, float("nan"), -1.0])
def test_a_precision_that_nobody_can_reach_is_refused(precision: float) -> None:
    with pytest.raises(DescriptionError, match="precision"):
        simulate(ARRAY, FAST, n_requests=200, precision=precision)


@pytest.mark.parametrize("n", [200, 500, 1000, 2000])
def test_a_queue_that_still_rises_to_its_length_is_not_an_overload(n: int) -> None:
    """Eight disks at 99 % of what they do with full queues: from 4,000 requests on it is stable, at 90 ms."""
    layout = {"level": "raid50", "disks": 8, "groups": 2, "strip": "16 KiB"}
    array = Array.parse({"drive": "hgst-ultrastar-c15k600", "layout": layout})
    load = Workload.parse({"rate": "2000/s", "read_ratio": 0.7, "size": "8 KiB"})
    for seed in range(3):
        assert simulate(array, load, n_requests=n, seed=seed, profile_draws=0).to_dict()["stable"] is not False


def test_a_large_cache_hides_an_overload_from_a_short_run() -> None:
    cache = {"write_cache": {"size": "2 GiB", "line_bytes": 4096}}
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "raid5", "disks": 8}, "controller": cache})
    load = Workload.parse({"rate": "2500/s", "read_ratio": 0.3, "size": "8 KiB"})
    assert simulate(array, load, n_requests=300, profile_draws=0).to_dict()["stable"] is None
    assert simulate(array, load, n_requests=30_000, profile_draws=0).to_dict()["stable"] is False


@pytest.mark.parametrize("cache", ["256 MiB", "4 GiB"])
@pytest.mark.parametrize("seed", range(3))
def test_a_short_run_before_a_cache_does_not_find_an_overload_that_is_none(cache: str, seed: int) -> None:
    """Eight disks near saturation: 60,000 requests are stable with each seed, 200 and 1,000 were overloaded in four."""
    array = Array.parse(
        {
            "drive": "hgst-ultrastar-c15k600",
            "layout": {"level": "raid50", "disks": 8, "groups": 2, "strip": "16 KiB"},
            "controller": {"write_cache": {"size": cache, "line_bytes": 4096, "destage_depth": 64}},
        }
    )
    near = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "3000/s"})
    for n in (200, 300, 1000, 2000):
        found = simulate(array, near, seed=seed, n_requests=n, profile_draws=0)
        assert found.is_stable
        assert n >= 1000 or not found.is_stability_known


def test_an_overload_that_is_more_than_chance_is_found_by_a_thousand_requests() -> None:
    far = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": "9000/s"})
    array = Array.from_words("8x generic-10k raid5, 64MiB write cache")
    assert not simulate(array, far, n_requests=2_000, profile_draws=0).is_stable
