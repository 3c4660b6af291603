"""Evaluation by simulation: an engine's result as the plan reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diskmodel.array import Array
from diskmodel.plan.outcome import Outcome
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Simulated:
    """Evaluates an array with an engine.

    Attributes
    ----------
    engine : "auto", "native" or "simpy"
    """

    engine: str = "auto"

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Outcome of one run of exactly `n_requests` requests."""
        from diskmodel.engine.simulate import simulate

        return outcome_of(simulate(array, workload, seed=seed, engine=self.engine, n_requests=n_requests))


def outcome_of(result: Any) -> Outcome:
    """What a plan needs of a simulation's result."""
    raise NotImplementedError(result)
