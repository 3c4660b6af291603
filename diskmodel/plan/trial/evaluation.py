"""Evaluating an array: by simulation, or by the rule of thumb."""

from __future__ import annotations

from typing import Protocol

from diskmodel.array import Array
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.rule_of_thumb import (
    Counted,
)
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload


class Evaluate(Protocol):
    """Evaluates arrays; the same input gives the same outcome."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of `n_requests` requests of a workload on an array."""
        ...


def innermost(evaluate: Evaluate) -> Evaluate:
    """Return what evaluates in the end, within what counts outcomes or keeps them."""
    while (inner := getattr(evaluate, "evaluate", None)) is not None:
        evaluate = inner
    return evaluate


def evaluator(plan: PlanDescription) -> Evaluate:
    """Return what a plan asks to be evaluated with."""
    if plan.search.method == "rule":
        return Counted(plan.objective.design_iops)
    return Simulated(plan.search.engine)
