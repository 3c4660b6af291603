"""What an array has to achieve, as the user writes it. Every part is optional; give what matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, create_model, model_validator

from diskmodel.description import Description, Reader
from diskmodel.result import COMMITS
from diskmodel.result.statistics import STATISTICS
from diskmodel.units import Bytes, BytesPerSecond, Nanoseconds, PerSecond, Ratio, parse


def _share(value: object) -> object:
    if isinstance(value, str):
        return float(parse(value, {"%": 1, "": 100})) / 100
    return value


#: A change per year: "25 %" or 0.25; may be negative.
Growth = Annotated[float, BeforeValidator(_share), Field(ge=-0.9, le=10)]
#: A small probability: "0.01 %" or 1e-4.
Probability = Annotated[float, BeforeValidator(_share), Field(gt=0, le=1)]


#: A limit that an array can meet: none answers in no time.
_Limit = Annotated[Nanoseconds, Field(gt=0)]


if TYPE_CHECKING:  # a test compares these fields with `STATISTICS`

    class _LimitOfEach(Description):
        mean_ns: _Limit | None = None
        p50_ns: _Limit | None = None
        p95_ns: _Limit | None = None
        p99_ns: _Limit | None = None
        p999_ns: _Limit | None = None

else:
    _LimitOfEach = create_model(
        "_LimitOfEach",
        __base__=Description,
        __module__=__name__,
        **{f"{one.name}_ns": (_Limit | None, None) for one in STATISTICS},
    )


class LatencyLimits(_LimitOfEach):
    """Largest allowed response times; in a file `p99 = "20 ms"`.

    Attributes
    ----------
    mean_ns, p50_ns, p95_ns, p99_ns, p999_ns : int or None
    """

    def limits(self) -> dict[str, int]:
        """Given limits by statistic, ns."""
        given = {one.name: getattr(self, f"{one.name}_ns") for one in STATISTICS}
        return {name: limit for name, limit in given.items() if limit is not None}


class LatencyObjective(LatencyLimits):
    """Limits for all requests together, and for single streams by name.

    Attributes
    ----------
    streams : dict of str to LatencyLimits
        By the name of a stream, or of a volume for all its streams together.
    """

    streams: dict[str, LatencyLimits] = Field(default_factory=dict)


#: Limits and the stream that they are about; "" for all requests.
Limited = tuple[str, LatencyLimits]


class Degraded(Description):
    """What has to hold while disks are missing.

    Attributes
    ----------
    failures : int
        Disks missing: the first ones, of one group.
    load_ratio : float
        Share of the normal load that has to be carried meanwhile.
    latency : LatencyObjective
    commit_latency : LatencyLimits
    utilization_ceiling_ratio : float or None
    """

    failures: int = Field(default=1, ge=1, le=8)
    load_ratio: Ratio = Field(default=1.0, gt=0)
    latency: LatencyObjective = LatencyObjective()
    commit_latency: LatencyLimits = LatencyLimits()
    utilization_ceiling_ratio: Ratio | None = None

    @property
    def limited(self) -> list[Limited]:
        """Everything whose latency is limited, commits last."""
        return _limited(self.latency, self.commit_latency)


def _limited(latency: LatencyObjective, commits: LatencyLimits) -> list[Limited]:
    found = [("", latency), *latency.streams.items(), (COMMITS, commits)]
    return [(name, limits) for name, limits in found if limits.limits()]


class Objective(Description):
    """What an array has to achieve; any subset.

    Attributes
    ----------
    iops : float or None, per second
        Host requests per second today. An open workload is scaled to offer this rate, and holds it when it is
        stable; a closed one has to achieve it with the clients that it has. Beside `commits_per_s`, of the streams
        without a sync.
    commits_per_s : float or None, per second
        Commits per second today: records of a log, and writes that a sync follows. In a file `commits = "500/s"`.
    throughput_bytes_per_s : float or None
        Bytes per second today, both directions together.
    growth_ratio : float
        Growth of load per year: 0.25 is 25 % a year, compound.
    years : float
        How long the array has to last.
    peak_factor : float
        Busiest season over the average one.
    capacity_bytes : int or None
        Data to be stored today.
    capacity_growth_ratio : float
        Growth of the data per year.
    fill_limit_ratio : float
        Largest allowed share of the usable space that is filled.
    formatting_ratio : float
        Share of the usable space that the file system takes.
    latency : LatencyObjective
    commit_latency : LatencyLimits
        Of commits, from the call to the end of the flush.
    utilization_ceiling_ratio : float or None
        Largest mean utilization of the disks.
    degraded : Degraded or None
    rebuild_hours : float or None
        Longest allowed rebuild of one disk under the load.
    data_loss_per_year : float or None
        Largest allowed probability of losing data within a year.
    replacement_hours : float
        From a failure to the start of the rebuild where there is no hot spare.
    busy_hours : float
        Of each day, in which the load runs at one stretch; in the rest the disks are idle and a rebuild goes on alone.
    cost_usd : float or None
    rack_units : int or None
    confidence : float
        Chance that an array shall have to meet all of it, in view of what is not known of drives, controller and host.
    """

    iops: PerSecond | None = None
    throughput_bytes_per_s: BytesPerSecond | None = None
    commits_per_s: PerSecond | None = Field(default=None, gt=0)
    growth_ratio: Growth = 0.0
    years: float = Field(default=0.0, ge=0, le=30)
    peak_factor: float = Field(default=1.0, ge=1, le=1000)
    capacity_bytes: Bytes | None = Field(default=None, gt=0)
    capacity_growth_ratio: Growth = 0.0
    fill_limit_ratio: Ratio = Field(default=1.0, gt=0)
    formatting_ratio: Ratio = Field(default=0.0, lt=1)
    latency: LatencyObjective = LatencyObjective()
    commit_latency: LatencyLimits = LatencyLimits()
    utilization_ceiling_ratio: Ratio | None = Field(default=None, gt=0)
    degraded: Degraded | None = None
    rebuild_hours: float | None = Field(default=None, gt=0)
    data_loss_per_year: Probability | None = None
    replacement_hours: float = Field(default=24.0, ge=0)
    busy_hours: float = Field(default=24.0, gt=0, le=24)
    cost_usd: float | None = Field(default=None, gt=0)
    rack_units: int | None = Field(default=None, ge=1)
    confidence: Ratio = Field(default=0.9, gt=0, lt=1)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        asked = (
            self.iops,
            self.throughput_bytes_per_s,
            self.commits_per_s,
            self.capacity_bytes,
            self.utilization_ceiling_ratio,
            self.degraded,
            self.rebuild_hours,
            self.data_loss_per_year,
            self.cost_usd,
            self.rack_units,
        )
        if all(item is None for item in asked) and not self.latency.streams and not self.limited:
            raise ValueError("asks for nothing; give for example iops, latency or capacity")
        return self

    @property
    def limited(self) -> list[Limited]:
        """Everything whose latency is limited, commits last."""
        return _limited(self.latency, self.commit_latency)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which other field of a plan reads a field."""

        def has_capacity(plan: Any) -> bool:
            return plan.objective.capacity_bytes is not None

        return {
            "years": Reader(
                "with growth or capacity_growth",
                lambda plan: bool(plan.objective.growth_ratio or plan.objective.capacity_growth_ratio),
            ),
            "growth_ratio": Reader("with years", lambda plan: plan.objective.years > 0),
            "capacity_growth_ratio": Reader(
                "with years and a capacity", lambda plan: plan.objective.years > 0 and has_capacity(plan)
            ),
            "fill_limit_ratio": Reader("with a capacity", has_capacity),
            "formatting_ratio": Reader("with a capacity", has_capacity),
            "busy_hours": Reader("levels with redundancy", lambda plan: plan.is_redundant),
        }

    @property
    def design_commits_per_s(self) -> float | None:
        """Commits per second to be designed for."""
        return None if self.commits_per_s is None else self.commits_per_s * self.load_factor

    @property
    def load_factor(self) -> float:
        """Load to be designed for over today's: (1 + growth)^years · peak."""
        return float((1 + self.growth_ratio) ** self.years * self.peak_factor)

    @property
    def design_iops(self) -> float | None:
        """Host requests per second to be designed for."""
        return None if self.iops is None else self.iops * self.load_factor

    @property
    def design_throughput_bytes_per_s(self) -> float | None:
        """Bytes per second to be designed for."""
        return None if self.throughput_bytes_per_s is None else self.throughput_bytes_per_s * self.load_factor

    def used_ratio(self, usable_bytes: int) -> float | None:
        """Return how full so much space is with the data at the end of the years; None where none is asked for."""
        needed = self.usable_bytes
        return None if needed is None else min(needed * self.fill_limit_ratio / max(usable_bytes, 1), 1.0)

    @property
    def usable_bytes(self) -> int | None:
        """Usable space that is needed at the end of the years, formatting and fill limit counted."""
        if self.capacity_bytes is None:
            return None
        data = self.capacity_bytes * (1 + self.capacity_growth_ratio) ** self.years
        return int(data / self.fill_limit_ratio / (1 - self.formatting_ratio))
