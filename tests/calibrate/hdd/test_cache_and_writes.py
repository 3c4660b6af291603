"""The cache's brackets, and the write settle of a drive of known parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.fit import calibrate
from calibrate.hdd.cache import Cache, find_cache
from calibrate.measure import load
from diskmodel.drive import Hdd, catalogue
from tests.calibrate.mock_device import MockDevice


def drive_with(settle_ns: int) -> Hdd:
    drive = catalogue()["generic-10k"]
    assert isinstance(drive, Hdd)
    return drive.model_copy(update={"write_settle_ns": settle_ns, "cache": {"size_bytes": 8 << 20, "segments": 8}})


def measured(drive: Hdd, path: Path, summaries: dict[str, dict[str, Any]], n_writes: int = 0) -> Path:
    device = MockDevice(drive, host_ns=10_000, jitter_ns=5_000.0)
    device.cache_hit()
    device.rotation_period()
    device.seek_profile()
    device.zones()
    device.random_reads(depths=(1,), n=900)
    if n_writes:
        device.begin("write_settle")
        device.run(device.anywhere(2 * n_writes, 4096), 4096, is_write=device.rng.random(2 * n_writes) < 0.5)
    for name, summary in summaries.items():
        device.begin(name)
        device.experiments[-1]["summary"] = summary
    return device.write(path / "m.json")


@pytest.mark.parametrize("settle_ns", [*(pytest.param(ns, marks=pytest.mark.slow) for ns in (0, 900_000)), 250_000])
def test_the_write_settle_comes_back(settle_ns: int, tmp_path: Path) -> None:
    result = calibrate(measured(drive_with(settle_ns), tmp_path, {}, n_writes=400), seed=1)
    found = result.parameters["write_settle"]
    assert found.value == pytest.approx(settle_ns, abs=100_000)
    assert found.stderr is not None
    assert abs(found.value - settle_ns) < 3 * found.stderr
    assert isinstance(result.drive, Hdd)
    assert result.drive.write_settle_ns == round(found.value)


def test_without_writes_nothing_is_said_of_them(tmp_path: Path) -> None:
    result = calibrate(measured(drive_with(250_000), tmp_path, {}), seed=1)
    assert not {"write_settle", "write_back", "cache_segments", "read_ahead"} & set(result.parameters)
    assert "Writes are assumed" in result.drive.notes
    assert any("the drive's write cache is unknown" in text for text in result.report["warnings"])


def test_without_writes_the_sheet_says_what_the_cache_does(tmp_path: Path) -> None:
    sheet = catalogue()["seagate-exos-x18"]
    result = calibrate(measured(drive_with(250_000), tmp_path, {}), start=sheet, seed=1)
    assert isinstance(result.drive, Hdd)
    assert result.drive.cache is not None
    assert result.drive.cache.write_back
    assert result.drive.bus == "SATA 6 Gb/s"
    assert sheet.name in result.drive.notes
    assert not any("write cache is unknown" in text for text in result.report["warnings"])


@pytest.mark.parametrize(("took_ns", "is_answered"), [(6_000_000, False), (90_000, True)])
def test_flushes_that_write_nothing_mean_a_protected_cache(tmp_path: Path, took_ns: int, is_answered: bool) -> None:
    rows = [{"writes_before": n, "n": 20, "p50_ns": took_ns} for n in (0, 1, 8)]
    summaries = {
        "write_cache": {"is_write_back": True},
        "flushes": {"by_writes_before": rows, "is_answered_without_writing": is_answered},
    }
    result = calibrate(measured(drive_with(0), tmp_path, summaries), seed=1)
    assert isinstance(result.drive, Hdd)
    assert result.drive.cache is not None
    assert result.drive.cache.power_loss_protected == is_answered
    assert result.parameters["power_loss_protected"].why.startswith("40 flushes after writes took ")


def buffer_of(tmp_path: Path, summaries: dict[str, dict[str, Any]]) -> Cache:
    device = MockDevice(drive_with(0))
    for name, summary in summaries.items():
        device.begin(name)
        device.experiments[-1]["summary"] = summary
    return find_cache(load(device.write(tmp_path / "m.json")))


@pytest.mark.parametrize(("low", "above", "value"), [(7, 9, 8), (13, 17, 16), (9, 13, 10), (1, 2, 1), (9, 10, 9)])
def test_a_power_of_two_in_the_bracket_is_taken(tmp_path: Path, low: int, above: int, value: int) -> None:
    found = buffer_of(tmp_path, {"cache_segments": {"segments_at_least": low, "segments_below": above}}).segments
    assert found is not None
    assert (found.value, found.low, found.high) == (value, low, above - 1)
    assert found.stderr == pytest.approx((above - 1 - low) / np.sqrt(12))


@pytest.mark.parametrize(("low", "above"), [(0, 2), (65, None), (None, None)])
def test_half_a_bracket_is_no_finding(tmp_path: Path, low: int | None, above: int | None) -> None:
    assert buffer_of(tmp_path, {"cache_segments": {"segments_at_least": low, "segments_below": above}}).segments is None


def test_what_was_found_is_in_the_profile(tmp_path: Path) -> None:
    summaries = {
        "cache_segments": {"segments_at_least": 9, "segments_below": 13},
        "read_ahead": {"read_ahead_at_least_bytes": 200_000, "read_ahead_below_bytes": 220_000},
        "write_cache": {"is_write_back": True},
    }
    drive = calibrate(measured(drive_with(0), tmp_path, summaries), seed=1).drive
    assert isinstance(drive, Hdd)
    assert drive.cache is not None
    assert (drive.cache.segments, drive.cache.write_back) == (10, True)
    assert drive.cache.size_bytes == pytest.approx(10 * 209_761, rel=0.01)
    assert drive.tables().dirty_sectors > 0


def test_a_segment_may_hold_more_than_is_read_ahead(tmp_path: Path) -> None:
    summaries = {
        "cache_segments": {
            "segments_at_least": 9,
            "segments_below": 13,
            "segment_at_least_bytes": 300_000,
            "segment_below_bytes": 600_000,
        },
        "read_ahead": {"read_ahead_at_least_bytes": 200_000, "read_ahead_below_bytes": 220_000},
    }
    result = calibrate(measured(drive_with(0), tmp_path, summaries), seed=1)
    drive = result.drive
    assert isinstance(drive, Hdd)
    assert drive.cache is not None
    assert drive.cache.size_bytes == 10 * 524_288
    assert drive.tables().segment_sectors == 1024
    assert 512 * drive.tables().read_ahead_sectors == pytest.approx(209_761, abs=512)
    assert result.parameters["cache_segment"].value == 524_288
