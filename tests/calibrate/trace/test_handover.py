"""The table of delays by size, from delays that are known."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.trace.access.handover import MIN_POINTS, NO_DELAY, PRIOR, fit_handover


def test_a_step_by_size_comes_back() -> None:
    rng = np.random.default_rng(1)
    size = rng.choice([4.0, 12.0, 30.0, 60.0], 4000)
    truth = np.where(size > 16, 0.4, -0.1)
    table = fit_handover(size, truth + rng.normal(0.0, 0.05, len(size)))
    assert table.at(np.array([4.0, 12.0, 30.0, 60.0])) == pytest.approx([-0.1, -0.1, 0.4, 0.4], abs=0.02)
    assert table.at(np.array([21.0]))[0] == pytest.approx(0.15, abs=0.02)


def test_outliers_do_not_move_it() -> None:
    size = np.repeat([4.0, 12.0], 200)
    late = np.where(np.arange(400) % 5 == 0, 5.0, 0.2)
    assert fit_handover(size, late).at(size).max() == pytest.approx(0.2, abs=0.01)


def test_thin_classes_lean_on_none() -> None:
    size = np.repeat([4.0, 12.0], [200, MIN_POINTS])
    table = fit_handover(size, np.ones(len(size)))
    assert table.late_ms[1] == pytest.approx(MIN_POINTS / (MIN_POINTS + PRIOR))


def test_one_class_tells_no_table() -> None:
    assert fit_handover(np.full(500, 8.0), np.ones(500)) is NO_DELAY
    assert NO_DELAY.at(np.array([1.0, 2000.0])).tolist() == [0.0, 0.0]
