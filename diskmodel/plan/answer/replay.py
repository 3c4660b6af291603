"""What replaying the recorded trace on an array found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class Replay(Record):
    """Performance of one array under the trace that a plan's workload was made from.

    The trace is one fixed sequence of requests, so its figures have no sampling interval and every request counts,
    the first ones too. Of several replays, each figure is the worst.

    Attributes
    ----------
    is_stable : bool
        False where the array falls ever further behind.
    latency_ns : mapping of stream name to mapping of statistic to float
        "" is all requests together, "reads" and "writes" are each operation; mean, p50, …, p999 in ns.
    iops : float
        Completed per second, from the first request to the last completion.
    utilization_ratio : float
        Mean of the working disks over the same time.
    n_requests : int
    speed_up : float
        Factor by which the trace was compressed in time: growth and peak of the objective.
    is_wrapped : bool
        Whether addresses beyond the end of the array were wrapped.
    n_runs : int
        Replays from different seeds: angles of the spindles, and draws of the array's own.
    """

    is_stable: bool
    latency_ns: Mapping[str, Mapping[str, float]]
    iops: float
    utilization_ratio: float
    n_requests: int
    speed_up: float = 1.0
    is_wrapped: bool = False
    n_runs: int = 1

    def or_worse(self, other: Replay) -> Replay:
        """Return both as one: of each figure, the worse."""
        return replace(
            self,
            is_stable=self.is_stable and other.is_stable,
            latency_ns={
                stream: {name: max(value, other.latency_ns[stream][name]) for name, value in figures.items()}
                for stream, figures in self.latency_ns.items()
            },
            iops=min(self.iops, other.iops),
            utilization_ratio=max(self.utilization_ratio, other.utilization_ratio),
            n_runs=self.n_runs + other.n_runs,
        )

    def latency_ms(self, stream: str = "") -> dict[str, float]:
        """Return the latency by statistic, ms."""
        return {name: value / 1e6 for name, value in self.latency_ns.get(stream, {}).items()}

    def json_fields(self) -> Mapping[str, Any]:
        """Return rates, and latencies in milliseconds."""
        return {
            "latency_ms": self.latency_ms(),
            "iops": self.iops,
            "stable": self.is_stable,
            "requests": self.n_requests,
            "runs": self.n_runs,
            "streams": {name: {"latency_ms": self.latency_ms(name)} for name in self.latency_ns if name},
            "utilization_ratio": self.utilization_ratio,
            "speed_up": self.speed_up,
            "wrapped": self.is_wrapped,
        }
