"""Serving a load beside a rebuild."""

from __future__ import annotations

import math

from diskmodel.array import Array
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.workload import Workload


def beside_rebuild(
    evaluate: Evaluate, array: Array, workload: Workload, *, n_requests: int, seed: int
) -> tuple[Outcome, Outcome]:
    """Return the outcome half-way through a rebuild, and at its beginning where requests wait longer there.

    Parameters
    ----------
    evaluate : Evaluate
    array : Array
        Half-way through the rebuild.
    workload : Workload
    n_requests, seed : int
        Of each run.

    Returns
    -------
    (Outcome, Outcome)
        The first has about the mean rate of the whole rebuild, the second the longer latency. Where data fill the outer
        part of the disks, this part is rebuilt half-way through; at the beginning each read of the missing disk takes
        one of all others. Half-way, arms move between the data and the rebuild.
    """
    halfway = evaluate(array, workload, n_requests=n_requests, seed=seed)
    layout = array.layout
    assert layout.rebuild is not None
    begun = layout.model_copy(update={"rebuild": layout.rebuild.model_copy(update={"done_ratio": 0.0})})
    beginning = evaluate(array.model_copy(update={"layout": begun}), workload, n_requests=n_requests, seed=seed)
    return halfway, max(halfway, beginning, key=_wait_ns)


def _wait_ns(outcome: Outcome) -> float:
    """The p99 latency, or the mean where there is none; infinite of an overload."""
    figures = (outcome.latency_of("p99"), outcome.latency_of("mean"))
    known = next((item.value for item in figures if item is not None and not math.isnan(item.value)), math.inf)
    return known if outcome.is_stable else math.inf
