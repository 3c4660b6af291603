"""Checking an array against the trace that a plan's workload was made from.

A fitted workload keeps the mean rate, the mix and the sizes of a trace, and not its bursts; an array that serves the
fitted workload well may serve the trace badly. So every array that meets the objective under the fitted workload also
replays the trace, and has to meet the objective there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.plan.answer.replay import Replay
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.objective import LatencyObjective
from diskmodel.plan.trial.judge import criterion
from diskmodel.records import Op
from diskmodel.result import Result
from diskmodel.result.statistics import Interval, percentiles
from diskmodel.workload import TraceWorkload

#: First word of the names of criteria about the replay.
PREFIX = "replay "

#: Replays of an array that meets the objective. While an array is overloaded, replays of one trace that differ only in
#: the angles of the spindles differ by up to a factor of two in p99. With one, an array is accepted that half of its
#: likes would fail; with six, the slowest is a tenth slower at most, and a plan takes up to twice as long.
N_REPLAYS = 3

#: Time that an array may need after the last request to finish the rest, as a share of the trace's length, without
#: counting as overloaded. The usual test looks for growth from the first half of a run to the last, and a trace that
#: ends in a burst also grows. At half, such a trace would look overloaded; at double, an array that serves 98 % of the
#: rate would pass unnoticed where the objective has no latency.
DRAIN_SHARE = 0.01

#: Share of the time whose requests a burst statement counts: the busiest intervals. At double, it hides the bursts of a
#: trace whose load is in 5 % of the time.
_BUSY_SHARE = 0.05

#: Lengths of interval that a burst statement may be about, ns: bursts of a file system's flush are seconds long, those
#: of a process that submits a batch less than a millisecond.
_SCALES = {"seconds": 10**9, "tenths of a second": 10**8, "hundredths of a second": 10**7, "milliseconds": 10**6}

#: Intervals that a statement needs, and requests in an interval on average. With fewer of either, requests at random
#: crowd in a twentieth of the intervals too: at 20 requests, 8 % of them.
_MIN_INTERVALS = 100
_MEAN_REQUESTS = 20


def replay_trace(case: Case, array: Array, load_ratio: float = 1.0, turn: int = 0) -> Replay | None:
    """Return what replaying the plan's trace on an array finds; None where no trace stands behind the plan.

    Parameters
    ----------
    case : Case
    array : Array
    load_ratio : float
        Share of the load that the array has to carry: less than 1 while a disk is missing, where the objective says so.
    turn : int
        Number of the replay: each has a seed of its own.

    Notes
    -----
    Growth, peak and IOPS of the objective compress the trace in time as they scale the fitted workload: at a factor of
    2, a second of the trace takes half a second. Bursts keep their number of requests and come twice as fast.
    """
    trace = case.trace
    if trace is None:
        return None
    factor = case.plan.design_factor * load_ratio
    load = trace if factor == 1 else trace.scaled(factor)
    result = simulate(
        array,
        load,
        seed=case.search.seed + turn,
        engine=case.search.engine,
        n_requests=len(trace.trace),
        profile_draws=0,
    )
    return _found(result, array, trace, factor)


def _found(result: Result, array: Array, trace: TraceWorkload, factor: float) -> Replay:
    done = result.run.completions
    response_ns = done.done_ns - done.issue_ns
    op = result.requests.op
    latency = {"": _figures(response_ns)}
    for kind, name in ((Op.READ, "reads"), (Op.WRITE, "writes")):
        rows = op == kind
        if rows.any():
            latency[name] = _figures(response_ns[rows])
    seconds = max(result.run.end_ns, 1) / 1e9
    length_ns = int(done.issue_ns.max())
    drain_ns = result.run.end_ns - length_ns
    working = [
        use.utilization_ratio
        for disk, use in enumerate(result.per_disk)
        if disk < array.layout.disks and disk not in array.layout.failed
    ]
    end = int((trace.trace.offset + trace.trace.length).max())
    return Replay(
        is_stable=result.is_stable or drain_ns <= DRAIN_SHARE * length_ns,
        latency_ns=latency,
        iops=len(response_ns) / seconds,
        utilization_ratio=sum(working) / len(working),
        n_requests=len(response_ns),
        speed_up=factor,
        is_wrapped=end > array.usable_bytes,
    )


def _figures(response_ns: NDArray[np.int64]) -> dict[str, float]:
    """Return mean and percentiles (the smallest latency that the share of the requests does not exceed), ns."""
    return {"mean": float(response_ns.mean()), **percentiles(response_ns)}


def replay_criteria(
    replay: Replay, latency: LatencyObjective, ceiling: float | None, prefix: str = ""
) -> list[Criterion]:
    """Return the criteria about speed under the replay.

    Parameters
    ----------
    replay : Replay
    latency : LatencyObjective
        Limits of streams apply where the stream is one of a trace's: reads or writes.
    ceiling : float or None
        Largest allowed mean utilization.
    prefix : str
        "degraded " while disks are missing.
    """
    name = f"{PREFIX}{prefix}"
    found = []
    if not replay.is_stable:
        rate = Interval.exact(replay.iops)
        found.append(Criterion(f"{name}iops", "falls behind the trace", math.inf, rate, "1/s", False, Verdict.FAILS))
    for stream, limits in [("", latency.limits()), *((n, s.limits()) for n, s in latency.streams.items())]:
        for statistic, limit in limits.items():
            figures = replay.latency_ns.get(stream)
            if figures is None:  # a stream of another name, or an operation that the trace does not have
                continue
            detail = f"{statistic} of {stream}" if stream else statistic
            figure = Interval.exact(figures[statistic] / 1e6)
            found.append(criterion(f"{name}latency", detail, limit / 1e6, figure, "ms", is_upper=True))
    if ceiling is not None:
        busy = Interval.exact(replay.utilization_ratio)
        found.append(criterion(f"{name}utilization", "", ceiling, busy, "", is_upper=True))
    return found


def bursts_in_words(trace: TraceWorkload) -> str:
    """Return how the requests of a trace crowd in time: "82 % of the requests arrive in 5 % of the seconds".

    The statement is about the length of interval at which they crowd most. Where the clock of the trace is coarse,
    it is about that instead.
    """
    if coarse := trace.coarse_clock_in_words:
        return coarse
    when_ns = trace.trace.when_ns - trace.trace.when_ns[0]
    length_ns = int(when_ns[-1]) + 1
    best, text = 0.0, "its requests come in batches"
    for name, width_ns in _SCALES.items():
        n_intervals = -(-length_ns // width_ns)
        if n_intervals < _MIN_INTERVALS or len(when_ns) < _MEAN_REQUESTS * n_intervals:
            continue
        counts = np.bincount(when_ns // width_ns, minlength=n_intervals)
        share = float(np.sort(counts)[-max(round(_BUSY_SHARE * n_intervals), 1) :].sum()) / len(when_ns)
        if share > best:
            best = share
            text = f"{100 * share:.0f} % of the requests arrive in {100 * _BUSY_SHARE:.0f} % of the {name}"
    return text
