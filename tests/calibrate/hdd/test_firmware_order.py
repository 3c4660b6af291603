"""Known truth: drives whose firmware orders commands as real ones do are measured in simulated time and calibrated."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import mean_response, scenario_of
from calibrate.fit import calibrate
from diskmodel.drive import Hdd, catalogue, load_drive
from tests.calibrate.mock_device import MockDevice

pytestmark = pytest.mark.slow

#: Drive, depth of its queue, margin (ns), age weight, committed commands: as drives of 2004 to 2012 order, as recent
#: ones do, and one that accepts fewer commands than were measured.
TRUTHS = {
    "margin": ("generic-7k2", 32, 2_000_000, 0.05, 2),
    "no margin": ("generic-7k2", 32, 0, 0.3, 1),
    "sixteen commands": ("generic-10k", 16, 500_000, 0.15, 0),
}
DEPTHS = (2, 4, 8, 16, 32)


def truth_of(case: str) -> Hdd:
    name, depth, margin_ns, weight, committed = TRUTHS[case]
    queue = {"depth": depth, "scheduler": "rpo"}
    queue |= {"miss_margin_ns": margin_ns, "age_weight": weight, "committed": committed}
    cache = {"size_bytes": 16 << 20, "segments": 16}
    return Hdd.parse({**catalogue()[name].to_dict(), "queue": queue, "cache": cache})


@pytest.fixture(scope="module", params=list(TRUTHS))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Hdd, Calibration]:
    truth = truth_of(request.param)
    device = MockDevice(truth, host_ns=8_000, jitter_ns=4_000.0)
    device.reads(n=800)
    folder: Path = tmp_path_factory.mktemp("mock")
    found = calibrate(device.write(folder / "m.json"), out=folder / "drive.toml", name="mock")
    assert load_drive(folder / "drive.toml") == found.drive
    return truth, found


def test_the_order_is_recovered_within_its_errors(case: tuple[Hdd, Calibration]) -> None:
    truth, found = case
    assert found.has_converged, found.message
    assert isinstance(found.drive, Hdd)
    queue = found.drive.queue
    assert queue.scheduler == "rpo"
    margin, weight = found.parameters["queue.miss_margin_ns"], found.parameters["queue.age_weight"]
    assert margin.stderr is not None
    assert weight.stderr is not None
    assert margin.stderr < 0.2
    assert abs(margin.value - truth.queue.miss_margin_ns / 1e6) < 2.5 * margin.stderr
    assert abs(weight.value - truth.queue.age_weight) < 2.5 * weight.stderr
    committed = found.parameters["queue.committed"]
    assert committed.value == truth.queue.committed
    assert queue.depth == min(truth.queue.depth, max(DEPTHS))
    assert found.parameters["queue_depth"].is_identified == (truth.queue.depth < max(DEPTHS))


def test_predicted_rates_within_5_percent_at_all_depths(case: tuple[Hdd, Calibration]) -> None:
    truth, found = case
    assert isinstance(found.drive, Hdd)
    span = min(truth.capacity_bytes, found.drive.capacity_bytes) // 4096 * 4096
    for depth in DEPTHS:
        expected, got = (
            mean_response(scenario_of(drive), length=4096, queue_depth=depth, n=20_000, seed=7, span_bytes=span)
            for drive in (truth, found.drive)
        )
        assert got == pytest.approx(expected, rel=0.05), depth


def test_an_ideal_order_stays_ideal(tmp_path: Path) -> None:
    """A drive that does the best possible thing is not taken for one with a margin near 0."""
    truth = Hdd.parse({**truth_of("margin").to_dict(), "queue": {"depth": 32, "scheduler": "sptf"}})
    device = MockDevice(truth, host_ns=8_000, jitter_ns=4_000.0)
    device.reads(n=800)
    found = calibrate(device.write(tmp_path / "m.json"))
    assert isinstance(found.drive, Hdd)
    assert found.drive.queue.scheduler == "sptf"
    assert "queue.miss_margin_ns" not in found.parameters
