"""Known truth: a disk that serves commands beyond an age limit in the order of arrival, measured in simulated time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import mean_response, scenario_of
from calibrate.fit import calibrate
from calibrate.hdd.age_limit import fit_age_limit
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel import Array, Workload, simulate
from diskmodel.drive import DriveQueue, Hdd, catalogue
from tests.calibrate.mock_device import MockDevice

AGE_NS = 150_000_000
#: Reads per second at depth 16, and at 32, where every command is older than the limit.
RATE_16, RATE_32 = 257, 135


def truth() -> Hdd:
    queue = {"depth": 64, "scheduler": "sptf-aged", "age_ns": AGE_NS}
    cache = {"size_bytes": 16 << 20, "segments": 16}
    return Hdd.parse({**catalogue()["generic-10k"].to_dict(), "rpm": 10520, "queue": queue, "cache": cache})


def measured(drive: Hdd, depth: int) -> Condition:
    """Return the reads of a drive at a depth as they are fitted."""
    load = Workload.parse({"size": "4 KiB", "clients": depth})
    asked = Condition("read", load, 1.0, 1.0, {50.0: 1.0, 99.0: 1.0})
    found = MeasuredArray(n_requests=12_000).predict(drive, asked, seed=5)
    return Condition("read", load, found.iops, found.mean_ns, found.percentiles_ns)


def test_the_limit_is_found_from_rates_and_percentiles() -> None:
    found = fit_age_limit(truth(), [measured(truth(), depth) for depth in (4, 8, 32)], seed=1)
    assert found is not None
    assert found.queue.scheduler == "sptf-aged"
    assert abs(found.queue.age_ns - AGE_NS) < 3 * found.stderr_ns
    assert found.stderr_ns < 0.1 * AGE_NS
    limits = [queue.age_ns for queue in found.near]
    assert min(limits) < AGE_NS < max(limits)


def test_reads_one_at_a_time_show_no_limit() -> None:
    assert fit_age_limit(truth(), [measured(truth(), 1)], seed=1) is None


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    device = MockDevice(truth(), host_ns=8_000, jitter_ns=4_000.0)
    device.reads(n=800)
    return calibrate(device.write(tmp_path_factory.mktemp("mock") / "m.json"))


@pytest.mark.slow
def test_a_disk_with_a_limit_is_predicted_where_its_rate_falls(fitted: Calibration) -> None:
    assert fitted.has_converged, fitted.message
    assert fitted.held_out["queue_depth"] == 16
    assert abs(fitted.held_out["iops_error_ratio"]) < 0.03
    assert fitted.parameters["queue.age_ns"].value == pytest.approx(150, rel=0.1)
    assert isinstance(fitted.drive, Hdd)
    scenario = scenario_of(fitted.drive)
    span = fitted.drive.capacity_bytes // 4096 * 4096
    for depth, rate in ((16, RATE_16), (32, RATE_32)):
        response = mean_response(scenario, length=4096, queue_depth=depth, n=20_000, seed=3, span_bytes=span)
        assert depth * 1e9 / response == pytest.approx(rate, rel=0.03)


@pytest.mark.slow
def test_limits_that_fit_as_well_are_drawn(fitted: Calibration) -> None:
    assert isinstance(fitted.drive, Hdd)
    queues = fitted.drive.likely_queues
    assert len({queue.age_ns for queue in queues}) == len(queues) > 1
    array = Array(fitted.drive, "jbod", 1)
    load = Workload.parse({"size": "4 KiB", "clients": 16})
    prediction = simulate(array, load, n_requests=20_000).prediction
    assert prediction is not None
    assert prediction.sources["order of commands"] > 0.05
    interval = prediction.intervals["iops"]
    assert interval.low < RATE_16 < interval.high
    assert np.log(interval.high / interval.low) < 0.3


def test_a_profile_keeps_queues_that_fit_alike(tmp_path: Path) -> None:
    queues = [truth().queue.to_dict(), DriveQueue(depth=64, scheduler="sptf").to_dict()]
    known = {"names": ["read_overhead_ns"], "covariance": [[1e8]], "queues": queues}
    drive = Hdd.parse({**truth().to_dict(), "uncertainty": known})
    drive.save(tmp_path / "drive.toml")
    assert Hdd.load(tmp_path / "drive.toml").likely_queues == (truth().queue, DriveQueue(depth=64, scheduler="sptf"))
    with pytest.raises(Exception, match=r"uncertainty\.queues: scheduler"):
        Hdd.parse({**truth().to_dict(), "uncertainty": known | {"queues": [queues[0], {"scheduler": "soonest"}]}})
