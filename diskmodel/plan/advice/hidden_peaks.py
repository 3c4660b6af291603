"""How the answer moves with bursts that a recording of averages cannot show."""

from __future__ import annotations

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import HiddenPeak
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate

#: Peak rates over the mean of an interval that are tried. Ten-minute averages of file servers and databases hide peaks
#: of about this size; each value costs a search.
PEAKS_TO_MEAN = (2.0, 4.0)


def hidden_peaks(plan: PlanDescription, best: Candidate, evaluate: Evaluate) -> list[HiddenPeak]:
    """Return the fewest disks of the best family when requests crowd within the intervals of a recording.

    Notes
    -----
    All requests of an interval are taken to arrive in 1/k of it, at random and at k times the mean rate, and the peak
    is taken to last longer than the array needs to settle. So the latency is that of a steady load at the peak rate:
    the most that peaks of this height can cost. A ceiling for the mean utilization does not change with the peaks.
    """
    recording, disks = plan.recording, best.disks
    if recording is None or recording.kind != "averages" or plan.search.method == "rule" or disks is None:
        return []
    counts = tuple(n for n in Case(plan, best.family).counts if n >= disks)
    candidates = plan.candidates.model_copy(update={"disks": counts})
    objective = plan.objective
    degraded = objective.degraded
    changed = {
        "utilization_ceiling_ratio": None,
        "degraded": degraded and degraded.model_copy(update={"utilization_ceiling_ratio": None}),
    }

    def searched(factor: float) -> HiddenPeak:
        peak = objective.model_copy(update={**changed, "peak_factor": objective.peak_factor * factor})
        asked = plan.model_copy(update={"objective": peak, "candidates": candidates})
        return HiddenPeak(factor, search_family(Case(asked, best.family), evaluate).disks, counts[-1])

    with at_once(evaluate) as pool:
        return list(pool.map(searched, PEAKS_TO_MEAN))
