"""What a plan answers of volumes of a cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import CloudVolume
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.volumes.prices import CloudPrices
from diskmodel.workload import Workload

#: Fewer volumes are the answer where they cost at most so much more than the cheapest: sizes are whole GiB.
AS_CHEAP = 1.005


@dataclass(frozen=True)
class VolumeCandidate(Record):
    """The cheapest so many volumes of one type.

    Attributes
    ----------
    type : str
        Name of the type.
    count : int
    feasible : bool
    binds : str
        What is missed at the most that can be provisioned; of a feasible one what less would miss.
    a_month : float
        Of all volumes, in the currency of the prices.
    array : Array
    utilization : float
        Of the busiest limit.
    latency_ms, latency_p90_ms : dict of str to float
        Mean and limited percentiles: typical values, and those of the bad one of ten.
    """

    type: str
    count: int
    feasible: bool
    binds: str
    a_month: float
    array: Array
    utilization: float
    latency_ms: Mapping[str, float]
    latency_p90_ms: Mapping[str, float]

    @property
    def volume(self) -> CloudVolume:
        """One of the volumes."""
        volume = self.array.drive
        assert isinstance(volume, CloudVolume)
        return volume

    @property
    def iops(self) -> float | None:
        """Operations a second that a volume keeps up; None without a limit."""
        limit = self.volume.ops_limit
        return None if limit is None else limit.per_s

    @property
    def throughput_bytes_per_s(self) -> float | None:
        """Bytes a second that a volume keeps up; None without a limit."""
        limit = self.volume.bytes_limit
        return None if limit is None else limit.per_s

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        return {
            **super().json_fields(),
            "capacity_bytes": self.volume.capacity_bytes,
            "iops": self.iops,
            "throughput_bytes_per_s": self.throughput_bytes_per_s,
        }


@dataclass(frozen=True)
class VolumePlan(Record):
    """The answer to a plan about volumes of a cloud.

    Attributes
    ----------
    workload : Workload
        As designed for.
    objective : Objective
    candidates : tuple of VolumeCandidate
        The cheapest that meets the objective first.
    asked : str
        The objective in words.
    prices : CloudPrices
    """

    workload: Workload
    objective: Objective
    candidates: tuple[VolumeCandidate, ...]
    asked: str
    prices: CloudPrices

    @property
    def best(self) -> VolumeCandidate | None:
        """The cheapest that meets the objective."""
        return next((one for one in self.candidates if one.feasible), None)

    @property
    def is_feasible(self) -> bool:
        """Whether any candidate meets the objective."""
        return self.best is not None

    def json_fields(self) -> Mapping[str, Any]:
        """Return what JSON has of it."""
        return {
            "best": self.best,
            "candidates": self.candidates,
            "workload": self.workload,
            "asked": self.asked,
            "currency": self.prices.currency,
            "prices_of": None if self.prices.date is None else self.prices.date.isoformat(),
        }
