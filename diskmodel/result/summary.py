"""The result of a run that kept every completion."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import ConservationError
from diskmodel.records import PARTS, Int64, Op, Requests, Run, Sync
from diskmodel.result.build import Burst, Measured, Subset, Target, build_result
from diskmodel.result.commits import COMMITS, are_commits, has_syncs
from diskmodel.result.latency import Latency
from diskmodel.result.laws import check_laws, sum_of_responses
from diskmodel.result.levels import drifts
from diskmodel.result.prediction import UTILIZATION
from diskmodel.result.result import Result, subset_of_stream
from diskmodel.result.rounds import measured_round
from diskmodel.result.statistics.quantiles import percentiles
from diskmodel.result.statistics.registry import PERCENTILES
from diskmodel.result.statistics.stability import Stability, judge_stability
from diskmodel.result.statistics.throughput import throughput_interval
from diskmodel.result.statistics.window import Window, last_full_mix_ns, measuring_window, narrowed, subtract_at
from diskmodel.result.utilization import utilization_interval

DEFAULT_PRECISION = 0.02
#: Requests up to which completions are sorted once for all that is asked of them: kept, the order of many more takes
#: memory.
_SORTED_UP_TO = 1 << 18


def summarize(
    requests: Requests,
    run: Run,
    *,
    n_disks: int,
    precision: float = DEFAULT_PRECISION,
    percentile: str | None = None,
    confidence: float = 0.95,
    with_operations: bool = True,
) -> Result:
    """Return the result of a run that kept every completion, and check its conservation laws.

    Parameters
    ----------
    requests, run : Requests, Run
        The rows simulated, and their outcome.
    n_disks : int
        Disks of the array, spares included.
    precision : float, more than 0
        Relative half-width below which an interval counts as converged.
    percentile : "p50", …, "p999" or None
        Percentile whose interval must be that narrow, too.
    confidence : float in (0, 1)
    with_operations : bool
        Whether reads and writes have percentiles and intervals of their own, beside their means.

    Raises
    ------
    DescriptionError
        When there is nothing to summarize or an option is out of range.
    ConservationError
        When the run breaks a law of every run: a bug of the engine.
    """
    target = Target(precision, percentile, confidence)
    target.check(len(requests))
    if len(run.devices.busy_ns) != n_disks:
        raise ConservationError(f"counters of {len(run.devices.busy_ns)} disks for an array of {n_disks}")
    done = run.completions
    order = left = None
    if len(requests) <= _SORTED_UP_TO:
        order = np.argsort(done.done_ns, kind="stable")
        left = done.done_ns[order]
    check_laws(requests, run)
    run = replace(run, round_requests=measured_round(run, len(requests)))
    window = measuring_window(requests, run, order)
    rows = window.rows
    response_ns = done.done_ns[rows]
    iops = throughput_interval(response_ns, window.start_ns, window.end_ns, confidence=confidence)
    # in the same memory: up to here these were times of completion
    subtract_at(response_ns, done.issue_ns, rows)
    responses = narrowed(response_ns)
    del response_ns
    observed = Latency.of(responses, confidence=confidence, n_rounds=window.n_rounds)

    def of_operation(chosen: NDArray[np.bool_]) -> Subset:
        if with_operations or chosen.all():
            return subset(chosen)
        return Subset(int(chosen.sum()), lambda: Latency.mean_alone(responses[chosen]))

    def subset(chosen: NDArray[np.bool_]) -> Subset:
        if chosen.all():
            return Subset(len(rows), lambda: observed)
        return Subset(
            int(chosen.sum()), lambda: Latency.of(responses[chosen], confidence=confidence, n_rounds=window.n_rounds)
        )

    op = requests.op[rows]
    owner = requests.stream[rows] if len(requests.streams) > 1 else np.broadcast_to(np.int32(0), rows.shape)
    return build_result(
        requests,
        run,
        n_requests=len(requests),
        response_ns=sum_of_responses(done.issue_ns, done.done_ns),
        window=window,
        stability=_stability(requests, run, left),
        measured=Measured(
            observed=observed,
            reads=of_operation(op == Op.READ),
            writes=of_operation(op == Op.WRITE),
            commits=subset(are_commits(requests, done, rows)),
            streams={rule.name: subset(owner == index) for index, rule in enumerate(requests.streams)},
            n_hits=int(done.is_hit[rows].sum()),
            n_bytes=_sum_at(requests.length, rows),
            parts_ns=[total / len(rows) for total in _sums_of_parts(done.parts_ns, rows)],
            longest_wait_ns=int(done.parts_ns[:, PARTS.index("queue")][rows].max()),
            iops=iops,
        ),
        burst=Burst.of(run, len(done.done_ns), lambda full_ns: int((done.done_ns <= full_ns).sum())),
        drifting=drifts(run, requests, last_full_mix_ns(requests, done.issue_ns)),
        target=target,
    )


def _sum_at(column: Int64, rows: Int64 | NDArray[np.int32]) -> int:
    """Return the sum of a column over some rows, piece by piece to save memory."""
    pieces = range(0, len(rows), 1 << 18)
    return sum(int(column[rows[first : first + (1 << 18)]].sum()) for first in pieces)


def _sums_of_parts(parts_ns: Int64 | NDArray[np.int32], rows: Int64 | NDArray[np.int32]) -> list[int]:
    """Return the sum of each part over some rows as Python integers, without overflow."""
    if 2 * len(rows) > len(parts_ns):  # the others are fewer, and rows side by side are quick to add
        is_other = np.ones(len(parts_ns), np.bool_)
        is_other[rows] = False
        found, less = _sums(parts_ns), _sums(parts_ns[is_other])
        return [total - part for total, part in zip(found, less, strict=True)]
    return _sums(parts_ns[rows])


def _sums(parts_ns: Int64 | NDArray[np.int32]) -> list[int]:
    """Return the sum of each part as Python integers, without overflow."""
    sums = [0] * len(PARTS)
    for first in range(0, len(parts_ns), 4096):
        piece = parts_ns[first : first + 4096].sum(axis=0, dtype=np.int64)
        sums = [total + more for total, more in zip(sums, piece.tolist(), strict=True)]
    return sums


def _stability(requests: Requests, run: Run, left: Int64 | None = None) -> Stability | None:
    """Return the verdict on the open streams; None without any. `left`: times of completion in order, where known."""
    is_open = requests.are_open
    if not is_open.any():
        return None
    done = run.completions
    until_ns = last_full_mix_ns(requests, done.issue_ns)
    if is_open.all():
        return judge_stability(done.issue_ns, done.done_ns if left is None else left, until_ns)
    return judge_stability(done.issue_ns[is_open], done.done_ns[is_open], until_ns)


def point_estimates(requests: Requests, run: Run) -> dict[str, float]:
    """Return the rate ("iops"), the mean and the percentiles (ns) of a run, as `summarize` does, without intervals.

    Latencies are nan where the array is overloaded.
    """
    return _measured_part(requests, run)[2]


def _measured_part(requests: Requests, run: Run) -> tuple[Window, NDArray[np.int64], dict[str, float]]:
    """Return the part of a run that is measured, the response times in it, and figures of all requests."""
    done = run.completions
    order = np.argsort(done.done_ns, kind="stable")
    left = done.done_ns[order] if len(order) <= _SORTED_UP_TO else None
    window = measuring_window(requests, replace(run, round_requests=measured_round(run, len(requests))), order)
    responses = done.done_ns[window.rows] - done.issue_ns[window.rows]
    return window, responses, _of_all(requests, run, window, responses, left)


def _of_all(
    requests: Requests, run: Run, window: Window, responses: NDArray[np.int64], left: Int64 | None
) -> dict[str, float]:
    found = {"iops": len(responses) / window.seconds, "mean": float(responses.mean()), **percentiles(responses)}
    stability = _stability(requests, run, left)
    if stability is not None and not stability.is_stable:
        found |= dict.fromkeys(("mean", *PERCENTILES), math.nan)
    return found


#: Operations by their names in `estimates_by_operation`.
OPERATIONS = {"reads": Op.READ, "writes": Op.WRITE}


def estimates_by_operation(requests: Requests, run: Run) -> dict[str, float]:
    """Return the rate and the latencies of a run as `point_estimates`, and those of reads and of writes.

    "reads.mean", "writes.p99" and so on are in ns. In an overload they are as the run has them. Those of writes are
    without the flush that follows them, which load generators and devices time apart, as fio's section of flushes and
    iostat's `f_await` do; with it they are "commits.mean" and so on.
    """
    window, responses, found = _measured_part(requests, run)
    flushes = np.array([rule.sync == Sync.FLUSH for rule in requests.streams], dtype=np.bool_)
    if has_syncs(requests):
        found |= _of_some(COMMITS, responses[are_commits(requests, run.completions, window.rows)])
    if flushes.any():
        of_sync = run.completions.parts_ns[:, PARTS.index("sync")][window.rows]
        responses = responses - np.where(flushes[requests.stream[window.rows]], of_sync, 0)
    for name, op in OPERATIONS.items():
        found |= _of_some(name, responses[requests.op[window.rows] == op])
    return found


def estimates_by_subset(requests: Requests, run: Run) -> dict[str, float]:
    """Return the rate and the latencies of a run as `point_estimates`, and those of the subsets that a result reports.

    "reads.mean", "writes.p99", "commits.p50", "stream NAME.mean" and so on are in ns, and nan in an overload;
    "utilization" is a ratio.
    """
    window, responses, found = _measured_part(requests, run)
    found[UTILIZATION] = utilization_interval(run, window).value
    op = requests.op[window.rows]
    subsets = {name: op == wanted for name, wanted in OPERATIONS.items()}
    if has_syncs(requests):
        subsets[COMMITS] = are_commits(requests, run.completions, window.rows)
    if len(requests.streams) > 1:
        owner = requests.stream[window.rows]
        subsets |= {subset_of_stream(rule.name): owner == index for index, rule in enumerate(requests.streams)}
    for name, chosen in subsets.items():
        own = _of_some(name, responses[chosen])
        found |= dict.fromkeys(own, math.nan) if math.isnan(found["mean"]) else own
    return found


def _of_some(name: str, responses: NDArray[np.int64]) -> dict[str, float]:
    """Return the mean and the percentiles of some requests; nothing of none."""
    if not len(responses):
        return {}
    found = {f"{name}.{figure}": value for figure, value in percentiles(responses).items()}
    return found | {f"{name}.mean": float(responses.mean())}
