"""One array compared with an objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diskmodel.plain import Record
from diskmodel.plan.answer.criterion import Criterion, Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.statics import Statics


@dataclass(frozen=True)
class Trial(Record):
    """One array compared with an objective.

    Attributes
    ----------
    disks : int
    criteria : tuple of Criterion
    outcome, degraded : Outcome or None
        None where the criteria without simulation had failed already.
    statics : Statics
    n_runs : int
        Simulations made.
    """

    disks: int
    criteria: tuple[Criterion, ...]
    outcome: Outcome | None
    degraded: Outcome | None
    statics: Statics
    n_runs: int

    @property
    def verdict(self) -> Verdict:
        """Of all criteria together."""
        return overall(self.criteria)

    @property
    def is_met(self) -> bool:
        """Whether every criterion is met with confidence; undecided counts as not met (the safe side)."""
        return self.verdict is Verdict.HOLDS

    def json_fields(self) -> Mapping[str, Any]:
        """Return the verdict, every criterion, and what was simulated."""
        data: dict[str, Any] = {"disks": self.disks, "verdict": self.verdict, "criteria": self.criteria}
        if self.outcome is not None:
            data |= self.outcome.to_dict()
        if self.degraded is not None:
            data["degraded"] = self.degraded
        return data
