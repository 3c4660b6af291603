"""One array compared with an objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.criterion import Criterion, Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.replay import Replay
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
    seed : int
        Of the simulations.
    replay, degraded_replay : Replay or None
        Of the trace behind the workload; None where there is none, or where another criterion had failed already.
    """

    disks: int
    criteria: tuple[Criterion, ...]
    outcome: Outcome | None
    degraded: Outcome | None
    statics: Statics
    n_runs: int
    seed: int
    replay: Replay | None = None
    degraded_replay: Replay | None = None

    @property
    def verdict(self) -> Verdict:
        """Of all criteria together."""
        return overall(self.criteria)

    @property
    def is_met(self) -> bool:
        """Whether every criterion is met with confidence; undecided counts as not met (the safe side)."""
        return self.verdict is Verdict.HOLDS

    @property
    def fails_only_in_replay(self) -> bool:
        """Whether the array meets the objective under the fitted workload and misses it under the trace itself."""
        return self.replay is not None and not self.is_met

    def json_fields(self) -> Mapping[str, Any]:
        """Return the verdict, every criterion, and what was simulated."""
        data: dict[str, Any] = {"disks": self.disks, "verdict": self.verdict, "criteria": self.criteria}
        if self.outcome is not None:
            data |= self.outcome.to_dict()
        if self.degraded is not None:
            data["degraded"] = self.degraded
        if self.replay is not None:
            data["replay"] = self.replay
        if self.degraded_replay is not None:
            data["degraded_replay"] = self.degraded_replay
        return data
