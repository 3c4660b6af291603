"""Real drives: calibrated on the first half of a trace, the second half is predicted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from calibrate.evidence.requests import read_requests
from calibrate.traces.fit import calibrate_traces, validate_traces

EVIDENCE = os.environ.get("DISKMODEL_EVIDENCE")

#: heads, DiskSim 4.0's demerit (ratio) and the black box's mean absolute error (ms) on the second half
DRIVES = {
    "atlas10k": (6, 0.0667, 0.855),
    "barracuda": (5, 0.0489, 1.134),
    "cheetah4LP": (8, 0.0586, 0.909),
    "dec_rz26": (14, 0.0244, 2.869),
    "hp_c2247a": (13, 0.0072, 2.335),
    "hp_c3323a": (7, 0.0163, 2.421),
}

pytestmark = [
    pytest.mark.evidence,
    pytest.mark.slow,
    pytest.mark.xdist_group("traces"),  # one calibration of each drive for all of them
    pytest.mark.skipif(EVIDENCE is None, reason="DISKMODEL_EVIDENCE names no folder of traces"),
]


@pytest.fixture(scope="module")
def scores() -> dict[str, dict[str, float]]:
    found = {}
    for name in DRIVES:
        trace = read_requests(Path(str(EVIDENCE)) / "traces" / f"{name}.trace")
        _, drive = calibrate_traces(trace.part(0, 5000), name=name)
        found[name] = {**validate_traces(drive, trace.part(5000, 10_000)), "heads": drive.heads}
    return found


@pytest.mark.parametrize("name", DRIVES)
def test_second_half(scores: dict[str, dict[str, float]], name: str) -> None:
    heads, _, black_box = DRIVES[name]
    score = scores[name]
    assert score["heads"] == heads
    assert abs(score["mean_error_ratio"]) < 0.02
    assert score["demerit_ratio"] < 0.07
    assert score["mae_ms"] < black_box


def test_median_demerit(scores: dict[str, dict[str, float]]) -> None:
    assert np.median([score["demerit_ratio"] for score in scores.values()]) <= 0.025
