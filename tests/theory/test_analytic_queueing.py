"""Queueing formulas against Monte Carlo with stated seeds; tolerances are three standard errors of batch means.

Each comparison is two-sided at three standard errors over 40 batches (about 0.4 % false alarms, fixed by the seed).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from diskmodel.analytic.closed import asymptotic_bounds, mean_value_analysis
from diskmodel.analytic.forkjoin import fork_join_bound_s, fork_join_s, fork_join_two_s, harmonic
from diskmodel.analytic.queueing import erlang_c, md1, mg1, mm1, mmc, vacation_wait_s
from diskmodel.errors import InputError

SEED = 20240611
N = 800_000


def lindley(gaps: NDArray[np.float64], service: NDArray[np.float64]) -> NDArray[np.float64]:
    """Waits of a FCFS queue that starts empty, by W' = max(W + S - A, 0) in closed form."""
    steps = np.concatenate([[0.0], service[:-1] - gaps[1:]])
    walk = np.cumsum(steps)
    return np.asarray(walk - np.minimum.accumulate(walk))


def interval(values: NDArray[np.float64], n_batches: int = 40) -> tuple[float, float]:
    """Mean after a warm-up of a tenth, and three standard errors from batch means."""
    kept = values[len(values) // 10 :]
    batches = kept[: len(kept) // n_batches * n_batches].reshape(n_batches, -1).mean(axis=1)
    return float(batches.mean()), 3 * float(batches.std(ddof=1)) / math.sqrt(n_batches)


def assert_mean(values: NDArray[np.float64], expected: float) -> None:
    mean, margin = interval(values)
    assert margin < 0.1 * expected
    assert abs(mean - expected) < margin


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("kind", ["exponential", "constant", "uniform"])
def test_mg1_mean_variance_and_percentile(kind: str, rho: float) -> None:
    rng = np.random.default_rng([SEED, round(rho * 10)])
    mean = 0.005
    service = {
        "exponential": rng.exponential(mean, N),
        "constant": np.full(N, mean),
        "uniform": rng.uniform(0, 2 * mean, N),
    }[kind]
    queue = {
        "exponential": mm1(rho / mean, mean),
        "constant": md1(rho / mean, mean),
        "uniform": mg1(rho / mean, mean, 4 * mean**2 / 3, 2 * mean**3),
    }[kind]
    response = lindley(rng.exponential(mean / rho, N), service) + service
    assert_mean(response, queue.response_s)
    assert_mean((response - queue.response_s) ** 2, queue.response_variance_s2)
    assert queue.percentile_s(0.99) == pytest.approx(float(np.quantile(response, 0.99)), rel=0.05)


def test_mm1_percentile_is_exact() -> None:
    queue = mm1(160, 0.005)
    assert queue.percentile_s(0.99) == pytest.approx(-math.log(0.01) * 0.005 / 0.2, rel=1e-3)


def test_mmc_against_simulation_and_special_cases() -> None:
    rng = np.random.default_rng(SEED)
    n, servers, mean, load = 1_000_000, 4, 0.005, 3.2
    arrivals = np.cumsum(rng.exponential(mean / load, n))
    service = rng.exponential(mean, n)
    free = [0.0] * servers
    waits = np.empty(n)
    for i, (arrival, work) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
        first = min(range(servers), key=free.__getitem__)
        start = max(arrival, free[first])
        waits[i] = start - arrival
        free[first] = start + work
    queue = mmc(load / mean, mean, servers)
    assert_mean(waits, queue.wait_s)
    assert_mean((waits > 0).astype(float), erlang_c(servers, load))
    assert_mean((waits + service - queue.response_s) ** 2, queue.response_variance_s2)
    one = mmc(100, 0.005, 1)
    assert one.wait_s == pytest.approx(mm1(100, 0.005).wait_s)
    assert one.response_variance_s2 == pytest.approx(mm1(100, 0.005).response_variance_s2)
    share = 0.99
    waits += service
    assert queue.percentile_s(share) == pytest.approx(float(np.quantile(waits, share)), rel=0.02)
    # Erlang C from its definition with factorials
    head = sum(load**k / math.factorial(k) for k in range(servers))
    tail = load**servers / math.factorial(servers) * servers / (servers - load)
    assert erlang_c(servers, load) == pytest.approx(tail / (head + tail))


@pytest.mark.parametrize(("rho", "expected"), [(0.3, 2.089), (0.5, 2.875), (0.7, 4.708)])
def test_fork_join_of_two_is_exact(rho: float, expected: float) -> None:
    assert round(fork_join_two_s(rho, 1.0), 3) == expected
    assert_mean(fork_join_responses(rho, 2), fork_join_two_s(rho, 1.0))


@pytest.mark.parametrize("k", [4, 8, 16])
def test_fork_join_of_many_within_the_published_error_and_below_its_bound(k: int) -> None:
    for rho in (0.3, 0.7):
        mean, _ = interval(fork_join_responses(rho, k))
        assert fork_join_s(rho, 1.0, k) == pytest.approx(mean, rel=0.05)
        assert mean < fork_join_bound_s(rho, 1.0, k)


def fork_join_responses(rho: float, k: int) -> NDArray[np.float64]:
    rng = np.random.default_rng([SEED, k, round(10 * rho)])
    n = 1_000_000 if k == 2 else 200_000
    gaps = rng.exponential(1 / rho, n)
    response = np.zeros(n)
    for _ in range(k):
        service = rng.exponential(1.0, n)
        response = np.maximum(response, lindley(gaps, service) + service)
    return response


def test_fork_join_limits() -> None:
    assert fork_join_s(50, 0.005, 1) == mm1(50, 0.005).response_s
    assert fork_join_s(50, 0.005, 2) == fork_join_two_s(50, 0.005)
    # an idle array: the maximum of K independent exponentials
    assert fork_join_s(1e-9, 1.0, 6) == pytest.approx(harmonic(6))
    assert math.isinf(fork_join_s(200, 0.005, 3))


def test_mean_value_analysis_against_convolution() -> None:
    demands, clients, think = [0.010, 0.004, 0.007], 9, 0.02
    # Buzen: G(n) by convolution with the delay station Z^n/n!; X = G(N-1)/G(N)
    constants = np.array([think**n / math.factorial(n) for n in range(clients + 1)])
    for demand in demands:
        for n in range(1, clients + 1):
            constants[n] += demand * constants[n - 1]
    network = mean_value_analysis(demands, clients, think)
    assert network.throughput_per_s == pytest.approx(constants[clients - 1] / constants[clients], rel=1e-12)
    # Little's law over the whole cycle
    assert network.throughput_per_s * (network.response_s + think) == pytest.approx(clients)
    assert network.queue_lengths.sum() + network.throughput_per_s * think == pytest.approx(clients)
    assert (network.utilization_ratios < 1).all()


def test_bounds_hold_for_mean_value_analysis_everywhere() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        demands = rng.uniform(0.001, 0.02, rng.integers(1, 9)).tolist()
        clients, think = int(rng.integers(1, 40)), float(rng.uniform(0, 0.1))
        network = mean_value_analysis(demands, clients, think)
        bounds = asymptotic_bounds(demands, clients, think)
        assert bounds.throughput_low_per_s <= network.throughput_per_s * (1 + 1e-12)
        assert network.throughput_per_s <= bounds.throughput_high_per_s * (1 + 1e-12)
        assert network.response_s >= bounds.response_low_s * (1 - 1e-12)


def test_vacations_of_a_rebuilding_disk() -> None:
    rng = np.random.default_rng(SEED)
    n, mean, rho, vacation = 200_000, 0.005, 0.5, 0.012
    arrivals = np.cumsum(rng.exponential(mean / rho, n)).tolist()
    service = rng.uniform(0, 2 * mean, n).tolist()
    free, waits = 0.0, np.empty(n)
    for i, (arrival, work) in enumerate(zip(arrivals, service, strict=True)):
        if free < arrival:  # rebuild pieces of constant length back to back until a request is there
            free += math.ceil((arrival - free) / vacation) * vacation
        waits[i] = free - arrival
        free += work
    expected = vacation_wait_s(rho / mean, mean, 4 * mean**2 / 3, vacation, vacation**2)
    assert_mean(waits, expected)


def test_overload_is_a_result_and_bad_input_an_error() -> None:
    for queue in (mm1(200, 0.005), md1(300, 0.005), mmc(1000, 0.005, 4)):
        assert not queue.is_stable
        assert math.isinf(queue.response_s)
        assert math.isinf(queue.percentile_s(0.9))
    assert erlang_c(2, 2.0) == 1.0
    assert mm1(0, 0.005).response_s == 0.005
    with pytest.raises(InputError, match="square of the mean"):
        mg1(10, 0.005, 0.005**2 / 2)
    with pytest.raises(InputError, match="must have a station"):
        mean_value_analysis([], 3)
