"""Independent runs of one question: what their figures are made of, and how often their intervals are right."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import CoverageError, DescriptionError
from diskmodel.result.latency import Latency
from diskmodel.workload import Workload

ARRAY = Array("generic-15k", "raid5", 5)
LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "200/s"})


def test_figures_are_those_of_the_runs_with_the_next_seeds() -> None:
    found = simulate(ARRAY, LOAD, seed=5, n_requests=30_000, replications=3, profile_draws=0)
    alone = [simulate(ARRAY, LOAD, seed=5 + at, n_requests=10_000, profile_draws=0) for at in range(3)]
    assert found.n_replications == 3
    assert found.n_requests == 30_000
    assert found.n_measured == sum(one.n_measured for one in alone)
    assert found.mean == pytest.approx(np.mean([one.mean for one in alone]))
    assert found.iops.value == pytest.approx(np.mean([one.iops.value for one in alone]))
    together = np.concatenate([one.responses_ns() for one in alone])
    assert found.latency.quantiles_ns["p99"] == np.quantile(together, 0.99, method="inverted_cdf")
    assert found.latency.max_ns == together.max()
    half = 4.302652729749462 * np.std([one.latency.mean_ns for one in alone], ddof=1) / math.sqrt(3)
    assert found.latency.run_mean_ns.high - found.latency.mean_ns == pytest.approx(half)
    assert sum(found.breakdown_ns.values()) == pytest.approx(found.latency.mean_ns)
    assert found.reads.n + found.writes.n == found.n_measured


def test_a_run_that_is_overloaded_leaves_no_latency() -> None:
    found = simulate(ARRAY, LOAD.scaled(20), n_requests=20_000, replications=2, profile_draws=0)
    assert not found.is_stable
    assert math.isnan(found.mean)


def test_precision_is_that_of_all_runs_together() -> None:
    found = simulate(ARRAY, LOAD, precision=0.01, replications=8, profile_draws=0)
    assert found.precision == 0.01
    assert found.is_converged == (found.latency.mean.relative <= 0.01)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Of 400 questions with 8 runs of correlated responses each: 95 %, below 92 % once in 200 (binomial)."""
    rng, n_questions, n_runs, n, correlation = np.random.default_rng(11), 400, 8, 3_000, 0.95
    covered = {"mean": 0, "p50": 0, "p95": 0, "p99": 0}
    truths = {"mean": 1e6, **{f"p{at}": 1e6 + 1e5 * NormalDist().inv_cdf(at / 100) for at in (50, 95, 99)}}
    for _ in range(n_questions):
        steps = rng.standard_normal((n_runs, n)) * math.sqrt(1 - correlation**2)
        steps[:, 0] = rng.standard_normal(n_runs)
        for at in range(1, n):
            steps[:, at] += correlation * steps[:, at - 1]
        found = Latency.across(list((1e6 + 1e5 * steps).astype(np.int64)))
        ends = {"mean": (found.run_mean_ns.low, found.run_mean_ns.high), **found.run_ends_ns}
        for name, truth in truths.items():
            covered[name] += ends[name][0] <= truth <= ends[name][1]
        assert all(math.isnan(end) for end in found.run_ends_ns["p999"])  # three beyond it in a run are too few
    for name, count in covered.items():
        assert count >= 0.92 * n_questions, (name, count)


def test_what_cannot_be_repeated_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"replications=0: must be 1 to 1,000"):
        simulate(ARRAY, LOAD, replications=0)
    with pytest.raises(CoverageError, match="needs all completions"):
        simulate(ARRAY, LOAD, replications=2, keep="histogram")
    with pytest.raises(DescriptionError, match="are shared by 8 runs"):
        simulate(ARRAY, LOAD, replications=8, n_requests=5)
