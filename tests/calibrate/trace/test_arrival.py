"""Access on arrival, recognized from synthetic ends of accesses of either kind."""

from __future__ import annotations

import numpy as np
import pytest

from calibrate.trace.access.arrival import arrival_share, landing_delay_ms, lands_inside

PERIOD_MS = 8.0


def ends(share: float, n: int = 6000, delay_ms: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lateness of the end against the last block's passing, media time and wait, of accesses that land anywhere."""
    rng = np.random.default_rng(7)
    media = rng.uniform(0.1, 0.3, n) * PERIOD_MS
    wait = rng.uniform(0.0, PERIOD_MS, n)
    is_early = lands_inside(wait, media, PERIOD_MS) & (rng.random(n) < share)
    late = np.where(is_early, PERIOD_MS + delay_ms - wait - media, 0.0)
    return late + rng.normal(0.0, 0.02, n), media, wait


def test_landing_inside_is_waiting_nearly_a_turn() -> None:
    inside = lands_inside(np.array([7.5, 6.9, 0.0]), np.array([1.0, 1.0, 1.0]), PERIOD_MS)
    assert inside.tolist() == [True, False, False]


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_the_share_comes_back(share: float) -> None:
    late, media, _ = ends(share)
    assert arrival_share(late, media, PERIOD_MS) == pytest.approx(share, abs=0.08)


def test_a_drive_that_waits_has_none() -> None:
    late, media, _ = ends(0.0)
    assert arrival_share(late, media, PERIOD_MS) == 0.0


def test_wide_but_even_errors_are_not_taken_for_it() -> None:
    _, media, _ = ends(0.0)
    even = np.random.default_rng(3).uniform(-0.5, 0.5, len(media)) * PERIOD_MS
    assert arrival_share(even, media, PERIOD_MS) == 0.0


def test_a_few_accesses_say_nothing() -> None:
    late, media, _ = ends(1.0, n=50)
    assert arrival_share(late, media, PERIOD_MS) == 0.0


def test_what_a_landing_takes_beyond_a_turn() -> None:
    assert landing_delay_ms(PERIOD_MS + np.array([0.1, 0.3, 0.2]), PERIOD_MS) == pytest.approx(0.2)
    assert landing_delay_ms(PERIOD_MS - np.array([0.1, 0.3]), PERIOD_MS) == 0.0
    assert landing_delay_ms(np.empty(0), PERIOD_MS) == 0.0
