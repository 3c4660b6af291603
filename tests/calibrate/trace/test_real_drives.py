"""Real drives: calibrated on the first half of a trace, the second half is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calibrate.trace.fit import validate_traces
from tests.calibrate.trace.real_drives import DRIVES, EVIDENCE, fitted

pytestmark = [
    pytest.mark.evidence,
    pytest.mark.slow,
    pytest.mark.xdist_group("traces"),  # one calibration of each drive for all of them
    pytest.mark.skipif(EVIDENCE is None, reason="DISKMODEL_EVIDENCE names no folder of traces"),
]


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    found = {}
    for name in DRIVES:
        drive, half = fitted(name)
        found[name] = {**validate_traces(drive, half), "heads": drive.heads}
    return found


@pytest.mark.parametrize("name", DRIVES)
def test_second_half(scores: dict[str, Any], name: str) -> None:
    score = scores[name]
    assert score["heads"] == DRIVES[name].heads
    assert abs(score["mean_error_ratio"]) < 0.02
    assert score["demerit_ratio"] <= DRIVES[name].disksim_demerit_ratio
    assert score["mae_ms"] <= min(DRIVES[name].disksim_mae_ms, DRIVES[name].black_box_mae_ms)


@pytest.mark.parametrize("name", DRIVES)
def test_second_half_run_by_the_engines(scores: dict[str, Any], name: str) -> None:
    engine = scores[name]["engine"]
    assert abs(engine["mean_error_ratio"]) < 0.01
    assert engine["demerit_ratio"] < 1.25 * scores[name]["demerit_ratio"]
    assert engine["demerit_ratio"] < DRIVES[name].disksim_demerit_ratio
    assert engine["mae_ms"] < 1.1 * scores[name]["mae_ms"]
    assert engine["mae_ms"] < DRIVES[name].black_box_mae_ms


def test_median_demerit_run_by_the_engines(scores: dict[str, Any]) -> None:
    assert np.median([score["engine"]["demerit_ratio"] for score in scores.values()]) <= 0.016


def test_median_demerit(scores: dict[str, Any]) -> None:
    assert np.median([score["demerit_ratio"] for score in scores.values()]) <= 0.025
