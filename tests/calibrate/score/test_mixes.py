"""Measured mixes of reads and writes: never fitted, and compared with the profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from calibrate.flash.writes import MAX_BUFFER_BYTES
from calibrate.measure import load
from calibrate.report import report_html
from calibrate.score.mixes import mixes_of, mixes_report
from diskmodel.cli.calibrate import lines
from diskmodel.drive import Flash, Hdd, catalogue, load_drive
from tests.calibrate.flash.test_writes import truth as flash_truth
from tests.calibrate.mock_device import MockDevice

pytestmark = pytest.mark.slow

SETTLE_NS = 400_000
MIXES = ((0.7, 0.5), (1, 4, 16))


def hdd_truth() -> Hdd:
    drive = catalogue()["generic-10k"]
    assert isinstance(drive, Hdd)
    own = {"write_settle_ns": SETTLE_NS, "cache": {"size_bytes": 8 << 20, "segments": 8}}
    return Hdd.parse({**drive.to_dict(), **own})


def measured_hdd(folder: Path, *, with_mixes: bool, with_settle: bool = True) -> Path:
    device = MockDevice(hdd_truth(), host_ns=8_000, jitter_ns=4_000.0)
    device.reads(n=800)
    if with_settle:
        device.begin("write_settle")
        device.run(device.anywhere(1000, 4096), 4096, is_write=device.rng.random(1000) < 0.5)
    if with_mixes:
        device.mixed_read_write(*MIXES)
    return device.write(folder / f"hdd-{with_mixes}-{with_settle}.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mixes")


@pytest.fixture(scope="module")
def hdd(folder: Path) -> Calibration:
    return calibrate(measured_hdd(folder, with_mixes=True), out=folder / "hdd.toml")


def test_every_mix_is_reported_and_predicted(hdd: Calibration) -> None:
    mixes = hdd.to_dict()["held_out"]["mixed_read_write"]
    assert mixes["n_conditions"] == 6
    found = {(row["read_percent"], row["queue_depth"]) for row in mixes["conditions"]}
    assert found == {(percent, depth) for percent in (70, 50) for depth in (1, 4, 16)}
    for row in mixes["conditions"]:
        assert row["n"] == 800
        assert row["reads"]["n"] + row["writes"]["n"] == 800
        # 800 responses that scatter by two fifths of their mean, and a platter that stood elsewhere
        assert abs(row["mean_error_ratio"]) < 0.05, row
        assert abs(row["percentile_error_ratios"]["p50"]) < 0.12, row
        # where a queue is ordered by position a few wait long: one repetition is as far from another
        assert row["demerit_ratio"] < 2.0 * row["repeatability_demerit_ratio"], row
    assert mixes["median_mean_error_ratio"] < 0.03


def test_they_are_not_fitted(hdd: Calibration, folder: Path) -> None:
    without = calibrate(measured_hdd(folder, with_mixes=False))
    assert "mixed_read_write" not in without.held_out
    assert {name: p.value for name, p in without.parameters.items()} == {
        name: p.value for name, p in hdd.parameters.items()
    }
    assert without.drive.uncertainty == hdd.drive.uncertainty
    assert not any("reads," in row["what"] for row in hdd.report["residuals"])


def test_profile_and_reports_tell_them(hdd: Calibration, folder: Path) -> None:
    held = load_drive(folder / "hdd.toml").provenance["held_out"]
    printed = hdd.to_dict()
    assert held["mean_error_ratio"] == pytest.approx(printed["held_out"]["mean_error_ratio"], abs=1e-4)
    assert set(held["percentile_error_ratios"]) == {"p50", "p95", "p99"}
    assert held["mixed_read_write"]["conditions"][0][
        "what"
    ] == "random requests, 50 % of them reads, of 4096 bytes " + ("at queue depth 1")
    page = report_html(printed, hdd.report["residuals"], title="t")
    for row in printed["held_out"]["mixed_read_write"]["conditions"]:
        assert row["what"] in page
    assert any("mixed reads and writes, held out (6 conditions)" in line for line in lines(printed))


def test_writes_that_were_not_measured_apart_show_in_the_mixes(folder: Path) -> None:
    """A profile that takes writes to cost what reads do is found out by its writes, not by its reads."""
    slow = hdd_truth().model_copy(update={"write_settle_ns": 2_000_000})
    device = MockDevice(slow)
    device.mixed_read_write(*MIXES)
    mixes = mixes_of([load(device.write(folder / "slow.json"))], with_writes=True)
    alone = [mix for mix in mixes if mix.key.queue_depth == 1]
    report = mixes_report(hdd_truth().model_copy(update={"write_settle_ns": 0}), alone, seed=0)
    assert report is not None
    for row in report["conditions"]:
        assert abs(row["reads"]["mean_error_ratio"]) < 0.07
        assert row["writes"]["mean_error_ratio"] < -0.1
    good = mixes_report(slow, alone, seed=0)
    assert good is not None
    assert good["median_mean_error_ratio"] < 0.3 * report["median_mean_error_ratio"]


@pytest.mark.parametrize("has_long_writes", [False, True])
def test_flash_is_fitted_to_writes_and_held_against_mixes(folder: Path, has_long_writes: bool) -> None:
    """Only writes beyond the buffer determine how long a die programs, which reads beside writes wait for."""
    device = MockDevice(flash_truth(), host_ns=500, jitter_ns=1_500.0)
    device.rotation_period(rounds=3)
    device.random_reads(n=800)
    device.block_sizes(n=100)
    device.mixed_read_write()
    if has_long_writes:
        device.begin("gc_onset")
        n = MAX_BUFFER_BYTES // 65536 + 1000
        device.run(device.anywhere(n, 65536), 65536, 32, is_write=True, is_durable=False)
    document = device.write(folder / "flash.json")
    result = calibrate(document, out=folder / "flash.toml")
    assert isinstance(result.drive, Flash)
    assert load_drive(folder / "flash.toml") == result.drive
    assert "Writes are fitted" in result.drive.notes
    assert not any(row["op"] == "mix" for row in result.report["residuals"])
    mixes = result.held_out["mixed_read_write"]
    # writes only are fitted: six mixes are left
    assert mixes["n_conditions"] == 6
    assert result.parameters["die_program"].is_identified == has_long_writes
    assert (mixes["median_mean_error_ratio"] < 0.15) == has_long_writes


def test_a_measurement_without_mixes_has_no_report() -> None:
    assert mixes_report(hdd_truth(), (), seed=0) is None
