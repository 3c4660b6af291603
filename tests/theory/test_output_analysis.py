"""Output analysis compared with queues of known answers: coverage of intervals, false alarms, misses.

Queues are simulated by Lindley's recursion, apart from the engines. Seeds are the replication's number; bounds are
binomial at a significance of about 1 in 1000 for the rate named beside them.
"""

import numpy as np
import pytest
from scipy import stats

from diskmodel.result import judge_stability, mean_interval, quantile_interval, warm_up
from diskmodel.result.statistics.throughput import throughput_interval

SERVICE_NS = 1e6


def queue(load: float, n: int, seed: int, *, is_deterministic: bool = False):
    """Arrival and completion times of an M/M/1 or M/D/1 queue that starts empty; int64, ns."""
    generator = np.random.default_rng([20_261_121, seed])
    came = np.rint(np.cumsum(generator.exponential(SERVICE_NS / load, n))).astype(np.int64)
    service = np.full(n, SERVICE_NS) if is_deterministic else generator.exponential(SERVICE_NS, n)
    service = np.rint(service).astype(np.int64)
    work = np.cumsum(service)
    return came, work + np.maximum.accumulate(came - (work - service))


def fewest(n: int, rate: float) -> int:
    """Successes of `n` that a true rate of `rate` falls below once in a thousand times."""
    return int(stats.binom.ppf(0.001, n, rate))


@pytest.mark.parametrize(
    ("load", "n", "is_deterministic"),
    [(0.5, 5_000, False), (0.8, 20_000, False), (0.9, 50_000, False), (0.8, 20_000, True)],
)
def test_mean_interval_covers_the_exact_mean(load, n, is_deterministic):
    """95 % intervals over 300 replications: M/M/1 S/(1-r), M/D/1 S + S r/2(1-r). True coverage of at least 93 %."""
    wait = load * SERVICE_NS / (1 - load) / (2 if is_deterministic else 1)
    exact = SERVICE_NS + wait
    n_covered = 0
    for seed in range(300):
        came, done = queue(load, n, seed, is_deterministic=is_deterministic)
        response = done - came
        interval = mean_interval(response[warm_up(response)[0] :])
        n_covered += interval.low <= exact <= interval.high
    assert n_covered >= fewest(300, 0.93)
    assert n_covered <= 300 - fewest(300, 0.01), "an interval that always covers says nothing"


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_percentile_interval_covers_the_exact_percentile(level):
    """M/M/1 at 70 %: the response is exponential with mean S/(1-r). 300 replications of 30 000.

    True coverage of at least 90 %: at the p99 each of 10 batches has 30 correlated observations beyond it, which is
    few.
    """
    load = 0.7
    exact = -np.log(1 - level) * SERVICE_NS / (1 - load)
    n_covered = 0
    for seed in range(300):
        came, done = queue(load, 30_000, seed)
        response = (done - came)[200:]
        low, high = quantile_interval(response, level)
        n_covered += low <= exact <= high
    assert n_covered >= fewest(300, 0.90)


def test_interval_of_a_far_percentile_in_a_long_series():
    """M/M/1 at 70 %, p99.9 of 100 200, where ten batches have ten observations beyond it. True coverage of 88 %."""
    level, load = 0.999, 0.7
    exact = -np.log(1 - level) * SERVICE_NS / (1 - load)
    n_covered = 0
    for seed in range(100):
        came, done = queue(load, 100_200, seed)
        low, high = quantile_interval((done - came)[200:], level)
        n_covered += low <= exact <= high
    assert n_covered >= fewest(100, 0.88)


def test_throughput_interval_covers_the_arrival_rate():
    """M/M/1 at 70 % completes at the rate of arrivals. 300 replications of 5 000; at least 92 %."""
    n_covered = 0
    for seed in range(300):
        came, done = queue(0.7, 5_000, seed)
        start, end = int(came[100]), int(came[-1])
        interval = throughput_interval(done[(done > start) & (done <= end)], start, end)
        n_covered += interval.low <= 700 <= interval.high
    assert n_covered >= fewest(300, 0.92)


@pytest.mark.parametrize("n", [5_000, 20_000, 50_000])
def test_few_false_alarms_at_ninety_percent(n):
    """M/M/1 at 90 %, 300 replications: an alarm in at most 1 %."""
    n_stable = sum(
        judge_stability(came, done, int(came[-1])).is_stable for came, done in (queue(0.9, n, s) for s in range(300))
    )
    assert n_stable >= fewest(300, 0.99)


@pytest.mark.parametrize(("load", "n", "power"), [(1.05, 20_000, 0.9), (1.05, 50_000, 0.99), (1.2, 5_000, 0.99)])
def test_overload_is_caught(load, n, power):
    """M/M/1 above its capacity, 200 replications."""
    n_caught = sum(
        not judge_stability(came, done, int(came[-1])).is_stable
        for came, done in (queue(load, n, s) for s in range(200))
    )
    assert n_caught >= fewest(200, power)
