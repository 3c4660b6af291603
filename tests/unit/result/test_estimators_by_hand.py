"""Estimators on short series that are worked by hand, and at the least lengths that they take."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from diskmodel.result.statistics import batches
from diskmodel.result.statistics.batches import _skewness, adjusted_ends, lag1_correlation, mean_interval
from diskmodel.result.statistics.stability import judge_counts, judge_stability
from diskmodel.result.statistics.warmup import mser5, warm_up

# ten means of batches, skewed, correlated a little
MEANS = np.array([4.0, 5.0, 4.5, 6.0, 4.2, 4.1, 9.0, 5.5, 4.4, 5.3])


def test_correlation_is_von_neumanns_ratio() -> None:
    # about the mean 2: -1, 0, 1; steps 1 and 1, ends 1 and 1: 1 - (2 + 2) / (2 * 2)
    assert lag1_correlation(np.array([1.0, 2.0, 3.0])) == pytest.approx(0.0)
    # -1, -1, 1, 1: steps 0, 4, 0, ends 2: 1 - 6 / 8
    assert lag1_correlation(np.array([1.0, 1.0, 3.0, 3.0])) == pytest.approx(0.25)


def test_skewness_is_that_of_scipy() -> None:
    assert _skewness(MEANS) == pytest.approx(float(stats.skew(MEANS, bias=False)))


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.3, 0.99])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_ends_of_an_interval_follow_their_formula(correlation: float, confidence: float) -> None:
    n, center = len(MEANS), float(MEANS.mean())
    left = min(max(correlation + 1 / n, 0), 0.9)
    error = math.sqrt(float(np.var(MEANS, ddof=1)) / n * (1 + left) / (1 - left))
    b = float(stats.skew(MEANS, bias=False)) / (6 * math.sqrt(n))
    t = float(stats.t.ppf((1 + confidence) / 2, n - 1))
    ends = [center - error * (np.cbrt(1 + 6 * b * (s * t - b)) - 1) / (2 * b) for s in (1, -1)]
    assert adjusted_ends(center, MEANS, correlation, confidence) == pytest.approx(tuple(ends))


def test_without_skewness_the_interval_is_students() -> None:
    means = np.array([1.0, 2.0, 3.0, 4.0])
    error = math.sqrt(float(np.var(means, ddof=1)) / 4 * 1.25 / 0.75)
    t = float(stats.t.ppf(0.975, 3))
    assert adjusted_ends(2.5, means, 0.0, 0.95) == pytest.approx((2.5 - t * error, 2.5 + t * error))


@pytest.mark.parametrize(("n", "n_batches"), [(19, 0), (20, 10), (29, 10), (30, 15), (39, 15), (40, 20), (400, 20)])
def test_batches_hold_two_observations_at_least(n: int, n_batches: int) -> None:
    # alternating values: batches of any size are not correlated positively
    assert mean_interval(np.arange(n) % 2).n_batches == n_batches


def test_the_squared_error_of_mser_by_hand() -> None:
    # batches of 5 with means 8, 1, 2, 1, 2, 1: without the first the error is 1.2 / 25, with one more 1 / 16
    series = np.repeat([8.0, 1.0, 2.0, 1.0, 2.0, 1.0], 5)
    assert mser5(series) == (5, True)
    assert mser5(np.repeat([8.0, 8.0, 1.0, 1.0, 1.0, 1.0], 5)) == (10, True)
    # the best place is the limit of one half
    assert mser5(np.repeat([8.0, 8.0, 8.0, 1.0, 1.0, 1.0], 5)) == (15, False)


@pytest.mark.parametrize(("n", "is_settled"), [(19, False), (20, True), (24, True)])
def test_mser_wants_four_batches(n: int, is_settled: bool) -> None:
    assert mser5(np.ones(n)) == (0, is_settled)


def test_a_short_start_that_is_unlike_the_rest_is_cut() -> None:
    # fewer than 40 observations: a twentieth is one
    series = np.array([9.0, 0.0, 0.0, 0.0, 0.0] + [1.0, 2.0] * 15)
    assert mser5(series)[0] == 5
    assert warm_up(series) == (5, True)
    # the first two together would be like any other two
    assert warm_up(np.array([9.0, -6.0, 9.0, 9.0, 9.0] + [1.0, 2.0] * 15)) == (5, True)


def test_too_little_to_judge_is_stable() -> None:
    one = np.array([5])
    for verdict in (judge_stability(one, one + 5, 100), judge_stability(np.array([1, 2]), np.array([3, 4]), 0)):
        assert (verdict.is_stable, verdict.offered_per_s, verdict.completed_per_s) == (True, 0.0, 0.0)
    assert judge_stability(np.array([1, 3]), np.array([2, 4]), 4).offered_per_s > 0


def test_rates_are_those_of_the_last_half() -> None:
    times = np.arange(1, 9) * 1e9
    came = np.array([0, 1, 2, 10, 11, 13, 16, 20])
    left = np.array([0, 0, 1, 3, 4, 6, 9, 15])
    verdict = judge_counts(times, came, left, 20)
    assert (verdict.offered_per_s, verdict.completed_per_s) == (2.5, 3.0)


@pytest.mark.parametrize(
    ("inside", "n_requests", "is_stable"),
    [
        # a straight rise; with too few requests nothing is said
        ([1, 2, 3, 4, 5, 6, 7, 8], 10_000, False),
        ([1, 2, 3, 4, 5, 6, 7, 8], 199, True),
        # comes back to the median of the first half
        ([1, 2, 3, 4, 5, 2, 7, 8], 10_000, True),
        # a plateau that was reached late
        ([0, 0, 0, 0, 6, 6, 6, 6], 10_000, True),
        # in four steps: growth within the last half is 1 of 6, exactly the share
        ([0, 0, 0, 0, 11, 11, 13, 13], 10_000, False),
        ([0, 0, 0, 0, 12, 12, 13, 13], 10_000, True),
        ([5, 5, 5, 5, 5, 5, 5, 5], 10_000, True),
    ],
)
def test_overload_by_the_three_conditions(inside: list[int], n_requests: int, is_stable: bool) -> None:
    number = np.array(inside)
    left = np.arange(8) * 10
    assert judge_counts(np.arange(1, 9) * 1e9, left + number, left, n_requests).is_stable is is_stable


def test_samples_of_the_number_in_system_lie_at_4096_equal_steps() -> None:
    # all come at 1 s and leave in the last of 4096 steps: until then nobody has left
    issue = np.full(300, 10**9)
    until = 4096 * 10**6
    assert judge_stability(issue, np.full(300, until), until).completed_per_s == pytest.approx(300 / 2.048)
    assert judge_stability(issue, np.full(300, until + 1), until).completed_per_s == 0
    assert judge_stability(np.full(300, 2048 * 10**6), np.full(300, until), until).offered_per_s == 0
    assert judge_stability(np.full(300, 2048 * 10**6 + 1), np.full(300, until), until).offered_per_s > 0


def test_quantiles_written_down_are_those_of_scipy() -> None:
    for degrees, value in enumerate(batches.STUDENT_T_975, start=1):
        assert batches.student_t(0.975, degrees) == value == stats.t.ppf(0.975, degrees)
    assert len(batches.STUDENT_T_975) >= max(batches.BATCH_COUNTS) - 1
    assert batches.student_t(0.975, 31.5) == stats.t.ppf(0.975, 31.5)
    assert stats.norm.ppf(0.95) == batches.CORRELATION_Z


@pytest.mark.parametrize("level", [0.6, 0.95, 0.975, 0.9995])
def test_quantiles_of_whole_degrees_are_those_of_scipy(level: float) -> None:
    for degrees in [*range(1, 100), 500, 999, 1999]:
        assert batches.student_t(level, degrees) == pytest.approx(stats.t.ppf(level, degrees), rel=1e-12)
