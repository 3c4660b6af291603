"""Prediction intervals: the array simulated again with drives drawn from what its profile leaves open."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.drive.drawn import drawn, drawn_parameters
from diskmodel.engine.native import covers
from diskmodel.engine.run import Engine, run_to_result
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.shared import Begin, steady_start
from diskmodel.errors import DescriptionError, Fault
from diskmodel.result import Result
from diskmodel.result.prediction import STATISTICS, Prediction, combined
from diskmodel.workload import TraceWorkload, Workload

#: Drives drawn by default, and the longest run of each. With 16 draws the width of an interval is itself uncertain by
#: about 18 % (1 / sqrt(2 * 16)): at 8 by 25 %, at 32 by 13 % at twice the time.
DRAWS = 16
DRAW_REQUESTS = {"native": 20_000, "simpy": 4_000}


def predict(
    array: Array,
    workload: Workload | TraceWorkload,
    result: Result,
    *,
    seed: int = 0,
    engine: Engine = "auto",
    n_draws: int = DRAWS,
    start: Begin = "steady",
    confidence: float | None = None,
) -> Prediction | None:
    """Return prediction intervals of `result`; None where the drive's profile is exact or nothing is stable.

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
    Costs `n_draws` + 1 runs of at most `DRAW_REQUESTS` requests. All runs have the same requests and random numbers.
    """
    if n_draws < 2:
        raise DescriptionError(Fault("profile_draws", n_draws, "must be 0 or at least 2", "use 16"))
    parameters = drawn_parameters(array.drive)
    if not parameters or not result.is_stable:
        return None
    started = time.perf_counter()
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=1, seed=seed)
    is_native = engine != "simpy" and covers(resolve(array, seed), requests) is None
    n = min(result.n_requests, DRAW_REQUESTS["native" if is_native else "simpy"])

    def figures(drive: Drive) -> dict[str, float]:
        trial = array.model_copy(update={"drive": drive})
        scenario = resolve(trial, seed)
        if start == "steady":
            # of the drawn drive: what its buffer holds in the long run depends on how fast it is
            scenario = replace(scenario, start=steady_start(trial, workload, scenario, seed))
        found = run_to_result(trial, workload, n, scenario=scenario, seed=seed, engine=engine)
        if not found.is_stable:
            return dict.fromkeys(STATISTICS, math.nan)
        return {name: found.interval_of(name).value for name in STATISTICS}

    level = result.confidence if confidence is None else confidence
    reference = figures(array.drive)
    trials = [figures(drive) for drive in drawn(array.drive, n_draws, seed=seed)]
    return Prediction(
        confidence=level,
        n_draws=len(trials),
        n_overloaded=sum(math.isnan(trial["iops"]) for trial in trials),
        n_requests=n,
        wall_s=time.perf_counter() - started,
        parameters=parameters,
        intervals={
            name: combined(result.interval_of(name), reference[name], [trial[name] for trial in trials], level)
            for name in STATISTICS
        },
    )
