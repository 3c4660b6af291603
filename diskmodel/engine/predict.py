"""Prediction intervals: the array simulated again with draws of everything that is not known."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from diskmodel.array import Array
from diskmodel.engine.native import covers
from diskmodel.engine.run import Engine, run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady.shared import Begin, steady_start
from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Requests, Run
from diskmodel.result import Interval, Result
from diskmodel.result.prediction import STATISTICS, Prediction, combined, half_width_ratio, sources_of
from diskmodel.result.summary import point_estimates
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.draws import Draws, draw
from diskmodel.uncertainty.moved import AnyWorkload, moved
from diskmodel.uncertainty.moves import Moves
from diskmodel.uncertainty.origin import origin_of
from diskmodel.uncertainty.registry import FITTED, TAIL
from diskmodel.uncertainty.seen import Seen
from diskmodel.workload import Workload

#: Truths drawn by default, and the longest run of each. With 16 draws the width of an interval is itself uncertain by
#: about 18 % (1 / sqrt(2 * 16)): at 8 by 25 %, at 32 by 13 % at twice the time.
DRAWS = 16
DRAW_REQUESTS = {"native": 20_000, "simpy": 2_000}
#: Part of the interval's width that a measurement of the drive must take off to be worth mentioning.
_WORTH_MEASURING = 0.2


@dataclass(frozen=True)
class Predictor:
    """Makes the prediction of a result when somebody asks for it.

    Attributes
    ----------
    array, workload, seed, engine, start
        Of the run that gave the result.
    n_draws : int
    """

    array: Array
    workload: AnyWorkload
    seed: int
    engine: Engine
    start: Begin
    n_draws: int

    def __call__(self, result: Result) -> Prediction | None:
        """Return the prediction; None where everything is known or nothing is stable."""
        return predict(
            self.array,
            self.workload,
            result,
            seed=self.seed,
            engine=self.engine,
            n_draws=self.n_draws,
            start=self.start,
        )


def predict(
    array: Array,
    workload: AnyWorkload,
    result: Result,
    *,
    seed: int = 0,
    engine: Engine = "auto",
    n_draws: int = DRAWS,
    start: Begin = "steady",
    confidence: float | None = None,
) -> Prediction | None:
    """Return prediction intervals of `result`; None where everything is known or nothing is stable.

    Parameters
    ----------
    array, workload, seed, engine, start
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
    trials = Trials(array, workload, result.n_requests, seed=seed, engine=engine, start=start)
    case = Case(array, workload, trials.seen)
    draws = draw(case, n_draws, seed)
    if not len(draws):
        return None
    level = result.confidence if confidence is None else confidence
    found = trials.figures(draws)
    main = "mean" if workload.is_open else "iops"

    def interval(name: str, figures: list[dict[str, float]]) -> Interval:
        possible = [one[name] for one in figures if not math.isnan(one["iops"])]
        return combined(result.interval_of(name), trials.reference[name], possible, level)

    intervals = {name: interval(name, found) for name in STATISTICS}
    measured = math.nan
    if case.origin in ("sheet", "fitted"):
        others = draw(replace(case, as_measured=True), max(n_draws // 2, 2), seed)
        narrow = half_width_ratio(interval(main, trials.figures(others)))
        if narrow < (1 - _WORTH_MEASURING) * half_width_ratio(intervals[main]):
            measured = narrow
    return Prediction(
        confidence=level,
        n_draws=len(found),
        n_overloaded=sum(math.isnan(one["mean"]) and not math.isnan(one["iops"]) for one in found),
        n_requests=trials.n_requests,
        wall_s=time.perf_counter() - started,
        main=main,
        sources=sources_of(
            result.interval_of(main),
            [math.log(one[main] / trials.reference[main]) if one[main] > 0 else math.nan for one in found],
            {name: column for name, column in zip(draws.names, draws.scores.T, strict=True) if name != TAIL},
            FITTED if FITTED in draws.names else None,
            level,
        ),
        origins=dict(zip(draws.names, draws.origins, strict=True)),
        if_measured_ratio=measured,
        intervals=intervals,
    )


def check_draws(n_draws: int) -> None:
    """Refuse a single draw, which has no spread."""
    if n_draws < 2:
        raise DescriptionError(Fault("profile_draws", n_draws, "must be 0 or at least 2", "use 16"))


class Trials:
    """Runs of an array and of what is drawn of it, all with the same requests.

    Parameters
    ----------
    array, workload, seed, engine, start
        Of the run whose prediction is made.
    n_requests : int
        Of that run; those of the trials are at most `DRAW_REQUESTS`.

    Attributes
    ----------
    reference : mapping of str to float
        Figures of the array as it is described.
    seen : Seen
        What its run shows.
    n_requests : int
        Of each run.
    """

    def __init__(
        self, array: Array, workload: AnyWorkload, n_requests: int, *, seed: int, engine: Engine, start: Begin
    ) -> None:
        self._array, self._workload = array, workload
        self._seed, self._start = seed, start
        self._requests: dict[Hashable, Requests] = {}
        few = workload.requests(capacity_bytes=array.usable_bytes, n=1, seed=seed)
        self._engine: Engine = "auto"
        is_native = covers(resolve(array, seed), few) is None
        self.n_requests = min(n_requests, DRAW_REQUESTS["native" if is_native else "simpy"])
        requests, outcome = self._run(array, workload)
        self.reference = point_estimates(requests, outcome)
        self.seen = Seen.of(outcome)

    def figures(self, draws: Draws) -> list[dict[str, float]]:
        """Return the figures of each drawn truth; all nan where no such drive is possible, latency in an overload."""
        with ThreadPoolExecutor(min(len(draws), os.cpu_count() or 1)) as pool:
            return list(pool.map(self._figures, draws.moves))

    def _figures(self, moves: Moves) -> dict[str, float]:
        try:
            requests, outcome = self._run(*moved(self._array, self._workload, moves))
        except DescriptionError:
            return dict.fromkeys(STATISTICS, math.nan)
        found = point_estimates(requests, outcome)
        return found | {"p99": found["p99"] * math.exp(moves.p99), "p999": found["p999"] * math.exp(moves.p99)}

    def _run(self, array: Array, workload: AnyWorkload) -> tuple[Requests, Run]:
        scenario = resolve(array, self._seed)
        if self._start == "steady":
            # of the drawn drive: what its buffer holds in the long run depends on how fast it is
            scenario = replace(scenario, start=steady_start(array, workload, scenario, self._seed))
        requests = self._drawn(array, workload, scenario)
        return requests, run(scenario, requests, self._engine)

    def _drawn(self, array: Array, workload: AnyWorkload, scenario: Scenario) -> Requests:
        """Return the requests, those of an earlier run where they would be the same."""
        before = scenario.start.n_before if isinstance(workload, Workload) else 0
        key = (array.usable_bytes, before, workload is self._workload)
        if key in self._requests:
            return self._requests[key]
        more = {"n_before": before} if isinstance(workload, Workload) else {}
        requests = workload.requests(
            capacity_bytes=array.usable_bytes,
            n=self.n_requests,
            seed=self._seed,
            with_cache_draws=scenario.has_drawn_hits,
            **more,
        )
        if workload is self._workload:
            self._requests[key] = requests
        return requests
