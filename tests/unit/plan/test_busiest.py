"""How busy the busiest disk is in the long run: by symmetry where disks get equal shares, else by what each shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.plan.trial.busiest import busiest_of, classes_of
from diskmodel.plan.trial.simulated import outcome_of
from diskmodel.workload import Workload

LOAD: dict[str, Any] = {"size": "16 KiB", "read_ratio": 0.7, "rate": "400/s"}
HOT = {"pattern": "hot_spot", "access_ratio": 0.3, "space_ratio": 0.01}


def array_of(level: str, disks: int = 8, **layout: Any) -> Array:
    return Array.parse({"drive": "generic-10k", "layout": {"level": level, "disks": disks, **layout}})


@pytest.mark.parametrize(
    ("array", "load", "n_classes"),
    [
        (array_of("raid0"), {}, 1),
        (array_of("raid5"), {}, 1),
        (array_of("raid60", groups=2), {}, 1),
        (array_of("raid10"), {}, 2),
        (array_of("raid1e", 7), {}, 1),
        (array_of("raid4"), {}, 0),
        (array_of("jbod"), {}, 0),
        (array_of("raid5", failed=[1]), {}, 0),
        (array_of("raid5"), {"addresses": HOT}, 0),
        (array_of("raid5"), {"addresses": "sequential"}, 0),
        (array_of("raid5"), {"span": "5 GB"}, 0),
        (array_of("raid5"), {"span": "50 GB"}, 1),
    ],
)
def test_disks_are_alike_where_requests_and_layout_are_even(array: Array, load: dict[str, Any], n_classes: int) -> None:
    assert classes_of(array, Workload.parse(LOAD | load)) == n_classes


@pytest.mark.parametrize("array", [array_of("raid5"), array_of("raid10"), array_of("raid60", groups=2)])
def test_disks_that_are_alike_get_equal_shares(array: Array) -> None:
    """What sets disks of a class apart shrinks with the root of the length: it is chance."""
    workload = Workload.parse(LOAD)
    n_classes = classes_of(array, workload)
    spreads = []
    for n in (6_000, 96_000):
        result = simulate(array, workload, n_requests=n, profile_draws=0)
        used = np.array([use.utilization_ratio for use in result.per_disk])
        spreads.append(max(float(np.std(used[at::n_classes], ddof=1)) for at in range(n_classes)) / float(used.mean()))
    # a fourth, within what the spread of four or eight figures leaves open
    assert spreads[1] < 0.02
    assert spreads[1] < spreads[0] / 1.8


def test_a_short_run_of_disks_that_are_alike_shows_their_long_run() -> None:
    array, workload = array_of("raid5", 24), Workload.parse(LOAD | {"rate": "1400/s"})
    long = outcome_of(simulate(array, workload, n_requests=300_000, profile_draws=0), array, workload)
    missed = 0
    for seed in range(1, 9):
        result = simulate(array, workload, n_requests=8000, seed=seed, profile_draws=0)
        found = outcome_of(result, array, workload)
        most = max(use.utilization_ratio for use in result.per_disk)
        assert found.busiest_ratio == found.utilization_ratio < most
        # arrivals are given, so that the interval is about the work of a request; the rate drawn moves the ratio
        rate = result.n_requests / (result.run.end_ns / 1e9)
        missed += abs(found.busiest_ratio * 1400 / rate / long.busiest_ratio - 1) > found.busiest_half_width
    assert missed <= 2


def test_disks_that_vary_together_vary_less_on_their_own() -> None:
    used = [0.90, 0.91, 0.905, 0.895]
    array, workload = array_of("raid5", 4), Workload.parse(LOAD | {"addresses": HOT})
    ratio, half_width = busiest_of(array, workload, used, 0.03)
    assert ratio == 0.91
    assert half_width == pytest.approx(math.hypot(0.03, 3.182 * np.std(used, ddof=1) / np.mean(used)), rel=1e-3)
    # never more than as if they varied on their own
    assert busiest_of(array, workload, [0.5, 0.9, 0.5, 0.5], 0.03) == (0.9, 0.06)
    assert math.isnan(busiest_of(array, workload, used, math.nan)[1])
