"""Trying the answer of a plan with its data spread over all of the array."""

from __future__ import annotations

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.spreading import Spreading
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.workload import Workload

#: Requests of the run at most. At half, a difference of 3 % of p99 is within its interval; the longest run of a plan
#: would take six times as long for a line of the answer.
MAX_REQUESTS = 40_000


def spreading(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> Spreading | None:
    """Return what spreading the data would cost; None where that makes no difference, or nothing was simulated.

    Parameters
    ----------
    plan : PlanDescription
    candidate : Candidate
        A feasible one.
    evaluate : Evaluate

    Notes
    -----
    Costs one run. Only hard disks move an arm.
    """
    trial, workload = candidate.trial, candidate.workload
    if plan.stored_bytes is None or not candidate.family.drive.has_arms or candidate.array is None:
        return None
    if trial is None or trial.outcome is None or workload is None or trial.outcome.method == "rule":
        return None
    n = min(trial.outcome.n_requests, MAX_REQUESTS)
    found = evaluate(candidate.array, _spread(workload, plan.stored_bytes), n_requests=n, seed=candidate.seed)
    limits = plan.objective.latency.limits()
    figure = "iops" if workload.queue_depth else next(iter(limits), "mean")
    stored, spread = (item.iops if figure == "iops" else item.latency_of(figure) for item in (trial.outcome, found))
    if stored is None or spread is None:
        return None
    result = Spreading(figure, stored, spread, found.is_stable)
    return result if result.is_material else None


def _spread(workload: Workload, stored_bytes: int) -> Workload:
    """Return the workload with the streams on the stored data moved to all of the array."""
    streams = tuple(
        stream.model_copy(update={"span_bytes": None, "span_ratio": 1.0})
        if stream.span_bytes == stored_bytes and not stream.offset_bytes and not stream.offset_ratio
        else stream
        for stream in workload.streams
    )
    return workload.model_copy(update={"streams": streams})
