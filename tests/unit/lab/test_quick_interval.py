"""The rough interval of a percentile covers the truth about as often as it says."""

import math

import numpy as np
import pytest

from diskmodel.lab.quick_interval import quick_quantile_interval

N_SERIES = 400


@pytest.mark.parametrize("n", [1_500, 4_000])
def test_covers_the_percentile_of_independent_values(n: int) -> None:
    rng = np.random.default_rng(1)
    truth = -math.log(0.01)
    ends = [quick_quantile_interval(rng.exponential(size=n), 0.99) for _ in range(N_SERIES)]
    covered = sum(low <= truth <= high for low, high in ends) / N_SERIES
    # 95 % is meant; three standard deviations of the count on 400 series are 3.3 %
    assert covered >= 0.917


def test_covers_the_percentile_of_a_correlated_series_nearly_as_often() -> None:
    """Waits of an M/M/1 queue at 70 %: P(wait > x) = 0.7 exp(-0.3 x)."""
    rng = np.random.default_rng(2)
    truth = math.log(0.7 / 0.01) / 0.3
    covered = 0
    for _ in range(N_SERIES):
        steps = rng.exponential(size=6000) - rng.exponential(scale=1 / 0.7, size=6000)
        walk = np.concatenate(([0.0], np.cumsum(steps)))
        waits = (walk - np.minimum.accumulate(walk))[2000:]
        low, high = quick_quantile_interval(waits, 0.99)
        covered += low <= truth <= high
    # the price of an early answer: short runs are somewhat surer of themselves than 95 %
    assert covered / N_SERIES >= 0.86


def test_too_little_data_is_no_interval() -> None:
    assert all(math.isnan(end) for end in quick_quantile_interval(np.arange(999), 0.99))
    assert not any(math.isnan(end) for end in quick_quantile_interval(np.arange(1000), 0.99))


def test_a_constant_series_is_its_own_interval() -> None:
    assert quick_quantile_interval(np.full(2000, 7), 0.99) == (7.0, 7.0)
