"""Rare long pauses: kept as often and as long as they were seen."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.trace.access.stalls import MIN_TURNS, NO_STALLS, fit_stalls

PERIOD_MS = 8.0


def test_share_and_length_come_back() -> None:
    rng = np.random.default_rng(1)
    late = rng.normal(0.0, 3.0, 20_000)
    stalled = rng.random(len(late)) < 0.004
    late[stalled] += rng.uniform(50.0, 150.0, int(stalled.sum()))
    found = fit_stalls(late, PERIOD_MS, len(late))
    assert found.share == pytest.approx(stalled.mean())
    drawn = found.draw((20_000, 10), rng)
    assert (drawn > 0).mean() == pytest.approx(found.share, rel=0.1)
    assert drawn.mean() == pytest.approx(late[stalled].sum() / len(late), rel=0.15)


def test_a_lost_revolution_is_no_stall() -> None:
    assert fit_stalls(np.full(100, (MIN_TURNS - 0.1) * PERIOD_MS), PERIOD_MS, 100) is NO_STALLS


def test_none_hold_nothing_up() -> None:
    assert not NO_STALLS.draw((50, 4), np.random.default_rng(0)).any()
