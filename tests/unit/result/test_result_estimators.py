"""Estimators on series whose answer is known beforehand."""

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.result import (
    LatencyHistogram,
    demerit,
    judge_stability,
    mean_interval,
    mser5,
    quantile_interval,
    quantiles,
    warm_up,
)
from diskmodel.result.statistics import falls_behind
from diskmodel.result.statistics.quantiles import fewest_for


def mean_ends(series):
    found = mean_interval(series)
    assert found.about(found.mean) == found
    return found.low, found.high


def median_ends(series):
    return quantile_interval(series, 0.5)


def test_mser_finds_the_end_of_a_known_transient():
    noise = np.random.default_rng(1).normal(0, 1, 5000)
    transient = 50 * np.exp(-np.arange(5000) / 60)
    n_dropped, is_settled = mser5(100 + noise + transient)
    assert is_settled
    assert transient[n_dropped] < 1.0  # what stays is within the noise
    assert n_dropped < 600
    assert warm_up(100 + noise + transient) == (n_dropped, True)


def test_mser_says_when_a_series_has_not_settled():
    assert mser5(np.arange(1000.0))[1] is False
    assert mser5([1.0, 2.0, 3.0]) == (0, False)


def test_warm_up_keeps_an_early_burst_that_has_its_like_later():
    series = np.ones(4000)
    series[:100] = series[1500:1600] = series[3000:3110] = 5.0
    assert mser5(series)[0] == 100
    assert warm_up(series)[0] == 0


def test_interval_of_a_constant_series_is_a_point():
    interval = mean_interval(np.full(1000, 7.0))
    assert (interval.low, interval.mean, interval.high) == (7.0, 7.0, 7.0)
    assert interval.relative == 0.0


def test_interval_of_too_few_is_unknown():
    interval = mean_interval([1.0, 2.0])
    assert interval.mean == 1.5
    assert np.isnan(interval.half_width)


def test_interval_says_when_batches_are_correlated():
    assert mean_interval(np.arange(1000.0)).is_correlated
    assert not mean_interval(np.random.default_rng(2).normal(10, 1, 1000)).is_correlated


@pytest.mark.parametrize("interval", [mean_ends, median_ends])
def test_what_is_never_negative_has_no_interval_below_zero(interval):
    times = np.repeat([0.0, 1.0], 1000) + np.linspace(0, 0.1, 2000)
    low, high = interval(times)
    low_above, high_above = interval(times + 100)
    assert low_above < 100
    assert low == 0
    assert high == pytest.approx(high_above - 100)
    assert interval(times - 0.5)[0] == pytest.approx(low_above - 100.5)


def test_quantiles_are_observations():
    assert quantiles([40, 10, 30, 20], [0, 0.25, 0.26, 0.5, 1]).tolist() == [10, 10, 20, 20, 40]
    assert np.isnan(quantile_interval(np.arange(2499), 0.9)).all()
    low, high = quantile_interval(np.random.default_rng(1).permutation(100_000), 0.99)
    assert low < 98_999 < high


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.99, 0.999])
def test_requests_that_an_interval_of_a_quantile_takes(level):
    series = np.random.default_rng(2).random(fewest_for(level))
    assert np.isfinite(quantile_interval(series, level)).all()
    assert np.isnan(quantile_interval(series[:-1], level)).all()


def test_demerit_of_shifted_and_stretched_distributions():
    measured = np.random.default_rng(3).exponential(1e6, 1000)
    assert demerit(measured, measured[::-1]).demerit_ns == 0.0
    assert demerit(measured, measured + 5.0).demerit_ns == pytest.approx(5.0)
    assert demerit(measured, measured * 1.1).ratio == pytest.approx(
        0.1 * np.sqrt(np.mean(measured**2)) / measured.mean()
    )


def test_demerit_of_unequal_numbers_is_the_integral():
    # curves: 1 up to 1/2, then 3, against 2 throughout
    assert demerit([1, 3], [2, 2, 2]).demerit_ns == pytest.approx(1.0)
    # 0 | 6 at 1/2 against 0 | 3 | 6 at 1/3, 2/3: differ by 3 on a width of 1/3
    assert demerit([0, 6], [0, 3, 6]).demerit_ns == pytest.approx(3 / np.sqrt(3))
    with pytest.raises(DescriptionError):
        demerit([], [1])


@pytest.mark.parametrize("bits", [1, 5, 8, 14])
def test_histogram_keeps_its_error_bound(bits):
    generator = np.random.default_rng(bits)
    values = np.concatenate(
        [
            np.exp(generator.uniform(0, 43, 20_000)).astype(np.int64),
            2 ** np.arange(63),
            2 ** np.arange(1, 63) - 1,
            [0, 2**63 - 1],
        ]
    ).astype(np.int64)
    histogram = LatencyHistogram(bits)
    histogram.add(values)
    levels = np.linspace(0, 1, 501)
    found = np.array([histogram.quantile_ns(level) for level in levels])
    exact = quantiles(values, levels)
    assert (np.abs(found - exact) <= exact * histogram.relative_error).all()
    assert histogram.n == len(values) == histogram.counts.sum()
    assert (histogram.min_ns, histogram.max_ns) == (0, 2**63 - 1)
    assert histogram.total_ns == sum(int(v) for v in values)
    low, width = histogram.edges(histogram._bucket(values))
    assert (low <= values).all()
    assert (values - low < width).all()


def test_histograms_merge_like_their_values():
    one, two, both = LatencyHistogram(), LatencyHistogram(), LatencyHistogram()
    a, b = np.arange(5, 1000), np.arange(10**6, 10**6 + 5000, 7)
    one.add(a)
    two.add(b)
    both.add(np.concatenate([a, b]))
    one.merge(two)
    assert np.array_equal(one.counts, both.counts)
    assert (one.n, one.total_ns, one.min_ns, one.max_ns) == (both.n, both.total_ns, both.min_ns, both.max_ns)
    with pytest.raises(DescriptionError):
        one.merge(LatencyHistogram(4))
    with pytest.raises(DescriptionError):
        one.add([-1])
    assert np.isnan(LatencyHistogram().quantile_ns(0.5))


def test_deterministic_overload_is_seen_and_deterministic_load_is_not():
    came = np.arange(1, 5001, dtype=np.int64) * 1000
    assert judge_stability(came, came + 900, int(came[-1])).is_stable
    late = judge_stability(came, 1000 + np.arange(1, 5001, dtype=np.int64) * 1010, int(came[-1]))
    assert not late.is_stable
    assert late.completed_per_s == pytest.approx(1e9 / 1010, rel=0.01)


@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize(("service", "is_behind"), [(900, False), (1050, False), (1150, True), (2000, True)])
def test_few_requests_show_by_their_waits_that_more_come_than_are_served(n, service, is_behind):
    came = np.arange(1, n + 1, dtype=np.int64) * 1000
    done = came[0] + service * np.arange(1, n + 1, dtype=np.int64) if service > 1000 else came + service
    assert falls_behind(came, done) is is_behind
    assert falls_behind(came[::-1], done[::-1]) is is_behind


def test_a_plateau_that_is_reached_late_is_stable():
    came = np.arange(1, 10_001, dtype=np.int64) * 1000
    response = np.where(came < came[-1] // 2, 900, 50_900)
    assert judge_stability(came, came + response, int(came[-1])).is_stable
