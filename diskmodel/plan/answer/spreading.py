"""What the best array does with its data spread over all of its space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result.statistics import Interval
from diskmodel.units import in_digits


@dataclass(frozen=True)
class Spreading(Record):
    """The figure that decides, with the data on the outer part of the disks and spread over all of them.

    Attributes
    ----------
    figure : str
        "iops" of a closed workload, or the statistic of the latency that is limited: "p99", "mean".
    stored, spread : Interval
        Requests per second, or ns.
    is_stable : bool
        Whether the array keeps up with the spread load.
    """

    figure: str
    stored: Interval
    spread: Interval
    is_stable: bool

    @property
    def is_material(self) -> bool:
        """Whether the difference is more than what the intervals leave open."""
        is_apart = self.spread.low > self.stored.high or self.spread.high < self.stored.low
        return is_apart or not self.is_stable

    def json_fields(self) -> Mapping[str, Any]:
        """Return both figures with the ends of their intervals, in milliseconds or requests per second."""
        unit, scale = ("", 1.0) if self.figure == "iops" else ("_ms", 1e-6)
        data: dict[str, Any] = {"figure": self.figure, "stable": self.is_stable}
        for name, interval in (("stored", self.stored), ("spread", self.spread)):
            data |= {f"{name}{unit}": interval.value * scale}
            data |= {f"{name}_{end}{unit}": getattr(interval, end) * scale for end in ("low", "high")}
        return data

    def __str__(self) -> str:
        if not self.is_stable:
            return "spread over all of its space, the best array would be overloaded"
        if self.figure == "iops":
            figures = f"would do {self.spread.value:,.0f} requests per second instead of {self.stored.value:,.0f}"
        else:
            spread_ms, stored_ms = self.spread.value / 1e6, self.stored.value / 1e6
            figures = f"would have {in_digits(spread_ms)} ms at {self.figure} instead of {in_digits(stored_ms)}"
        return f"spread over all of its space, the best array {figures}"
