"""Evaluation by simulation: an engine's result as the plan reads it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.plan.outcome import Figure, Outcome
from diskmodel.result import Latency, Result
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Simulated:
    """Evaluates an array with an engine.

    Attributes
    ----------
    engine : "auto", "native" or "simpy"
    """

    engine: str = "auto"

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Outcome of one run of exactly `n_requests` requests."""
        result = simulate(
            array,
            workload,
            seed=seed,
            engine=self.engine,  # type: ignore[arg-type]
            n_requests=n_requests,
        )
        return outcome_of(result, array)


def outcome_of(result: Result, array: Array) -> Outcome:
    """What a plan needs of a simulation's result; utilisation is that of the working disks, without spares."""
    working = [
        use.utilization_ratio
        for disk, use in enumerate(result.per_disk)
        if disk < array.layout.disks and disk not in array.layout.failed
    ]
    mean_bytes = result.bytes_per_s / result.iops.mean if result.iops.mean else 0.0
    rebuilt = result.run.rebuilt_bytes / max(result.run.end_ns, 1) * 1e9
    iops = Figure(result.iops.mean, result.iops.low, result.iops.high)
    return Outcome(
        is_stable=result.is_stable,
        iops=iops,
        bytes_per_s=iops.scaled(mean_bytes) if mean_bytes else Figure.exact(0.0),
        latency_ns={"": _figures(result.latency)}
        | {name: _figures(latency) for name, latency in result.per_stream.items()},
        utilization_ratio=sum(working) / len(working),
        back_end_per_host=result.back_end_per_host,
        breakdown_ms={part: value / 1e6 for part, value in result.breakdown_ns.items()} if result.is_stable else {},
        n_requests=result.n_requests,
        method=result.engine,
        rebuilt_bytes_per_s=rebuilt if array.layout.rebuild is not None else math.nan,
    )


def _figures(latency: Latency) -> dict[str, Figure]:
    figures = {"mean": Figure(latency.mean.mean, latency.mean.low, latency.mean.high)}
    for name, value in latency.quantiles_ns.items():
        figures[name] = Figure(value, *latency.ends_ns[name])
    return figures
