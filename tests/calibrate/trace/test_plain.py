"""The loops that the kernel runs while angles are fitted, beside plain versions of them."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.trace.clock import drift
from calibrate.trace.geometry import staircase
from calibrate.trace.geometry.staircase import MAX_SLIPS, N_OFFSETS, Candidates
from diskmodel.engine import _kernel
from tests.calibrate.trace import plain


def phasors(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.exp(2j * np.pi * rng.random(n))


@pytest.mark.parametrize("seed", range(5))
def test_phasors_are_summed_by_their_place_in_a_period(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, z, frequencies = rng.uniform(-1e4, 1e6, 300), phasors(rng, 300), rng.uniform(1e-4, 2e-2, 7)
    np.testing.assert_allclose(_kernel.folded(x, z, frequencies, 48), plain.folded(x, z, frequencies, 48), atol=1e-12)


@pytest.mark.parametrize("span", drift.SPANS)
def test_the_platters_phase_is_followed_by_bayes_rule(span: float) -> None:
    rng = np.random.default_rng(int(span))
    turns = np.cumsum(rng.normal(0.0, 0.01, 400)) + (np.arange(400) > 250) * 0.4
    z = np.where(rng.random(400) < 0.1, phasors(rng, 400), np.exp(2j * np.pi * turns))
    np.testing.assert_allclose(drift.causal(z, span), plain.causal(z, span), atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_likeliest_layout_has_the_likeliest_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads, period = int(rng.integers(2, 12)), float(rng.integers(60, 300))
    relative = np.sort(rng.uniform(0.0, 400 * period, 120))
    true = Candidates(*(np.array([value]) for value in (0.3 * period, 0.15, 0.07, 0.4)))
    place = (relative - true.first[0]) / period
    track = np.floor(place) + 1 + (relative > 150 * period) + 2 * (relative > 290 * period)
    turns = place - np.floor(place) + 0.15 * track + 0.07 * np.floor(track / heads) + 0.4
    angle = np.where(rng.random(120) < 0.05, rng.random(120), turns + rng.normal(0.0, 0.02, 120))
    angle -= np.rint(angle)
    tried = Candidates(
        period * rng.uniform(0.0, 1.0, 6),
        np.append(0.15, rng.uniform(0.05, 0.3, 5)),
        np.append(0.07, rng.uniform(0.0, 0.2, 5)),
        np.arange(N_OFFSETS) / N_OFFSETS,
    )
    tried.first[0] = true.first[0]
    row, offset, path = staircase._likeliest(tried, relative, angle, heads, period)
    scores = {
        (k, turn): plain.likeliest_path(tried, k, turn, relative, angle, heads, period, MAX_SLIPS)
        for k in range(6)
        for turn in tried.offset.tolist()
    }
    best = max(score for score, _ in scores.values())
    score, expected = scores[row, offset]
    assert row == 0
    assert score > best - 0.01  # the kernel adds numbers of 24 bits
    assert path.tolist() == expected
