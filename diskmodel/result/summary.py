"""From the raw outcome of a run to its result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import ConservationError, DescriptionError, Fault
from diskmodel.records import PARTS, Int64, Op, Requests, Run
from diskmodel.result.batches import Interval
from diskmodel.result.devices import disk_use
from diskmodel.result.latency import Latency
from diskmodel.result.laws import check_laws, exact_sum, sum_of_responses
from diskmodel.result.levels import Drift, drifts
from diskmodel.result.quantiles import LEVELS
from diskmodel.result.result import Result
from diskmodel.result.stability import Stability, judge_stability
from diskmodel.result.throughput import throughput_interval
from diskmodel.result.window import Window, last_full_mix_ns, measuring_window, narrowed, subtract_at

DEFAULT_PRECISION = 0.02


def summarize(
    requests: Requests,
    run: Run,
    *,
    n_disks: int,
    precision: float = DEFAULT_PRECISION,
    percentile: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Result:
    """The result of a run, its laws checked.

    Parameters
    ----------
    requests, run : Requests, Run
        What went in and what came out.
    n_disks : int
        Disks of the array, spares included.
    precision : float, more than 0
        Relative half-width of the intervals that counts as converged.
    percentile : "p50", "p95", "p99", "p999" or None
        Percentile whose interval must be that narrow too.
    confidence : float in (0, 1)
    seed : int
        Unused by the present estimators, which draw nothing; kept so that callers need not know.

    Raises
    ------
    DescriptionError
        When there is nothing to summarise or an option is out of range.
    ConservationError
        When the run breaks a law of every run: a fault of the engine.
    """
    check_options(len(requests), precision, percentile, confidence)
    if len(run.devices.busy_ns) != n_disks:
        raise ConservationError(f"counters of {len(run.devices.busy_ns)} disks for an array of {n_disks}")
    check_laws(requests, run)
    done = run.completions
    window = measuring_window(requests, run)
    rows = window.rows
    response_ns = done.done_ns[rows]
    iops = throughput_interval(response_ns, window.start_ns, window.end_ns, confidence=confidence)
    # in the same memory: up to here these were times of completion
    subtract_at(response_ns, done.issue_ns, rows)
    responses = narrowed(response_ns)
    del response_ns
    stability = _stability(requests, run)
    drifting = drifts(run, requests, last_full_mix_ns(requests, done.issue_ns))
    stability, window = with_drifts(stability, window, drifting, requests)
    is_stable = stability is None or stability.is_stable
    observed = Latency.of(responses, confidence=confidence)

    def latency_of(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Latency:
        if not is_stable:
            return Latency.unknown(int(chosen.sum()))
        if chosen.all():
            return observed
        return Latency.of(responses[chosen], confidence=confidence)

    names = [rule.name for rule in requests.streams]
    op = requests.op[rows]
    owner = requests.stream[rows] if len(names) > 1 else np.broadcast_to(np.int32(0), rows.shape)
    latency = observed if is_stable else Latency.unknown(len(rows))
    parts = [exact_sum(done.parts_ns[:, part][rows]) / len(rows) for part in range(len(PARTS))]
    longest_wait_ns = int(done.parts_ns[:, PARTS.index("queue")][rows].max())
    per_disk = disk_use(run)
    n_commands = int(run.devices.n_reads.sum() + run.devices.n_writes.sum())
    is_converged = is_stable and window.is_settled and is_narrow(latency, precision, percentile)
    return Result(
        engine=run.engine,
        wall_s=run.wall_s,
        n_requests=len(requests),
        n_measured=len(rows),
        is_stable=is_stable,
        is_settled=window.is_settled,
        is_converged=is_converged,
        precision=precision,
        percentile=percentile,
        confidence=confidence,
        latency=latency,
        reads=latency_of(op == Op.READ),
        writes=latency_of(op == Op.WRITE),
        observed=observed,
        per_stream={name: latency_of(owner == index) for index, name in enumerate(names)},
        iops=iops,
        iops_by_stream={name: float((owner == index).sum()) / window.seconds for index, name in enumerate(names)},
        offered_per_s=math.nan if stability is None else stability.offered_per_s,
        bytes_per_s=_sum_at(requests.length, rows) / window.seconds,
        breakdown_ns={part: float(value) if is_stable else math.nan for part, value in zip(PARTS, parts, strict=True)},
        longest_wait_ns=longest_wait_ns,
        mean_in_system=sum_of_responses(done.issue_ns, done.done_ns) / max(run.end_ns, 1),
        **_before_and_after_full(run),
        hit_ratio=float(done.is_hit[rows].mean()),
        utilization_ratio=float(np.mean([use.utilization_ratio for use in per_disk])) if per_disk else 0.0,
        per_disk=per_disk,
        back_end_per_host=n_commands / len(requests),
        messages=messages_of(stability, window, latency.mean, latency, is_converged, precision, percentile, drifting),
        window=window,
        requests=requests,
        run=run,
    )


def _sum_at(column: Int64, rows: Int64 | NDArray[np.int32]) -> float:
    """Sum of a column over some rows, piece by piece."""
    pieces = range(0, len(rows), 1 << 18)
    return float(sum(int(column[rows[first : first + (1 << 18)]].sum()) for first in pieces))


def _before_and_after_full(run: Run) -> dict[str, Any]:
    """Burst figure and sustained figure of a write-back cache that was filled."""
    full_ns = run.cache_full_ns
    if full_ns is None or not 0 < full_ns < run.end_ns:
        return {"burst_iops": math.nan, "sustained_iops": math.nan, "cache_full_s": math.nan}
    n_burst = int((run.completions.done_ns <= full_ns).sum())
    n_sustained = len(run.completions.done_ns) - n_burst
    return {
        "burst_iops": n_burst / (full_ns / 1e9),
        "sustained_iops": n_sustained / ((run.end_ns - full_ns) / 1e9),
        "cache_full_s": full_ns / 1e9,
    }


def check_options(n: int, precision: float, percentile: str | None, confidence: float) -> None:
    """There is something to summarise, and the options are in range.

    Raises
    ------
    DescriptionError
        With everything that is wrong.
    """
    faults = []
    if n == 0:
        faults.append(Fault("requests", 0, "there is nothing to summarise", "simulate at least one request"))
    if not precision > 0:
        faults.append(Fault("precision", precision, "must be more than 0", "write for example 0.02"))
    if not 0 < confidence < 1:
        faults.append(Fault("confidence", confidence, "must be between 0 and 1", "write for example 0.95"))
    if percentile is not None and percentile not in LEVELS:
        faults.append(Fault("percentile", percentile, "is not a known percentile", f"use one of {', '.join(LEVELS)}"))
    if faults:
        raise DescriptionError(faults)


def _stability(requests: Requests, run: Run) -> Stability | None:
    """Verdict on the open streams; None without any."""
    is_open = np.array([rule.n_clients == 0 for rule in requests.streams], dtype=np.bool_)[requests.stream]
    if not is_open.any():
        return None
    done = run.completions
    until_ns = last_full_mix_ns(requests, done.issue_ns)
    if is_open.all():
        return judge_stability(done.issue_ns, done.done_ns, until_ns)
    return judge_stability(done.issue_ns[is_open], done.done_ns[is_open], until_ns)


def with_drifts(
    stability: Stability | None, window: Window, drifting: tuple[Drift, ...], requests: Requests
) -> tuple[Stability | None, Window]:
    """The verdict and the window, where a level has not settled (rule Z8).

    What fills under open streams alone goes on until it is full: they do not wait for it.
    """
    if not drifting:
        return stability, window
    are_open = all(rule.n_clients == 0 for rule in requests.streams)
    if stability is not None and are_open and any(drift.bytes_per_s > 0 for drift in drifting):
        stability = replace(stability, is_stable=False)
    return stability, replace(window, is_settled=False)


def is_narrow(latency: Latency, precision: float, percentile: str | None) -> bool:
    """Whether the intervals asked for are as narrow as asked."""
    # comparisons with nan (too little data) are False
    mean_is_narrow = latency.mean.relative <= precision and not latency.mean.is_correlated
    return mean_is_narrow and (percentile is None or latency.relative_half_width(percentile) <= precision)


def messages_of(
    stability: Stability | None,
    window: Window,
    mean: Interval,
    latency: Latency,
    is_converged: bool,
    precision: float,
    percentile: str | None,
    drifting: tuple[Drift, ...] = (),
) -> tuple[str, ...]:
    """What the reader must know of a result."""
    if stability is not None and not stability.is_stable:
        filling = [drift for drift in drifting if drift.bytes_per_s > 0]
        if filling:
            return tuple(
                f"overloaded: {drift.part} fills at {drift.bytes_per_s / 1e6:.2g} MB/s; destaging does not keep up, "
                "and latency grows without end once it is full"
                for drift in filling
            )
        return (
            f"overloaded: {stability.offered_per_s:.4g} requests/s come and {stability.completed_per_s:.4g}/s complete;"
            " the backlog grows without end, so there is no latency to report",
        )
    messages = []
    messages += [drift.message for drift in drifting]
    if not window.is_settled and not drifting:
        messages.append("the warm-up did not end within the run; simulate more requests")
    if mean.is_correlated:
        messages.append("batch means are still correlated, so the interval may be too narrow; simulate more requests")
    if not is_converged:
        asked = "mean" if percentile is None else f"mean and of {percentile}"
        reached = f"±{mean.relative:.1%}" if not math.isnan(mean.relative) else "unknown"
        if percentile is not None and not math.isnan(latency.relative_half_width(percentile)):
            reached += f" and ±{latency.relative_half_width(percentile):.1%}"
        messages.append(f"the interval of the {asked} is {reached}, ±{precision:.1%} was asked for")
    return tuple(messages)
