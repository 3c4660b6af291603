"""A virtual disk of known parameters: one server that answers in batches, recovered and not taken for parallel dies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import scenario_of
from calibrate.evidence.cells import Cells, Key, cells_of_fio, key_of
from calibrate.fit import calibrate
from calibrate.flash.calibrate import Known, calibrate_flash
from calibrate.virtual_disk.fit import NAMES, ServerShape, fit_single_server
from calibrate.virtual_disk.profile import parameters_of, profile_of
from calibrate.virtual_disk.responses import responses_of
from diskmodel.drive import Flash, Virtual, load_drive
from diskmodel.drive.generator import DrawnTimes
from diskmodel.drive.virtual.processor import processor_ns
from diskmodel.formats import FioJob
from diskmodel.formats.fio.job import FioDirection
from tests.calibrate.mock_device import MockDevice
from tests.calibrate.virtual_disk.server_truth import KEYS, measured

SHAPE = ServerShape(
    wake_ns=35_000.0, read_overhead_ns=6_000.0, read_copy_ns=0.7, write_overhead_ns=7_000.0, write_copy_ns=0.15
)
TRUTH = profile_of(
    fit_single_server(measured(SHAPE, np.random.default_rng(0), noise_ratio=1e-9, repetitions=2)),
    capacity_bytes=1 << 30,
    name="truth",
    provenance={},
).model_copy(update={"wake_ns": tuple(range(20_000, 50_001, 1_000))})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """Reads only, by request: the mock does not write."""
    device = MockDevice(TRUTH, host_ns=300, jitter_ns=800.0)
    device.rotation_period(rounds=3)
    device.random_reads(n=800)
    device.block_sizes(n=200)
    folder = tmp_path_factory.mktemp("server")
    return calibrate(device.write(folder / "m.json"), out=folder / "drive.toml")


def test_is_distinguished_from_parallel_dies(result: Calibration) -> None:
    assert result.has_converged, result.message
    assert "one server with batches rather than parallel dies: strong evidence" in result.message
    assert isinstance(result.drive, Virtual)
    assert result.drive.completion == "batch"
    assert result.to_dict()["kind"] == "virtual"


def test_parameters_of_reads(result: Calibration) -> None:
    truth = {
        "wake": SHAPE.wake_ns,
        "read_overhead": SHAPE.read_overhead_ns,
        "read_copy": 1e9 / SHAPE.read_copy_ns,
    }
    for name, value in truth.items():
        found = result.parameters[name]
        assert found.is_identified
        assert found.value == pytest.approx(value, rel=0.06), name


def test_writes_that_were_not_measured_are_said_to_follow_the_reads(result: Calibration) -> None:
    for name in ("write_overhead", "write_copy"):
        found, reads = result.parameters[name], result.parameters[name.replace("write", "read")]
        assert not found.is_identified
        assert "no writes in the evidence" in found.why
        assert found.value == pytest.approx(reads.value, rel=0.01)
    assert "Writes were not measured" in result.drive.notes


def test_held_out_depth_and_its_distribution(result: Calibration) -> None:
    held = result.to_dict()["held_out"]
    assert held["queue_depth"] == 16
    assert abs(held["mean_error_ratio"]) < 0.02
    assert held["demerit_ratio"] < 0.05


def test_table_of_wakings_has_the_form_of_the_truth(result: Calibration) -> None:
    assert isinstance(result.drive, Virtual)
    true, found = (np.quantile(drive.wake_ns, (0.1, 0.5, 0.9)) for drive in (TRUTH, result.drive))
    np.testing.assert_allclose(found, true, rtol=0.12)


def test_profile_is_read_back(result: Calibration, tmp_path: Path) -> None:
    result.drive.save(tmp_path / "drive.toml")
    assert load_drive(tmp_path / "drive.toml") == result.drive
    assert result.drive.uncertainty is not None
    assert result.drive.uncertainty.names == ("wake_ns", "read_overhead_ns", "read_copy_bytes_per_s")


def test_writes_and_mixes_are_fitted() -> None:
    rng = np.random.default_rng(3)
    fit = fit_single_server(measured(SHAPE, rng, noise_ratio=0.01, repetitions=3))
    np.testing.assert_allclose(np.exp(fit.shape.vector() - SHAPE.vector()), 1.0, atol=0.06)
    assert all(parameters_of(fit)[name].is_identified for name in NAMES)


def test_parallel_dies_are_not_taken_for_a_server() -> None:
    """A drive whose responses do not grow until all dies are busy."""
    cells = Cells()
    rng = np.random.default_rng(5)
    for depth in (1, 2, 4, 8, 16, 32, 64):
        for factor in np.exp(rng.normal(0.0, 0.01, 3)):
            cells.add(Key("read", False, 4096, depth), float(max(80_000.0, 80_000.0 * depth / 24) * factor))
    for length in (16384, 65536):
        cells.add(Key("read", False, length, 1), 80_000.0 + length / 2.0)
    found = calibrate_flash(cells, Known("dies", 1 << 30, 1 << 30), provenance={}, warnings=[])
    assert isinstance(found.drive, Flash)
    assert "parallel dies rather than one server" in found.message


@pytest.mark.parametrize("key", [Key("read", False, 16384, 8), Key("write", False, 4096, 16)])
def test_a_closed_loop_is_one_wake_up_and_all_commands(key: Key) -> None:
    """Clients of a batch stay in step: every response is a drawn wake-up and the work of all clients."""
    found = responses_of(TRUTH, key, n_requests=1000, seed=1)
    tables = TRUTH.tables()
    wakes = DrawnTimes(tables.wake_ns, int(scenario_of(TRUTH, 1).phase_ns[0]))
    work = key.queue_depth * processor_ns(tables, key.op == "write", key.length_bytes // tables.sector_bytes)
    expected = [wakes.draw() + work for _ in range(len(found) // key.queue_depth)]
    assert found.tolist() == np.repeat(expected, key.queue_depth).tolist()


def test_responses_of_a_mix_have_the_mean_of_the_formula() -> None:
    """Standard error of the mean 0.3 %: from the number of reads of a batch, and the wake-up times."""
    key = key_of(0.7, False, 8192, 6)
    tables = TRUTH.tables()
    read_ns, write_ns = (processor_ns(tables, is_write, 8192 // tables.sector_bytes) for is_write in (False, True))
    expected = np.mean(tables.wake_ns) + 6 * (0.7 * read_ns + 0.3 * write_ns)
    assert responses_of(TRUTH, key, n_requests=60_000, seed=1).mean() == pytest.approx(expected, rel=0.01)


def test_mixes_of_fio_are_evidence() -> None:
    read, write = (
        FioDirection(n_ios=1000, total_bytes=4_096_000, runtime_ns=10**9, iops=iops, bandwidth_bytes_per_s=4096 * iops)
        for iops in (70_000.0, 30_000.0)
    )
    lengths = {"read": 4096.0, "write": 4096.0}
    job = FioJob(name="mix", pattern="randrw", depth=16, engine="io_uring", block_bytes=lengths, read=read, write=write)
    cells = cells_of_fio([job])
    assert list(cells) == [Key("mix", False, 4096, 16, 70)]
    assert cells[key_of(0.7, False, 4096, 16)].mean_ns == pytest.approx(16 / 100_000 * 1e9)


def test_keys_name_what_was_asked() -> None:
    assert str(KEYS[0]) == "random reads of 4096 bytes at queue depth 1"
    assert str(key_of(0.7, False, 4096, 4)) == "random requests, 70 % of them reads, of 4096 bytes at queue depth 4"
    assert key_of(1.0, False, 4096, 4) == Key("read", False, 4096, 4)
    assert key_of(0.0, True, 4096, 4) == Key("write", True, 4096, 4)
