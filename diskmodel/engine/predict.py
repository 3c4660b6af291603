"""Prediction intervals: what may be true of an array, joined with the noise of its run."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import DRAWS, DrawnRuns, Trials
from diskmodel.engine.effort import Cost
from diskmodel.engine.ledger import question
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.shared import Begin
from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.result import (
    STATISTICS,
    UTILIZATION,
    Interval,
    Latency,
    Prediction,
    Result,
    estimates_by_subset,
    half_width_ratio,
    middle_of,
)
from diskmodel.result.statistics import BY_NAME
from diskmodel.uncertainty import AnyWorkload, origin_of

#: Part of the interval's width that a measurement of the drive must take off to be worth mentioning.
_WORTH_MEASURING = 0.2
#: Requests of each run that says what would be left if the drive were measured, at most: of that only the width for the
#: rate or the mean is shown. With 5,000 it differs by 5 % at the median
#: from that with 20,000, which other requests change by 13 %; with 2,500, one in ten differs by 70 %.
_MEASURED_REQUESTS = 5_000


@dataclass(frozen=True)
class Predictor:
    """Makes the prediction of a result when somebody asks for it.

    Attributes
    ----------
    array, workload, seed, start
        Of the run that gave the result.
    n_draws : int
    """

    array: Array
    workload: AnyWorkload
    seed: int
    start: Begin
    n_draws: int

    def __call__(self, result: Result) -> Prediction | None:
        """Return the prediction; None where everything is known or nothing is stable."""
        with question():
            return predict(
                self.array,
                self.workload,
                result,
                seed=self.seed,
                n_draws=self.n_draws,
                start=self.start,
            )


def predict(
    array: Array,
    workload: AnyWorkload,
    result: Result,
    *,
    seed: int = 0,
    n_draws: int = DRAWS,
    start: Begin = "steady",
    confidence: float | None = None,
) -> Prediction | None:
    """Return prediction intervals of `result`; None where everything is known or nothing is stable.

    Parameters
    ----------
    array, workload, seed, start
        Of the run that gave the result.
    result : Result
    n_draws : int, at least 2
    confidence : float, optional
        Default: that of the result.

    Raises
    ------
    DescriptionError
        When `n_draws` is below 2.

    Notes
    -----
    Costs 1.5 `n_draws` + 1 runs of at most `DRAW_REQUESTS` requests. All runs have the same requests and random
    numbers, and the kernel makes them where it covers the scenario: both engines have the same results.
    """
    check_draws(n_draws)
    if origin_of(array.drive) == "exact" or not result.is_stable:
        return None
    started = time.perf_counter()
    cost = Cost.of(result.run, resolve(array, seed), max(result.n_requests, 1), workload)
    trials = Trials(array, workload, result.n_requests, seed=seed, start=start, estimate=estimates_by_subset, cost=cost)
    truths = trials.truths(n_draws)
    if truths is None:
        return None
    level = result.confidence if confidence is None else confidence
    own = {name: result.run_interval(name) for name in (*STATISTICS, UTILIZATION)}
    found = prediction_of(truths, own, level)
    parts = {subset: latency for subset, latency in result.subsets.items() if latency.n < result.latency.n}
    subsets = {
        subset: {name: _in_subset(truths, subset, latency, name, level) for name in BY_NAME}
        for subset, latency in parts.items()
    }
    middles = {
        subset: {name: _in_subset(truths, subset, latency, name, level, is_middle=True) for name in BY_NAME}
        for subset, latency in parts.items()
    }
    measured = math.nan
    n_left = max(n_draws // 2, 2)
    if truths.case.origin in ("sheet", "fitted") and trials.affordable(n_left) == n_left:
        few = min(result.n_requests, _MEASURED_REQUESTS)
        shorter = Trials(array, workload, few, seed=seed, start=start, cost=cost)
        left = shorter.truths(n_left, as_measured=True, seen=trials.seen)
        main = own[found.main]
        narrow = half_width_ratio(left.interval(main, found.main, level) if left else main)
        if narrow < (1 - _WORTH_MEASURING) * found.half_width_ratio:
            measured = narrow
    return replace(
        found,
        if_measured_ratio=measured,
        subsets=subsets,
        subset_middles=middles,
        wall_s=time.perf_counter() - started,
    )


def _in_subset(
    truths: DrawnRuns, subset: str, latency: Latency, name: str, confidence: float, *, is_middle: bool = False
) -> Interval:
    """Return the interval of a latency of some of the requests, or its middle.

    That of the run alone where it cannot be compared.
    """
    own = latency.run_interval(name)
    statistic = f"{subset}.{name}"
    # in a draw with other times a rare kind may be missing from what is measured
    is_everywhere = all(statistic in one for one in (truths.reference, *truths.figures))
    if is_middle:
        return truths.middle(own, statistic, confidence) if is_everywhere else middle_of(own, confidence)
    return truths.interval(own, statistic, confidence) if is_everywhere else own


def prediction_of(truths: DrawnRuns, own: Mapping[str, Interval], confidence: float) -> Prediction:
    """Return the intervals of figures about which truths were simulated.

    Parameters
    ----------
    truths : DrawnRuns
    own : mapping of str to Interval
        By statistic (some of `STATISTICS`, and `UTILIZATION`): the figures, with intervals of the noise of their run.
    confidence : float
    """
    draws, main = truths.draws, "mean" if truths.case.workload.is_open else "iops"
    are_overloaded = [math.isnan(one["mean"]) and not math.isnan(one["iops"]) for one in truths.figures]
    return Prediction(
        confidence=confidence,
        n_draws=len(truths.figures),
        n_overloaded=sum(are_overloaded),
        n_requests=truths.n_requests,
        wall_s=0.0,
        main=main,
        sources=truths.sources(own[main], main, confidence),
        origins=dict(zip(draws.names, draws.origins, strict=True)),
        if_measured_ratio=math.nan,
        intervals={name: truths.interval(one, name, confidence) for name, one in own.items()},
        middles={name: truths.middle(one, name, confidence) for name, one in own.items()},
    )


def check_draws(n_draws: int) -> None:
    """Refuse a single draw, which has no spread."""
    if n_draws < 2:
        raise DescriptionError(Fault("profile_draws", n_draws, "must be 0 or at least 2", "use 16"))
