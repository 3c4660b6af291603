"""The estimate against the engines, seed 0, 8000 requests each: near enough to bracket a search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from diskmodel.analytic.estimate import estimate
from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

LAYOUTS = [("jbod", 1), ("raid0", 6), ("raid10", 8), ("raid5", 8), ("raid6", 10)]
LOADS = [{"clients": 1}, {"clients": 4}, {"clients": 32}, {"rate": "60/s"}]


@pytest.mark.parametrize(("level", "disks"), LAYOUTS)
def test_rates_means_and_counts(level: str, disks: int) -> None:
    ratios = []
    for load, read_ratio in itertools.product(LOADS, (1.0, 0.7)):
        array = Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": disks}})
        workload = Workload.parse({"size": "8 KiB", "read_ratio": read_ratio, **load})
        guess = estimate(array, workload)
        result = simulate(array, workload, n_requests=8000)
        assert guess.is_stable
        assert guess.back_end_per_host == pytest.approx(result.back_end_per_host, rel=0.05)
        assert guess.iops == pytest.approx(result.iops.mean, rel=0.25)
        assert guess.mean_s * 1e9 == pytest.approx(result.latency.mean_ns, rel=0.3)
        ratios.append(guess.p99_s * 1e9 / result.latency.quantiles_ns["p99"])
    assert float(np.median(np.abs(np.log(ratios)))) < 0.25


def test_overload_is_reported_alike() -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 6}})
    for rate in (100, 8000):
        workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate_per_s": rate})
        assert estimate(array, workload).is_stable == simulate(array, workload, n_requests=8000).is_stable
