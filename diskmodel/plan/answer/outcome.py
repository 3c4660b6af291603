"""What one evaluation of an array says, with its uncertainty, whoever made it: an engine, a formula, a test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from diskmodel.array import Array
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Figure:
    """A value and its confidence interval; ends are nan where too little is known.

    Attributes
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Figure:
        """A value without uncertainty."""
        return cls(value, value, value)

    def scaled(self, factor: float) -> Figure:
        """All of it times `factor`, above 0."""
        return Figure(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Outcome:
    """Performance of one array under one workload.

    Attributes
    ----------
    is_stable : bool
    iops, bytes_per_s : Figure
        Completed per second.
    latency_ns : mapping of stream name to mapping of statistic to Figure
        "" is all requests together; statistics: mean, p50, p95, p99, p999. A statistic may be missing where the
        method does not model it.
    utilization_ratio : float
        Mean of the disks.
    utilization_half_width : float
        Half-width of its 95 % interval as a part of it.
    back_end_per_host : float
    breakdown_ms : mapping of str to float
        Where the mean response went.
    n_requests : int
    method : str
        Engine or formula.
    rebuilt_bytes_per_s : float
        Rate of a rebuild that ran beside the workload; nan without one.
    burst_iops, sustained_iops : float
        Completed per second until a write-back cache was full, and from then on; nan where none was filled.
    """

    is_stable: bool
    iops: Figure
    bytes_per_s: Figure
    latency_ns: Mapping[str, Mapping[str, Figure]]
    utilization_ratio: float
    back_end_per_host: float = math.nan
    breakdown_ms: Mapping[str, float] = field(default_factory=dict)
    n_requests: int = 0
    method: str = ""
    utilization_half_width: float = 0.0
    rebuilt_bytes_per_s: float = math.nan
    burst_iops: float = math.nan
    sustained_iops: float = math.nan

    @property
    def utilization(self) -> Figure:
        """Utilisation with its interval."""
        half = self.utilization_ratio * self.utilization_half_width
        return Figure(self.utilization_ratio, self.utilization_ratio - half, self.utilization_ratio + half)

    def latency_ms(self, stream: str = "") -> dict[str, float | None]:
        """Latency by statistic in milliseconds; None where unknown."""
        values = self.latency_ns.get(stream, {})
        return {name: _or_none(figure.value / 1e6) for name, figure in values.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        intervals = {
            f"{name}_{end}_ms": _or_none(getattr(figure, end) / 1e6)
            for name, figure in self.latency_ns.get("", {}).items()
            for end in ("low", "high")
        }
        return {
            "stable": self.is_stable,
            "iops": _or_none(self.iops.value),
            "iops_low": _or_none(self.iops.low),
            "iops_high": _or_none(self.iops.high),
            "mb_s": _or_none(self.bytes_per_s.value / 1e6),
            "latency_ms": self.latency_ms(),
            "interval": intervals,
            "streams": {name: {"latency_ms": self.latency_ms(name)} for name in self.latency_ns if name},
            "utilization_ratio": _or_none(self.utilization_ratio),
            "back_end_per_host": _or_none(self.back_end_per_host),
            "burst_iops": _or_none(self.burst_iops),
            "sustained_iops": _or_none(self.sustained_iops),
            "breakdown_ms": dict(self.breakdown_ms),
            "requests": self.n_requests,
            "engine": self.method,
        }


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


class Evaluate(Protocol):
    """Evaluates an array under a workload with so many requests; the same input gives the same outcome."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Outcome of the evaluation."""
        ...
