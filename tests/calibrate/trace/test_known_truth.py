"""A drive whose every parameter is known is traced, calibrated, and predicted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibrate.score.agreement import agreement
from calibrate.trace.clock.issue import Pause
from calibrate.trace.fit import TraceFit, calibrate_trace, fit_trace, validate_traces
from calibrate.trace.geometry.angle_map import count_heads, track_blocks
from calibrate.trace.model_dict import model_from_dict, model_to_dict
from diskmodel.drive.hdd import Hdd
from diskmodel.errors import InputError
from tests.calibrate.trace.traced_drive import TracedDrive

pytestmark = pytest.mark.slow

DRIVE = TracedDrive()
TRACE = DRIVE.trace(6000, seed=5)


@pytest.fixture(scope="module")
def fit() -> TraceFit:
    return fit_trace(TRACE.part(0, 4000))


def test_revolution_within_a_thousandth_of_a_percent(fit: TraceFit) -> None:
    assert fit.has_converged
    assert fit.model.rotation.period_ms == pytest.approx(DRIVE.period_ms, rel=1e-5)


def test_the_pause_is_known_for_what_it_is(fit: TraceFit) -> None:
    assert fit.model.rotation.pause is Pause.AFTER
    other = fit_trace(DRIVE.trace(3000, seed=6, pause_is_before=True))
    assert other.model.rotation.pause is Pause.BEFORE
    assert other.model.rotation.period_ms == pytest.approx(DRIVE.period_ms, rel=1e-5)


def test_zones_tracks_and_heads(fit: TraceFit) -> None:
    angles = fit.model.angles
    assert angles is not None
    first = 0
    for cylinders, spt in DRIVE.zones:
        blocks = cylinders * DRIVE.heads * spt
        middle = np.array([first + blocks / 2])
        zone = angles.zones[int(angles.zone_of(middle)[0])]
        assert track_blocks(zone) == pytest.approx(spt, rel=2e-3)
        first += blocks
    assert count_heads(angles)[0] == DRIVE.heads


def test_seek_curve_within_five_percent_or_a_tenth_of_a_millisecond(fit: TraceFit) -> None:
    for distance in (30, 100, 300, 700, 1200):
        truth = DRIVE.overhead_ms + DRIVE.seek_ms(distance)
        found = float(fit.model.ready_read.at(np.array([distance * DRIVE.heads + 0.0]))[0])
        assert found == pytest.approx(truth, rel=0.05, abs=0.1)


def test_what_was_not_seen_is_predicted(fit: TraceFit) -> None:
    rest = TRACE.part(4000, 6000)
    drive = fit.to_drive()
    scores = validate_traces(drive, rest)
    assert scores["demerit_ratio"] < 0.03
    assert abs(scores["mean_error_ratio"]) < 0.02
    assert scores["mae_ms"] < 0.1 * scores["measured_mean_ms"]
    assert scores["n"] == scores["reads"]["n"] + scores["writes"]["n"]


def test_a_trace_beyond_the_profile_is_said_to_be_left_out_of_the_engines(fit: TraceFit) -> None:
    drive, rest = fit.to_drive(), TRACE.part(4000, 6000)
    assert validate_traces(drive, rest)["engine"]["n"] == len(rest)
    lba = rest.lba.copy()
    lba[-1] = drive.n_sectors
    found = validate_traces(drive, replace(rest, lba=lba))
    assert found["engine"] is None
    assert "the engines were not compared: the trace reaches byte" in found["engine_why"]
    assert "--capacity" in found["engine_why"]
    assert "--capacity" in fit.calibration("known", {}).report["warnings"][0]


def test_future_responses_do_not_matter(fit: TraceFit) -> None:
    rest = TRACE.part(4000, 4600)
    changed = rest.response_ms.copy()
    changed[300:] += 3.0
    other = type(rest)(rest.is_write, rest.lba, rest.n_blocks, changed, rest.pause_ms)
    before, after = fit.predict(rest).draws_ms, fit.predict(other).draws_ms
    assert np.array_equal(before[:301], after[:301])


def test_profile_round_trip(fit: TraceFit, tmp_path: Any) -> None:
    drive = fit.to_drive("known")
    drive.save(tmp_path / "known.toml")
    again = Hdd.load(tmp_path / "known.toml")
    assert again.heads == DRIVE.heads
    model = model_from_dict(again.provenance["trace_model"])
    assert model_to_dict(model) == again.provenance["trace_model"]
    rest = TRACE.part(5000, 6000)
    assert validate_traces(again, rest) == validate_traces(drive, rest)


def test_parameters_are_reported_with_errors() -> None:
    printed = calibrate_trace(TRACE.part(0, 3000)).to_dict()
    assert {"converged", "kind", "parameters", "held_out"} <= printed.keys()
    revolution = printed["parameters"]["revolution"]
    assert revolution["identified"]
    assert abs(revolution["value"] - DRIVE.period_ms) < 8 * revolution["stderr"]


def test_scrambled_clock_is_not_taken_for_a_revolution() -> None:
    rng = np.random.default_rng(3)
    part = TRACE.part(0, 3000)
    noisy = type(part)(
        part.is_write, part.lba, part.n_blocks, part.response_ms, part.pause_ms + rng.uniform(0, 40, len(part))
    )
    fit = fit_trace(noisy)
    assert not fit.has_converged
    assert not fit.parameters["revolution"].is_identified
    assert "7200 rpm" in fit.message
    rest = TRACE.part(3000, 6000)
    prediction = fit.predict(rest)
    score = agreement(rest.response_ms, prediction.expected_ms, prediction.draws_ms)
    assert score["demerit_ratio"] < 0.06
    assert abs(score["mean_error_ratio"]) < 0.03


def test_too_short_a_trace_is_refused() -> None:
    with pytest.raises(InputError, match="400"):
        fit_trace(TRACE.part(0, 100))
