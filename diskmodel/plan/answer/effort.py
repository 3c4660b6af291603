"""What an answer took: simulations and their requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class Effort(Record):
    """Simulations that were made for something.

    Attributes
    ----------
    n_runs : int
    n_requests : int
        Simulated in all of them together. What it takes to find the steady start of a run (rule Z1) is not counted:
        runs share it.
    processor_s : float
        Processor time of the threads that made them, their statistics and steady starts included. It is never the same
        twice, so it is neither compared nor in the JSON.
    """

    n_runs: int = 0
    n_requests: int = 0
    processor_s: float = field(default=0.0, compare=False)

    def __add__(self, other: Effort) -> Effort:
        """Return both together."""
        return Effort(
            self.n_runs + other.n_runs, self.n_requests + other.n_requests, self.processor_s + other.processor_s
        )

    def json_fields(self) -> Mapping[str, Any]:
        """Return both counts."""
        return {"runs": self.n_runs, "requests": self.n_requests}


#: What simulations were made for, with their effort.
Efforts = Mapping[str, Effort]


def together(efforts: Iterable[Efforts]) -> dict[str, Effort]:
    """Return the sum for each purpose that something was simulated for, in the order in which they first occur."""
    found: dict[str, Effort] = {}
    for each in efforts:
        for purpose, effort in each.items():
            if effort.n_runs:
                found[purpose] = found.get(purpose, Effort()) + effort
    return found


def effort_fields(efforts: Efforts) -> dict[str, Any]:
    """Return the sum and its parts for JSON."""
    return {**sum(efforts.values(), Effort()).to_dict(), "purposes": efforts}
