"""Known truth: a drive of known parameters is measured in simulated time, calibrated, and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import mean_response, scenario_of
from calibrate.fit import calibrate
from diskmodel.array import Array
from diskmodel.drive import Hdd, catalogue, load_drive
from diskmodel.drive.seek import SeekTable
from diskmodel.engine.predict import predict
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.calibrate.mock_device import MockDevice

#: Drives of different speed, cache, heads and order of the queue.
TRUTHS = {
    "5400 rpm, fcfs": (
        "generic-5k4",
        {"depth": 1, "scheduler": "fcfs"},
        {"size_bytes": 8 << 20, "read_ahead_bytes": 0},
    ),
    "7200 rpm, sptf": ("generic-7k2", {"depth": 32, "scheduler": "sptf"}, {"size_bytes": 64 << 20, "segments": 32}),
    "15k rpm, look": ("generic-15k", {"depth": 16, "scheduler": "look"}, {"size_bytes": 16 << 20, "segments": 8}),
}


def truth_of(case: str) -> Hdd:
    name, queue, cache = TRUTHS[case]
    drive = catalogue()[name]
    assert isinstance(drive, Hdd)
    return drive.model_copy(update={"queue": queue, "cache": cache})


#: A drive with a queue of its own comes first; the other two are fitted alike.
FAST = "7200 rpm, sptf"


@pytest.fixture(
    scope="module",
    params=[FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in TRUTHS if name != FAST)],
)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Hdd, Calibration]:
    truth = truth_of(request.param)
    device = MockDevice(truth, host_ns=8_000, jitter_ns=4_000.0)
    device.reads(n=1500)
    folder: Path = tmp_path_factory.mktemp("mock")
    result = calibrate(device.write(folder / "m.json"), out=folder / "drive.toml", name="mock")
    assert load_drive(folder / "drive.toml") == result.drive
    return truth, result


def test_converged_and_rotating(case: tuple[Hdd, Calibration]) -> None:
    _, result = case
    assert result.has_converged, result.message
    assert result.kind == "hdd"


def test_rotation_within_a_twentieth_of_a_percent(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    found = result.parameters["revolution"]
    assert found.value == pytest.approx(truth.period_ns, rel=5e-4)
    assert found.is_identified
    # the reported error is of the size of the actual error: never a tenth of it
    assert found.stderr is not None
    assert abs(found.value - truth.period_ns) < 5 * found.stderr + 1.0


def test_command_overhead_within_50_us(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    assert result.parameters["read_overhead"].value == pytest.approx(truth.read_overhead_ns, abs=50_000)


def test_seek_curve_within_5_percent_or_a_tenth_of_a_ms_everywhere(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    drive = result.drive
    assert isinstance(drive, Hdd)
    true, found = truth.tables().seek_ns, drive.tables().seek_ns
    # the number of heads cannot be determined, so distances are compared in tracks
    tracks = np.unique(np.geomspace(drive.heads, 0.999 * truth.heads * (len(true) - 1), 400).astype(np.int64))
    tracks = tracks[tracks >= max(drive.heads, truth.heads)]
    expected = np.interp(tracks / truth.heads, np.arange(len(true)), true)
    got = np.interp(tracks / drive.heads, np.arange(len(found)), found)
    error = np.abs(got - expected)
    allowed = np.maximum(0.05 * expected, 100_000)
    worst = int((error / allowed).argmax())
    assert (error <= allowed).all(), (int(tracks[worst]), float(expected[worst]), float(got[worst]))


def test_the_reported_error_of_the_seek_table_is_of_the_size_of_the_actual_one(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    drive = result.drive
    assert isinstance(drive, Hdd)
    assert isinstance(drive.seek, SeekTable)
    assert drive.uncertainty is not None
    assert "seek.time_ms" in drive.uncertainty.names
    tracks = np.array(drive.seek.distance) * drive.heads
    within = tracks < truth.heads * (truth.tables().n_cylinders - 1)
    true_ns = np.interp(tracks[within] / truth.heads, np.arange(truth.tables().n_cylinders), truth.tables().seek_ns)
    made = float(np.mean(np.array(drive.seek.time_ms)[within] - true_ns / 1e6))
    k = drive.uncertainty.names.index("seek.time_ms")
    assert abs(made) < 3.3 * drive.uncertainty.covariance[k][k] ** 0.5


def test_intervals_of_predictions_hold_the_truth(case: tuple[Hdd, Calibration]) -> None:
    """95 % intervals of random reads one at a time and eight at a time."""
    truth, result = case
    size = truth.capacity_bytes // 4096 * 4096 - (1 << 20)
    for depth in (1, 8):
        array = Array.parse({"drive": result.drive, "layout": {"level": "jbod", "disks": 1}})
        load = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": depth})
        outcome = simulate(array, load, n_requests=20_000, profile_draws=0)
        prediction = predict(array, load, outcome, seed=1, n_draws=16, confidence=0.95)
        assert prediction is not None
        interval = prediction.intervals["mean"]
        true_ns = mean_response(scenario_of(truth), length=4096, queue_depth=depth, n=40_000, seed=3, span_bytes=size)
        assert interval.low * 0.99 <= true_ns <= interval.high * 1.01, (depth, interval, true_ns)


def test_zone_rates_within_2_percent(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    drive = result.drive
    assert isinstance(drive, Hdd)
    # over sixteenths: where one zone ends to within a hundredth of the drive is more than the reads determine
    share = (np.arange(16 * 32) + 0.5) / (16 * 32)
    found, true = (_rates(d, share).reshape(16, 32).mean(axis=1) for d in (drive, truth))
    np.testing.assert_allclose(found, true, rtol=0.02)
    at_places = np.abs(_rates(drive, share) / _rates(truth, share) - 1.0)
    assert np.median(at_places) < 0.005


def _rates(drive: Hdd, share: np.ndarray) -> np.ndarray:
    """Sustained rates in bytes per s at places given as a share of the capacity: sectors of a cylinder by the time
    for its revolutions and skews."""
    t = drive.tables()
    zone = np.searchsorted(t.zone_first_lba, share * drive.n_sectors, side="right") - 1
    per_track = t.sectors_per_track[zone]
    skew = ((t.heads - 1) * t.track_skew[zone] + t.cylinder_skew[zone]) / per_track
    return t.heads * per_track * t.sector_bytes / ((t.heads + skew) * t.revolution_ns / 1e9)


def test_predicted_iops_within_3_percent_at_all_depths(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    errors = {}
    for depth in (1, 2, 4, 8, 16, 32):
        times = [
            mean_response(
                scenario_of(drive),
                length=4096,
                queue_depth=depth,
                n=20_000,
                seed=3,
                span_bytes=truth.capacity_bytes // 4096 * 4096 - (1 << 20),
            )
            for drive in (truth, result.drive)
        ]
        errors[depth] = times[0] / times[1] - 1.0
    assert max(abs(error) for error in errors.values()) < 0.03, errors


def test_queue_is_recognized(case: tuple[Hdd, Calibration]) -> None:
    truth, result = case
    assert isinstance(result.drive, Hdd)
    schedulers = result.report["schedulers"]
    assert truth.queue.scheduler in schedulers
    # schedulers that cannot be distinguished are alike: in order of arrival, by distance, by position on the platter
    by_distance = {"look", "sstf", "c-look"}
    assert set(schedulers) <= by_distance or schedulers == (truth.queue.scheduler,)
    if result.drive.queue.scheduler == truth.queue.scheduler:
        assert result.drive.queue.depth == truth.queue.depth


def test_held_out_depth_is_reported_beside_repeatability(case: tuple[Hdd, Calibration]) -> None:
    _, result = case
    held = result.to_dict()["held_out"]
    assert held["queue_depth"] == 16
    assert abs(held["mean_error_ratio"]) < 0.05
    assert 0 < held["demerit_ratio"] < 0.15
    assert held["repeatability_ratio"] > 0
    assert not any("queue depth 16" in row["what"] for row in result.report["residuals"])
