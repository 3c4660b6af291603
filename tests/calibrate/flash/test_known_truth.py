"""A flash drive of known parameters is measured in simulated time, calibrated, and compared."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import mean_response, random_reads, scenario_of
from calibrate.evidence.cells import Cells, Key
from calibrate.fit import calibrate
from calibrate.flash.draws import N_DRAWS
from calibrate.flash.fit import fit_flash
from calibrate.flash.model import FlashShape, flash_of, responses_at, responses_by_simulation
from calibrate.flash.profile import assumed_writes
from diskmodel.drive import Flash, load_drive
from diskmodel.drive.drawn import drawn
from diskmodel.errors import InputError
from tests.calibrate.mock_device import MockDevice

SHAPE = FlashShape(
    overhead_ns=9_000.0, latency_ns=12_000.0, read_ns=55_000.0, n_dies=8, page_bytes=16384, interface_bytes_per_ns=1.2
)
TRUTH = flash_of(SHAPE, capacity_bytes=1 << 30, name="truth")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    device = MockDevice(TRUTH, host_ns=500, jitter_ns=1_500.0)
    device.rotation_period(rounds=3)
    device.random_reads(n=800)
    device.block_sizes(n=200)
    return device.write(tmp_path_factory.mktemp("flash") / "m.json")


@pytest.fixture(scope="module")
def result(document: Path) -> Calibration:
    return calibrate(document, out=document.with_name("drive.toml"))


def test_is_distinguished_from_a_hard_disk_by_its_latencies(result: Calibration) -> None:
    assert result.kind == "flash"
    assert result.has_converged, result.message


def test_response_at_all_depths(result: Calibration) -> None:
    for depth in (1, 2, 4, 8, 16, 32):
        true, found = (
            mean_response(scenario_of(d), length=4096, queue_depth=depth, n=2000, seed=5, span_bytes=1 << 29)
            for d in (TRUTH, result.drive)
        )
        assert found == pytest.approx(true, rel=0.03), depth


def test_parameters_that_are_identified_are_right(result: Calibration) -> None:
    truth = {
        "read_overhead": SHAPE.overhead_ns,
        "read_latency": SHAPE.latency_ns,
        "die_read": SHAPE.read_ns,
        "interface_rate": SHAPE.interface_bytes_per_ns * 1e9,
        "parallel_servers": SHAPE.n_dies,
    }
    identified = {name for name in truth if result.parameters[name].is_identified}
    assert {"die_read", "interface_rate"} <= identified
    for name in identified:
        assert result.parameters[name].value == pytest.approx(truth[name], rel=0.35), name
    assert not result.parameters["page"].is_identified


def test_held_out_depth_beside_repeatability(result: Calibration) -> None:
    held = result.to_dict()["held_out"]
    assert held["queue_depth"] == 16
    assert abs(held["mean_error_ratio"]) < 0.05
    # as near as one repetition is to another
    assert held["demerit_ratio"] < 1.1 * held["repeatability_demerit_ratio"]
    assert 0 < held["repeatability_ratio"] < 0.1
    fitted = [row["what"] for row in result.report["residuals"]]
    assert held["what"] not in fitted


def test_profile_tells_the_drives_that_the_evidence_leaves_open(result: Calibration) -> None:
    reported = result.drive.uncertainty
    assert reported is not None
    assert reported.draws is not None
    assert len(reported.draws) == N_DRAWS
    dies = [row[reported.names.index("channels")] for row in reported.draws]
    assert min(dies) <= SHAPE.n_dies <= max(dies)
    # fields that follow from others move with them
    for drive in drawn(result.drive, 4, seed=3):
        assert isinstance(drive, Flash)
        fields = assumed_writes(
            FlashShape(
                drive.read_overhead_ns,
                drive.read_latency_ns,
                drive.read_ns,
                drive.channels,
                drive.page_bytes,
                drive.interface_bytes_per_s / 1e9,
            )
        )
        assert drive.program_ns == pytest.approx(fields["program_ns"], rel=1e-4)
        assert drive.mapping_bytes == fields["mapping_bytes"]


def test_profile_is_saved_with_provenance(result: Calibration, document: Path) -> None:
    saved = load_drive(document.with_name("drive.toml"))
    assert saved == result.drive
    (evidence,) = saved.provenance["evidence"]
    assert evidence["sha256"] == hashlib.sha256(document.read_bytes()).hexdigest()
    assert saved.provenance["host_kernel"] == "mock"
    assert {"program", "date"} <= set(saved.provenance)
    json.dumps(result.to_dict(), allow_nan=False)


def test_simulation_of_the_fit_is_the_engine(result: Calibration) -> None:
    """The fit's own closed loop gives the engine's responses, request by request."""
    drive = result.drive
    assert isinstance(drive, Flash)
    key = Key("read", False, 16384, 8)
    ours = responses_by_simulation(drive, key, n_requests=400, seed=2, span_bytes=1 << 29)
    engine = random_reads(scenario_of(drive), length=16384, queue_depth=8, n=400, seed=2, span_bytes=1 << 29)
    # both leave out their first ones; order of completion and of issue differ within a queue depth
    assert np.mean(ours) == pytest.approx(np.mean(engine), rel=0.02)


def test_formula_is_near_the_simulation() -> None:
    keys = [Key("read", False, 4096, depth) for depth in (1, 4, 16, 64)]
    place, dies, page = (np.array([value]) for value in (SHAPE.place(), SHAPE.n_dies, SHAPE.page_bytes))
    formula = responses_at(place, dies, page, keys)[0]
    simulated = [responses_by_simulation(TRUTH, key, n_requests=3000, seed=1).mean() for key in keys]
    np.testing.assert_allclose(formula, simulated, rtol=0.2)


def test_responses_that_no_drive_has_do_not_converge(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    cells = Cells()
    for depth in (1, 2, 4, 8, 32):
        cells.add(Key("read", False, 4096, depth), 1e5 * depth ** float(rng.choice([-2.0, 3.0])))
    fit = fit_flash(cells, capacity_bytes=1 << 30)
    measured = np.array([cells[key].mean_ns for key in fit.keys])
    assert np.median(np.abs(fit.predicted_ns / measured - 1.0)) > 0.35


def test_bad_evidence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing"):
        calibrate([])
    odd = tmp_path / "odd.txt"
    odd.write_text("nothing of the kind\n")
    with pytest.raises(InputError, match="odd"):
        calibrate(odd)
    device = MockDevice(TRUTH)
    device.random_reads(depths=(1,), n=60, repetitions=1)
    with pytest.raises(InputError, match="too few"):
        calibrate(device.write(tmp_path / "short.json"))
