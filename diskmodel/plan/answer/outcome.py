"""Performance of one array under one workload, with its uncertainty; from an engine, a formula or a test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result import COMMITS, Figure, InMilliseconds
from diskmodel.result.statistics import BY_NAME, Interval, enough_cycles, enough_for

#: The rate of what a workload does not have.
_NONE = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Outcome(Record, InMilliseconds):
    """Performance of one array under one workload: `mean`, `p50` … `p999` are figures in milliseconds.

    Attributes
    ----------
    is_stable : bool
    iops, bytes_per_s : Interval
        Completed per second.
    latency_ns : mapping of stream name to mapping of statistic to Interval
        "" is all requests together; statistics: mean, p50, …, p999. A statistic may be missing where the
        method does not model it. "commits" is that of all commits, where the workload has any and no stream has
        this name.
    commits_per_s : Interval
        Commits per second; nan where the workload has none.
    utilization_ratio : float
        Mean of the disks.
    utilization_half_width : float
        Half-width of its 95 % interval as a part of it; nan where unknown.
    busiest_ratio, busiest_half_width : float
        Utilization of the disk that has most, and the half-width of its interval as a part of it; nan where unknown.
    back_end_per_host : float
        Disk operations per host request.
    breakdown_ms : mapping of str to float
        Where the mean response time was spent.
    n_requests : int
    method : str
        Engine or formula.
    rebuilt_bytes_per_s : float
        Rate of a rebuild that ran beside the workload; nan without one.
    host_limit : str
        Which part of the host limits the rate, in a sentence; "" where none does.
    round_requests : int
        Requests of one round in which a cache is written back unevenly, where the run was too short to see enough of
        them (rules Z6 and Z10); 0: it saw enough.
    is_in_waves : bool
        Whether these are waves of the host's page cache.
    cycle_requests : int
        Requests in which the load goes through its ups and downs once, where the run was too short to see enough of
        them (rule Z11); 0: it saw enough.
    overflow_requests : int
        Length of a run that knows p99 where no burst filled the controller's write cache in this one, but some
        may (rule Z11); 0: it knows.
    is_settled : bool
        Whether the run reached a steady state.
    n_simulated : int
        Requests of all runs that it took; 0: as many as `n_requests`.
    most_written_bytes_per_s : float
        What the array writes to the disk that is written most; nan where unknown.
    burst_requests, burst_latency_ms : float
        Writes that a write-back cache absorbs above its stationary level, and the latency of each; nan without one.
    is_cut : bool
        Whether the run was made shorter than asked, because so many requests would take too long.
    is_brief : bool
        Whether its last requests took longer than all came in, or few of them ever longer: that such a load lasts
        cannot be seen in it.
    said : str
        What an engine of its own says of the run, in sentences.
    mean_read_ns, mean_write_ns : float
        Mean latency of reads and of writes; nan where there are none, or where it is unknown.
    slow_write_ratio : float
        Part of the slowest requests that were writes; nan where unknown.
    """

    is_stable: bool
    iops: Interval
    bytes_per_s: Interval
    latency_ns: Mapping[str, Mapping[str, Interval]]
    utilization_ratio: float
    back_end_per_host: float = math.nan
    breakdown_ms: Mapping[str, float] = field(default_factory=dict)
    n_requests: int = 0
    method: str = ""
    utilization_half_width: float = 0.0
    busiest_ratio: float = math.nan
    busiest_half_width: float = math.nan
    rebuilt_bytes_per_s: float = math.nan
    most_written_bytes_per_s: float = math.nan
    burst_requests: float = math.nan
    burst_latency_ms: float = math.nan
    host_limit: str = ""
    round_requests: int = 0
    is_in_waves: bool = False
    cycle_requests: int = 0
    overflow_requests: int = 0
    is_settled: bool = True
    n_simulated: int = 0
    mean_read_ns: float = math.nan
    mean_write_ns: float = math.nan
    slow_write_ratio: float = math.nan
    commits_per_s: Interval = _NONE
    is_cut: bool = False
    is_brief: bool = False
    said: str = ""

    @property
    def is_partial(self) -> bool:
        """Whether the run saw too little of a cycle to say anything about the long run."""
        return self.enough_requests > 0

    @property
    def enough_requests(self) -> int:
        """Length of a run that sees enough of what this one saw too little of; 0: it saw enough."""
        return max(enough_for(self.round_requests), enough_cycles(self.cycle_requests))

    @property
    def utilization(self) -> Interval:
        """Utilization with its interval."""
        half = self.utilization_ratio * self.utilization_half_width
        return Interval(self.utilization_ratio, self.utilization_ratio - half, self.utilization_ratio + half)

    @property
    def busiest(self) -> Interval:
        """Utilization of the busiest disk with its interval."""
        half = self.busiest_ratio * self.busiest_half_width
        return Interval(self.busiest_ratio, self.busiest_ratio - half, self.busiest_ratio + half)

    def figure(self, name: str) -> Figure:
        """Return "iops" (IOPS), "mean" or a percentile ("p99"; ms) with its interval; nan where unknown."""
        if name == "iops":
            return Figure.of(self.iops, "IOPS")
        found = self.latency_of(name)
        return Figure.of(_NONE if found is None else found, "ms", 1e6)

    def __repr__(self) -> str:
        if not self.is_stable:
            return "<Outcome: overloaded>"
        return f"<Outcome: {', '.join(self.figure(name).format(with_interval=False) for name in ('iops', 'p99'))} p99>"

    def latency_of(self, statistic: str, stream: str = "") -> Interval | None:
        """Return a statistic of the latency in ns; None where it is unknown."""
        return self.latency_ns.get(stream, {}).get(statistic)

    def latency_ms(self, stream: str = "") -> dict[str, float]:
        """Return the latency by statistic, ms."""
        return {name: interval.value / 1e6 for name, interval in self.latency_ns.get(stream, {}).items()}

    def json_fields(self) -> Mapping[str, Any]:
        """Return rates, latencies in milliseconds and the ends of their intervals."""
        return {
            "stable": self.is_stable,
            "settled": self.is_settled,
            "iops": self.iops.value,
            "iops_low": self.iops.low,
            "iops_high": self.iops.high,
            "mb_s": self.bytes_per_s.value / 1e6,
            "commits_per_s": self.commits_per_s.value,
            "commit_latency_ms": self.latency_ms(COMMITS) or None,
            "latency_ms": self.latency_ms(),
            "interval": {
                f"{name}_{end}_ms": getattr(interval, end) / 1e6
                for name, interval in self.latency_ns.get("", {}).items()
                for end in ("low", "high")
            },
            "mean_read_ms": self.mean_read_ns / 1e6,
            "mean_write_ms": self.mean_write_ns / 1e6,
            "streams": {name: {"latency_ms": self.latency_ms(name)} for name in self.latency_ns if name},
            "utilization_ratio": self.utilization_ratio,
            "busiest_utilization_ratio": self.busiest_ratio,
            "back_end_per_host": self.back_end_per_host,
            "most_written_mb_s": self.most_written_bytes_per_s / 1e6,
            "burst_requests": self.burst_requests,
            "burst_latency_ms": self.burst_latency_ms,
            "host_limit": self.host_limit or None,
            "breakdown_ms": self.breakdown_ms,
            "requests": self.n_requests,
            "cut": self.is_cut,
            "engine": self.method,
        }


#: A 99th percentile takes so many for an interval: a longer run that was to be longer still is no news.
_ENOUGH_REQUESTS = 25_000


def cut_words(outcomes: Iterable[Outcome | None]) -> str:
    """Return that runs are too short for their figures, and how long the shortest is; "" where none is."""
    runs = [outcome for outcome in outcomes if outcome is not None and outcome.is_cut]
    cut = [outcome.n_requests for outcome in runs if outcome.n_requests < _ENOUGH_REQUESTS]
    if not cut:
        return ""
    return (
        f"some runs have as few as {min(cut):,} requests, because more would take longer than a question may; their "
        "intervals are wide, or not known"
    )


def figures_of(outcome: Outcome | None) -> dict[str, float]:
    """Return iops, mean_ms, p50_ms, …, p999_ms and utilization; nan where unknown, and latencies of an overload."""
    latency = outcome.latency_ms() if outcome is not None and outcome.is_stable else {}
    return {
        "iops": math.nan if outcome is None else outcome.iops.value,
        **{f"{name}_ms": latency.get(name, math.nan) for name in BY_NAME},
        "utilization": math.nan if outcome is None else outcome.utilization_ratio,
    }
