"""A traced drive as the engines run it: its cylinders and angles, and its responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.report import report_html
from calibrate.trace.engine.cylinders import zones_of
from calibrate.trace.engine.replay import replay_on_engine
from calibrate.trace.engine.uncertainty import parameters_of
from calibrate.trace.fit import TraceFit, fit_trace
from calibrate.trace.geometry.angle_map import AngleMap
from calibrate.trace.geometry.angles import Step, ZoneAngle
from diskmodel.drive import Hdd, load_drive
from diskmodel.drive.geometry import angle_of, place_of
from diskmodel.errors import InputError
from tests.calibrate.trace.traced_drive import TracedDrive

DRIVE = TracedDrive()
TRACE = DRIVE.trace(6000, seed=5)


@pytest.fixture(scope="module")
def fit() -> TraceFit:
    return fit_trace(TRACE.part(0, 4000), sheet={"blocks": DRIVE.n_blocks})


def drive_of(angles: AngleMap, n_blocks: int, heads: int) -> Hdd:
    return Hdd.parse(
        {
            "kind": "hdd",
            "name": "laid out",
            "capacity_bytes": n_blocks * 512,
            "rpm": 6000,
            "heads": heads,
            "zones": zones_of(angles, n_blocks, heads),
            "seek": {"kind": "curve", "a": "1 ms", "b_ns_per_root": 0},
        }
    )


def angle_errors(angles: AngleMap, drive: Hdd) -> Any:
    blocks = np.arange(0, drive.n_sectors, 7)
    index, per_track = angle_of(drive.tables(), blocks)
    expected = angles.angle(blocks.astype(np.float64), np.zeros(len(blocks), dtype=np.bool_))
    return np.abs((index / per_track - expected + 0.5) % 1.0 - 0.5)


def zone(first: float, last: float, tracks: float, slips: tuple[float, ...] = (), begin: float = 0.0) -> ZoneAngle:
    """Four heads, skews of 0.15 and 0.1 turns more, tracks from `begin` on."""
    rate = (1.0 + 0.15 + 0.1 / 4) / tracks
    return ZoneAngle(first, last, 0.3, rate, Step(tracks, begin, 0.15), Step(4 * tracks, begin, 0.1), slips=slips)


def test_whole_cylinders_are_one_zone_each() -> None:
    angles = AngleMap((zone(0, 40_000, 100), zone(40_000, 64_000, 80)), 10.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    drive = drive_of(angles, 64_000, 4)
    assert [item.cylinders for item in drive.zone_list()] == [100, 75]
    assert angle_errors(angles, drive).max() < 0.02
    cylinder, head, sector = place_of(drive.tables(), [39_999, 40_000])
    assert (cylinder.tolist(), head.tolist(), sector.tolist()) == ([99, 100], [3, 0], [99, 0])


def test_a_track_that_is_left_out_moves_every_later_block_one_track_on() -> None:
    angles = AngleMap((zone(0, 40_000, 100, slips=(12_300.0,)),), 10.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    drive = drive_of(angles, 40_000, 4)
    errors = angle_errors(angles, drive)
    assert (errors < 0.02).mean() > 0.98, "all but the rest of one cylinder"
    cylinder, head, _ = place_of(drive.tables(), [12_300 + 400, 12_300 + 400 - 1])
    assert (4 * cylinder + head).tolist() == [128, 127 - 1 + 1]


@pytest.mark.parametrize("tracks", [99.6, 100.3])
def test_tracks_of_no_whole_number_of_blocks_stay_where_they_were_measured(tracks: float) -> None:
    angles = AngleMap((zone(0, 40_000, tracks, begin=55.0),), 10.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    drive = drive_of(angles, 40_000, 4)
    assert np.median(angle_errors(angles, drive)) < 0.02
    assert drive.tables().n_cylinders == pytest.approx(40_000 / tracks / 4, rel=0.02)


def test_the_engines_do_what_the_drive_did(fit: TraceFit) -> None:
    score = replay_on_engine(fit.to_drive(), TRACE.part(4000, 6000))
    assert abs(float(score["mean_error_ratio"] or 0.0)) < 0.01
    assert float(score["demerit_ratio"] or 1.0) < 0.015
    assert float(score["mae_ms"] or 9.0) < 0.03 * float(score["measured_mean_ms"] or 0.0)


def test_the_page_has_residuals_and_correlations(fit: TraceFit) -> None:
    found = fit.calibration("page", {"evidence": "made up"})
    text = report_html(found.to_dict(), found.report["residuals"], title="page")
    assert text.count("<svg") == 2
    assert "reads, far" in text
    assert "Correlations" in text
    assert "run by the engines" in text
    assert found.drive.provenance["evidence"] == "made up"
    assert {"kept", "before_ratio", "after_ratio"} == set(found.drive.provenance["last_stage"])


def test_reported_errors_are_of_the_size_of_actual_ones(fit: TraceFit) -> None:
    drive = fit.to_drive()
    uncertain = parameters_of(drive)
    overhead = uncertain["profile read_overhead_ns"]
    assert overhead.stderr is not None
    assert abs(overhead.value / 1e6 - DRIVE.overhead_ms) < 3.5 * overhead.stderr / 1e6
    assert abs(drive.period_ns / 1e6 - DRIVE.period_ms) < 8 * (uncertain["profile revolution_ns"].stderr or 0.0) / 1e6


def test_the_profile_tells_the_electronics_of_the_drive(fit: TraceFit) -> None:
    drive = fit.to_drive()
    assert drive.buffer_full_ratio == 1.0, "all data is sent behind the last block"
    assert drive.write_prefill_bytes == 0, "data of writes costs nothing"
    assert drive.read_overhead_ns / 1e6 == pytest.approx(DRIVE.overhead_ms, abs=0.1)
    near = drive.seek.curve_ns(200)[150] / 1e6 + drive.read_overhead_ns / 1e6
    assert near == pytest.approx(DRIVE.overhead_ms + DRIVE.seek_ms(150), abs=0.15)
    assert drive.cache is not None
    assert not drive.cache.read_on_arrival


def test_the_saved_profile_is_the_same_drive(fit: TraceFit, tmp_path: Path) -> None:
    drive = fit.to_drive("saved")
    drive.save(tmp_path / "saved.toml")
    again = load_drive(str(tmp_path / "saved.toml"))
    assert isinstance(again, Hdd)
    part = TRACE.part(4000, 4500)
    assert replay_on_engine(again, part) == replay_on_engine(drive, part)


def test_a_capacity_too_small_for_the_trace_is_refused() -> None:
    with pytest.raises(InputError, match="capacity"):
        fit_trace(TRACE.part(0, 500), sheet={"blocks": 1000})


def test_a_trace_beyond_the_drive_is_refused(fit: TraceFit) -> None:
    other = TracedDrive(zones=((2000, 150), (1000, 120))).trace(500, seed=1)
    with pytest.raises(InputError, match="capacity"):
        replay_on_engine(fit.to_drive(), other)
