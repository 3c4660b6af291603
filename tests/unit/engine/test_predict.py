"""Intervals of a result that include the uncertainty of the drive."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive, parse_drive
from diskmodel.engine.predict import predict
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.result import Interval
from diskmodel.result.prediction import combined
from diskmodel.workload import Workload

LOAD = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 8})
WAKE_NS, OVERHEAD_NS, RELATIVE = 30_000, 10_000, 0.1


def array(*, is_uncertain: bool = True) -> Array:
    data: dict[str, Any] = {
        "kind": "virtual",
        "name": "calibrated",
        "capacity_bytes": 1 << 30,
        "read_overhead_ns": OVERHEAD_NS,
        "write_overhead_ns": OVERHEAD_NS,
        "wake_ns": [WAKE_NS],
    }
    if is_uncertain:
        data["uncertainty"] = {"names": ["read_overhead_ns"], "covariance": [[(RELATIVE * OVERHEAD_NS) ** 2]]}
    return Array.parse({"drive": parse_drive(data), "layout": {"level": "jbod", "disks": 1}})


def test_interval_has_the_width_of_the_drives_uncertainty() -> None:
    """Response is waking and eight overheads: 8/11 of it moves with the overhead, by ±10 %."""
    result = simulate(array(), LOAD, n_requests=4000, profile_draws=200)
    assert result.prediction is not None
    interval = result.prediction.intervals["mean"]
    half = math.log(interval.high / interval.low) / 2
    share = 8 * OVERHEAD_NS / (WAKE_NS + 8 * OVERHEAD_NS)
    # 200 draws determine a standard deviation to 5 %
    assert half == pytest.approx(1.96 * RELATIVE * share, rel=0.2)
    assert interval.low < result.latency.mean_ns < interval.high
    assert result.prediction.parameters == ("read_overhead_ns",)


def test_drawn_drives_begin_as_the_run_did() -> None:
    """From empty, all of 800 writes find room in the buffer, and how long a program takes does not matter."""
    data = load_drive("samsung-pm893-960").to_dict()
    program_ns = data["program_ns"]
    data["uncertainty"] = {"names": ["program_ns"], "covariance": [[(RELATIVE * program_ns) ** 2]]}
    drive = Array.parse({"drive": parse_drive(data), "layout": {"level": "jbod", "disks": 1}})
    writes = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 32})
    steady, empty = (simulate(drive, writes, n_requests=800, start=start).prediction for start in ("steady", "empty"))
    assert steady is not None
    assert empty is not None
    spread = {
        name: math.log(found.intervals["iops"].high / found.intervals["iops"].low)
        for name, found in (("steady", steady), ("empty", empty))
    }
    assert spread["empty"] < 0.05
    assert spread["steady"] > RELATIVE


def test_draws_come_by_themselves_where_the_profile_tells_its_uncertainty() -> None:
    result = simulate(array(), LOAD, n_requests=1000)
    assert result.prediction is not None
    assert result.prediction.n_draws == 16
    assert simulate(array(), LOAD, n_requests=1000, profile_draws=0).prediction is None
    assert simulate(array(is_uncertain=False), LOAD, n_requests=1000).prediction is None
    assert predict(array(is_uncertain=False), LOAD, result) is None


def test_json_has_the_wider_interval_and_the_run_s_own() -> None:
    result = simulate(array(), LOAD, n_requests=1000)
    data = result.to_dict()
    assert data["interval"]["mean_low_ms"] < data["run_interval"]["mean_low_ms"]
    assert data["interval"]["mean_high_ms"] > data["run_interval"]["mean_high_ms"]
    assert data["interval"]["draws"] == 16
    assert data["interval"]["parameters"] == ["read_overhead_ns"]
    assert "with the drive's uncertainty" in str(result)


def test_the_result_itself_does_not_depend_on_draws() -> None:
    with_draws, without = (simulate(array(), LOAD, n_requests=1000, profile_draws=n) for n in (4, 0))
    assert with_draws.latency == without.latency
    assert with_draws.iops == without.iops


def test_one_draw_tells_no_spread() -> None:
    with pytest.raises(DescriptionError, match="at least 2"):
        simulate(array(), LOAD, n_requests=1000, profile_draws=1)


def test_sampling_error_alone_is_kept_where_the_draws_agree() -> None:
    own = Interval(100.0, 90.0, 112.0)
    found = combined(own, 50.0, [50.0] * 8, 0.95)
    assert found.low == pytest.approx(90.0)
    assert found.high == pytest.approx(112.0)


def test_an_overloaded_draw_leaves_the_upper_end_open() -> None:
    found = combined(Interval(100.0, 99.0, 101.0), 50.0, [50.0, 51.0, 49.0, math.nan], 0.95)
    assert math.isinf(found.high)
    assert found.low < 99.0
