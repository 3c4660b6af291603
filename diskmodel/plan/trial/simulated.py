"""Evaluation by simulation: an engine's result as an outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.host.limit import host_limit
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.records import Op
from diskmodel.result import Latency, Result
from diskmodel.result.statistics.batches import Interval
from diskmodel.workload import Workload

#: Standard deviation of the time of a disk operation as a part of its mean: seek, rotation, transfer. At half or
#: double, the interval of the utilization is up to half or twice as wide.
_SERVICE_VARIATION = 0.5


@dataclass(frozen=True)
class Simulated:
    """Evaluates an array with an engine.

    Attributes
    ----------
    engine : "auto", "native" or "simpy"
    """

    engine: str = "auto"

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of one run of `n_requests` requests, or of all phases of a workload with excerpts."""
        result = simulate(
            array,
            workload,
            seed=seed,
            engine=self.engine,  # type: ignore[arg-type]
            n_requests=max(n_requests, workload.n_cycle),
            profile_draws=0,
        )
        outcome = outcome_of(result, array)
        outcome = replace(outcome, latency_ns={**outcome.latency_ns, **_of_volumes(result, workload)})
        return outcome if workload.queue_depth else _at_offered_rate(outcome, result, workload)


def outcome_of(result: Result, array: Array) -> Outcome:
    """Return what a plan reads from a result; utilization is that of the working disks, without spares."""
    working = [
        use.utilization_ratio
        for disk, use in enumerate(result.per_disk)
        if disk < array.layout.disks and disk not in array.layout.failed
    ]
    mean_bytes = result.bytes_per_s / result.iops.mean if result.iops.mean else 0.0
    rebuilt = result.run.rebuilt_bytes / max(result.run.end_ns, 1) * 1e9
    iops = Interval(result.iops.value, result.iops.low, result.iops.high)
    return Outcome(
        is_stable=result.is_stable,
        iops=iops,
        bytes_per_s=iops.scaled(mean_bytes) if mean_bytes else Interval.exact(0.0),
        latency_ns={"": _figures(result.latency)}
        | {name: _figures(latency) for name, latency in result.per_stream.items()},
        utilization_ratio=sum(working) / len(working),
        utilization_half_width=_utilization_half_width(result),
        back_end_per_host=result.back_end_per_host,
        breakdown_ms={part: value / 1e6 for part, value in result.breakdown_ns.items()} if result.is_stable else {},
        n_requests=result.n_requests,
        method=result.engine,
        rebuilt_bytes_per_s=rebuilt if array.layout.rebuild is not None else math.nan,
        burst_requests=result.burst.n_requests if result.burst else math.nan,
        burst_latency_ms=result.burst.response_ns / 1e6 if result.burst else math.nan,
        host_limit="; ".join(host_limit(array.host, result.iops.mean, result.requests)),
    )


def _of_volumes(result: Result, workload: Workload) -> dict[str, dict[str, Interval]]:
    """Return the latency of each volume, all its streams together; nothing where no stream names a volume."""
    found = {}
    position = {rule.name: at for at, rule in enumerate(result.requests.streams)}
    for volume, members in workload.volumes.items():
        if len(members) == 1:
            latency = result.per_stream[members[0].name]
        elif not result.is_stable:
            latency = Latency.unknown(0)
        else:
            rows = result.window.rows
            done = result.run.completions
            own = rows[np.isin(result.requests.stream[rows], [position[stream.name] for stream in members])]
            latency = Latency.of(done.done_ns[own] - done.issue_ns[own])
        found[volume] = _figures(latency)
    return found


def _at_offered_rate(outcome: Outcome, result: Result, workload: Workload) -> Outcome:
    """Return the outcome with the utilization at the nominal rate of an open workload, not at the rate drawn here."""
    seconds = result.run.end_ns / 1e9
    if not outcome.is_stable or seconds <= 0:
        return outcome
    ratio = outcome.utilization_ratio * workload.offered_rate_per_s * seconds / result.n_requests
    return replace(outcome, utilization_ratio=min(ratio, 1.0))


def _utilization_half_width(result: Result) -> float:
    """Return the relative half-width of the 95 % interval of the utilization.

    Busy time is a sum over requests; each brings a number of operations that depends on its kind (hit, read, write),
    and operations whose times vary by about half their mean. Requests are independent.
    """
    n = result.n_requests
    per_host = result.back_end_per_host
    if per_host <= 0:
        return 0.0
    writes = float(np.mean(result.requests.op != Op.READ))
    hits = float(np.mean(result.run.completions.is_hit & (result.requests.op == Op.READ)))
    reads = max(1 - writes - hits, 0.0)
    per_write = max(per_host - reads, 0.0) / writes if writes else 0.0
    variance = per_host * _SERVICE_VARIATION**2 + max(reads + writes * per_write**2 - per_host**2, 0.0)
    return 1.96 * math.sqrt(variance / n) / per_host


def _figures(latency: Latency) -> dict[str, Interval]:
    figures = {"mean": Interval(latency.mean.value, latency.mean.low, latency.mean.high)}
    for name, value in latency.quantiles_ns.items():
        figures[name] = Interval(value, *latency.ends_ns[name])
    return figures
