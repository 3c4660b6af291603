"""The chance that limits are met, from the margins of a few draws."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean

import numpy as np
import pytest

from diskmodel.plan.advice.smooth_chance import Margin, are_far, chances, log_sds, margin_of
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.result import Interval
from diskmodel.uncertainty.points import normal_scores
from diskmodel.uncertainty.spread import Spread

MEAN, P99 = ("latency", "mean"), ("latency", "p99")
NORMAL = NormalDist()


def chance(draws: list[list[Margin]]) -> float:
    return fmean(chances(draws, log_sds(draws)))


@pytest.mark.parametrize("true", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("n_unknown", [1, 4])
def test_the_chance_of_sixteen_draws_is_that_of_what_they_stand_for(true: float, n_unknown: int) -> None:
    """Of one unknown, and of several whose effects add up: not the next sixteenth, and right on average."""
    found = []
    for seed in range(40):
        logs = 0.2 * normal_scores(16, n_unknown, seed).sum(axis=1) / math.sqrt(n_unknown)
        found.append(chance([[Margin("latency", MEAN, 0.2 * NORMAL.inv_cdf(true) - log)] for log in logs]))
    assert np.mean(found) == pytest.approx(true, abs=0.012)
    assert np.std(found) < 0.06


def test_what_is_open_of_the_slowest_requests_is_integrated() -> None:
    """Draws that are all alike, and p99 a tenth below its limit: the chance is that of the tail alone."""
    tail = Spread(1.02, 0.125, math.inf)
    known = chance([[Margin("latency", P99, 0.1, tail)] for _ in range(16)])
    assert known == pytest.approx(NORMAL.cdf((0.1 - math.log(1.02)) / 0.125))
    heavy = chance([[Margin("latency", P99, 0.3, Spread(1.0, 0.125, 4.0))] for _ in range(16)])
    assert 0.9 < heavy < NORMAL.cdf(0.3 / 0.125)


def test_a_draw_that_is_overloaded_or_misses_another_limit_meets_nothing() -> None:
    far = Margin("latency", MEAN, 1.0)
    draws = [
        [far, Margin("iops", ("iops", "overloaded"), -math.inf)],
        [far, Margin("capacity", ("capacity", ""), -0.1)],
    ]
    assert chance([*draws, *[[far]] * 14]) == pytest.approx(14 / 16)
    assert chances([[]], {}) == [1.0]


@pytest.mark.parametrize(
    ("value", "is_upper", "log"),
    [(5.0, True, math.log(2)), (5.0, False, -math.log(2)), (math.nan, True, -math.inf), (0.0, True, math.inf)],
)
def test_margins_are_logarithms(value: float, is_upper: bool, log: float) -> None:
    item = Criterion("latency", "mean", 10.0, Interval.exact(value), "ms", is_upper, Verdict.HOLDS)
    assert margin_of(item, 1.0, None).log == pytest.approx(log)
    assert margin_of(item, 2.0, None).log == pytest.approx(log - math.log(2) if is_upper else log + math.log(2))


def test_a_rate_that_comes_as_it_is_asked_is_met() -> None:
    """Its margin is 0 in every draw, and varies by nothing."""
    assert chance([[Margin("iops", ("iops", ""), 0.0)] for _ in range(16)]) == 1.0


@pytest.mark.parametrize(
    ("logs", "tail", "is_far"),
    [
        ([5.6, 5.7, 5.8, 5.9], Spread(1.0, 0.5, math.inf), True),
        ([5.6, 5.7, 5.8, 5.9], Spread(20.0, 0.5, math.inf), False),
        ([2.5, 3.0, 3.5, 4.0], None, False),
        ([2.1, 2.1, 2.2, 2.2], None, False),
        ([5.6, 5.7, 5.8, -math.inf], None, False),
        ([0.1, 0.1, 0.1, 0.1], None, True),
        ([-0.1, -0.1, -0.1, -0.1], None, False),
    ],
)
def test_draws_are_far_from_a_limit_by_their_spread_and_by_a_factor(
    logs: list[float], tail: Spread | None, is_far: bool
) -> None:
    """What all draws have alike, as the capacity, needs no distance."""
    draws = [[Margin("latency", P99, log, tail)] for log in logs]
    assert are_far(draws, log_sds(draws)) == is_far
    assert not is_far or chance(draws) > 0.999
