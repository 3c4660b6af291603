"""Latency against load, up to the knee and beyond, and how far away the knee is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diskmodel.array import Array
from diskmodel.plan.answer.outcome import Evaluate, Outcome
from diskmodel.workload import Workload

#: Loads as shares of the load at which the disks would be busy all the time at today's service time; an elevator
#: makes service shorter under load, hence those beyond 1. The first overload ends the curve.
LOADS = (0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 1.05, 1.2, 1.4, 1.7, 2.0)
#: Depths for closed workloads, as multiples of the depth asked about.
DEPTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class LoadPoint:
    """One load.

    Attributes
    ----------
    load_factor : float
        Times the workload's own load.
    offered : float
        Requests per second of an open workload; clients of a closed one.
    outcome : Outcome
    """

    load_factor: float
    offered: float
    outcome: Outcome

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = self.outcome.to_dict()
        kept = ("stable", "iops", "latency_ms", "utilization_ratio")
        return {"load_factor": self.load_factor, "offered": self.offered} | {key: data[key] for key in kept}


@dataclass(frozen=True)
class Headroom:
    """How much more load an array takes.

    Attributes
    ----------
    knee_iops : float
        Rate with the best ratio of throughput to response (Kleinrock's power) among the loads tried.
    most_iops : float
        Highest rate that was held in a stable way.
    ratio : float
        Load that can be added before the highest held rate, as a share of the present one; negative: overloaded.
    months : float or None
        Until then at the given growth; None without growth.
    """

    knee_iops: float
    most_iops: float
    ratio: float
    months: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {key: value if value is not None and math.isfinite(value) else None for key, value in vars(self).items()}


def load_points(
    array: Array, workload: Workload, at_one: Outcome, evaluate: Evaluate, *, seed: int, n_requests: int
) -> list[LoadPoint]:
    """Outcomes at loads from light to beyond the knee; the workload's own load is among them.

    An open workload is scaled to shares of the load at which the busy disks of `at_one` would be full, a closed one
    to multiples of its clients.
    """
    if workload.is_open:
        full = 1 / at_one.utilization_ratio if 0 < at_one.utilization_ratio < 1 and at_one.is_stable else 1.0
        factors = sorted({1.0, *(share * full for share in LOADS)})
    else:
        factors = sorted({max(1, round(m * workload.queue_depth)) / workload.queue_depth for m in DEPTHS})
    points = []
    n_beyond = 0
    for factor in factors:
        outcome = at_one
        if factor != 1.0:
            outcome = evaluate(array, workload.scaled(factor), n_requests=n_requests, seed=seed)
        offered = (workload.offered_rate_per_s if workload.is_open else workload.queue_depth) * factor
        points.append(LoadPoint(factor, offered, outcome))
        n_beyond += not outcome.is_stable
        if n_beyond and factor >= 1:
            break
    return points


def find_headroom(curve: Sequence[LoadPoint], workload: Workload, growth_ratio: float | None) -> Headroom:
    """Knee and headroom of a curve."""
    stable = [point for point in curve if point.outcome.is_stable]
    if not stable:
        return Headroom(math.nan, 0.0, -1.0, None if growth_ratio is None else 0.0)
    most = max(point.outcome.iops.value for point in stable)
    knee = max(stable, key=_power).outcome.iops.value
    now = next((point for point in curve if point.load_factor == 1.0), curve[0])
    if workload.is_open:
        offered = now.offered
        most = max(point.offered for point in stable)
    else:
        offered = now.outcome.iops.value
    ratio = most / offered - 1 if offered else math.inf
    months = None
    if growth_ratio is not None and growth_ratio > 0:
        months = max(0.0, 12 * math.log1p(ratio) / math.log1p(growth_ratio)) if ratio > -1 else 0.0
    return Headroom(knee, most, ratio, months)


def _power(point: LoadPoint) -> float:
    mean = point.outcome.latency_ns.get("", {}).get("mean")
    return point.outcome.iops.value / mean.value if mean is not None and mean.value > 0 else 0.0
