"""One array on the front of cost against latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.question.family import Family


@dataclass(frozen=True)
class ParetoPoint(Record):
    """An array that meets the objective.

    Attributes
    ----------
    family : Family
    disks : int
    price : float
        Cost in USD where it is known, else the number of disks.
    is_cost : bool
        Whether `price` is a cost.
    latency_ms : float
        p99 of all requests.
    """

    family: Family
    disks: int
    price: float
    is_cost: bool
    latency_ms: float

    def json_fields(self) -> Mapping[str, Any]:
        """Return the family, the number of disks, the cost and the p99 latency."""
        return {
            **self.family.to_dict(),
            "disks": self.disks,
            "cost_usd": self.price if self.is_cost else None,
            "p99_ms": self.latency_ms,
        }
