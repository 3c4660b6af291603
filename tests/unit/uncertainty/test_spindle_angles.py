"""The angles between spindles are not known: intervals include all of them where requests wait for several disks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.result import Result

WRITES = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "10/s"})


def mirrors(**spindles: Any) -> Array:
    return Array.parse(
        {
            "drive": "generic-7k2",
            "layout": {"level": "raid1", "disks": 2},
            "spindles": {"phase": "random"} | spindles,
            "drive_write_cache": False,  # writes wait for the platters
        }
    )


def ran(array: Array, workload: Workload = WRITES, seed: int = 0, n: int = 10_000) -> Result:
    return simulate(array, workload, seed=seed, n_requests=n, profile_draws=0)


def has_message(result: Result) -> bool:
    return any("angles between the disks' spindles" in line for line in result.messages)


def test_the_interval_contains_spindles_that_drift_through_all_angles() -> None:
    """Run alone, none of these intervals would: 16.1 to 17.0 ms by the seed, each within 0.1."""
    truth = np.mean([ran(mirrors(drift_ppm=100), seed=seed).latency.mean_ns for seed in range(3)])
    means = [ran(mirrors(), seed=seed).latency.run_mean_ns for seed in range(4)]
    assert np.ptp([mean.value for mean in means]) > 0.03 * truth
    for mean in means:
        assert mean.low < truth < mean.high
        assert all(mean.low < other.value < mean.high for other in means)


def test_percentiles_reads_and_streams_have_it_too() -> None:
    streams = [
        {"name": "in", "size": "4 KiB", "read_ratio": 0.0, "rate": "9/s"},
        {"name": "out", "size": "4 KiB", "read_ratio": 1.0, "rate": "1/s"},
    ]
    found = ran(mirrors(), Workload.parse({"streams": streams}))
    assert has_message(found)
    low, high = found.latency.run_ends_ns["p50"]
    assert (high - low) / 2 > 0.03 * found.latency.quantiles_ns["p50"]
    assert found.writes.mean.relative > 0.03
    assert found.per_stream["in"].mean.relative == pytest.approx(found.writes.mean.relative)
    low, high = found.latency.run_ends_ns["p999"]
    assert np.isnan(low)  # too few requests, whatever the angles
    assert np.isnan(high)
    # a read goes to one disk
    assert found.reads.mean.relative < found.writes.mean.relative


@pytest.mark.parametrize(
    "array",
    [
        mirrors(phase="synchronised"),
        mirrors(drift_ppm=100),
        Array.from_words("4x generic-7k2 raid5"),
        Array.from_words("2x generic-7k2 raid1, 64MiB write cache"),
    ],
)
def test_nothing_is_added_where_angles_are_known_or_do_not_matter(array: Array) -> None:
    assert not has_message(ran(array))


def test_nothing_is_added_to_a_busy_array() -> None:
    assert not has_message(ran(mirrors(), Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "50/s"})))


def test_the_values_of_the_run_stay() -> None:
    found = ran(mirrors(), seed=3)
    assert found.latency.mean_ns == found.observed.mean_ns
    assert has_message(found)


def test_writes_that_the_page_cache_answers_do_not_wait_for_spindles() -> None:
    array = Array("generic-15k", "raid10", 8, host={"is_buffered": True, "page_cache": {"memory": "1 GiB"}})
    result = ran(array, n=2000)
    assert result.latency.mean_ns == 0
    assert not has_message(result)


def test_clients_that_go_on_in_order_have_all_angles_in_their_rate() -> None:
    """Four of them beside a failed disk miss a revolution at each turn at some angles: of seeds about a half do."""
    array = Array.parse({"drive": "seagate-exos-x18", "layout": {"level": "raid6", "disks": 8, "failed": [0]}})
    load = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": "sequential"})
    rates = [
        simulate(array, load, n_requests=2000, seed=seed, profile_draws=0, with_angles=False).run_iops.value
        for seed in range(6)
    ]
    assert max(rates) > 1.8 * min(rates)
    result = simulate(array, load, n_requests=2000, profile_draws=0)
    assert any("other angles" in message for message in result.messages)
    assert result.run_iops.low < 1.1 * min(rates)
    assert result.run_iops.high > 0.9 * max(rates)
