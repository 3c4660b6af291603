"""The platter's phase against the measured clock, from phases that were made up: steady drift, wander, jumps."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.trace.clock.drift import best_span, causal, turns_per_ms

N = 4000
T_MS = np.cumsum(np.random.default_rng(0).uniform(20.0, 80.0, N))


def phasors(turns: np.ndarray, noise: float = 0.02, outliers: float = 0.03) -> np.ndarray:
    rng = np.random.default_rng(1)
    reported = turns + rng.normal(0.0, noise, N)
    reported = np.where(rng.random(N) < outliers, rng.random(N), reported)
    return np.asarray(np.exp(2j * np.pi * reported))


def missed(turns: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(np.angle(found * np.exp(-2j * np.pi * turns))) / (2 * np.pi))


@pytest.mark.parametrize("drift", [0.0, 3e-6, -4.5e-5])
def test_a_steady_drift_comes_back(drift: float) -> None:
    found, stderr = turns_per_ms(phasors(0.3 + drift * T_MS), T_MS)
    assert abs(found - drift) < min(5 * stderr, 3e-7)


def test_jumps_do_not_move_the_drift() -> None:
    jumps = 0.4 * np.searchsorted([20e3, 45e3, 80e3, 120e3], T_MS)
    found, _ = turns_per_ms(phasors(8e-6 * T_MS + jumps), T_MS)
    assert found == pytest.approx(8e-6, abs=5e-7)


def test_a_short_run_tells_no_drift() -> None:
    assert turns_per_ms(np.ones(3, dtype=np.complex128), np.array([0.0, 5.0, 9.0])) == (0.0, np.inf)


def test_a_jump_is_followed_within_a_few_accesses() -> None:
    turns = np.where(np.arange(N) < 2000, 0.1, 0.55)
    found = causal(phasors(turns, outliers=0.0), 64.0)
    assert missed(turns, found)[200:2000].max() < 0.03
    assert missed(turns, found)[2008:2300].max() < 0.03


def test_outliers_do_not_move_it() -> None:
    turns = np.full(N, 0.25)
    off = missed(turns, causal(phasors(turns, outliers=0.15), 64.0))[200:]
    assert np.quantile(off, 0.99) < 0.02
    assert off.max() < 0.1


def test_what_comes_later_does_not_matter() -> None:
    reported = phasors(np.full(N, 0.25))
    other = reported.copy()
    other[1000:] *= -1
    assert np.array_equal(causal(reported, 16.0)[:1001], causal(other, 16.0)[:1001])


def test_a_wandering_phase_is_averaged_over_less() -> None:
    rng = np.random.default_rng(2)
    assert best_span(phasors(np.full(N, 0.2)), is_causal=True) >= 64.0
    assert best_span(phasors(np.cumsum(rng.normal(0.0, 0.008, N))), is_causal=True) <= 16.0
