"""Bursts so rare that a percentile of all requests allows them to be slow: the answer with them, and without."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Assumption
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.result.statistics import PERCENTILES, enough_cycles
from diskmodel.workload import rules_of

#: Longest run that is made for the other answer: some seconds of the kernel for each number of disks. At half, bursts
#: of 0.15 % of the requests mostly have none; at double, a plan may take half a minute for it.
MOST_REQUESTS = 2_000_000
#: Part of the requests beyond a percentile that rare bursts take at most: those that a burst leaves waiting are slow,
#: too. At 1 a run is made that mostly finds no fewer disks.
_LEAVES_ROOM = 0.5


def rare_bursts(plan: PlanDescription, best: Candidate, evaluate: Evaluate) -> list[Assumption]:
    """Return that limits apply within bursts, and the fewest disks whose percentiles of all requests meet them.

    Only where streams are simulated at their highest rates because a run sees too few of their bursts, and so few
    requests come in these that every limited percentile may leave them out. The other answer has the answer's drive
    and level as they are described, fewer disks, and runs that see enough bursts.
    """
    share = _share_in_bursts(plan)
    limits = [name for _, each in plan.objective.limited for name in each.limits()]
    levels = [PERCENTILES.get(name, 1.0) for name in limits]  # the mean has no room for a burst
    counts = [count for count in plan.candidates.counts if count < (best.disks or 0)]
    if not levels or not counts or plan.recording is not None or not 0 < share <= _LEAVES_ROOM * (1 - max(levels)):
        return []
    named = " and ".join(dict.fromkeys(limits))
    needed = max(enough_cycles(rule.cycle_requests) for rule in rules_of(plan.described_workload.streams))
    found = Assumption(
        assumed=f"the limit of {named} applies within bursts, in which {share:.2%} of the requests come",
        instead="to all requests together, with everything as described",
        disks=None,
        level="",
    )
    search = plan.search.model_copy(update={"max_requests_at_answer": needed})
    longer = plan.model_copy(update={"search": search})
    if longer.peaks:  # a burst of a minute is a load of its own
        return []
    if needed > MOST_REQUESTS:
        unknown = f"maybe fewer; a run must see {needed:,} requests for that (search.max_requests_at_answer)"
        return [replace(found, unknown=unknown)]
    candidates = plan.candidates.model_copy(update={"disks": tuple(counts)})
    other = search_family(Case(longer.model_copy(update={"candidates": candidates}), best.family), evaluate)
    if other.is_feasible:
        return [replace(found, disks=other.disks, level=other.level_in_words)]
    return [found] if other.is_decided else []


def _share_in_bursts(plan: PlanDescription) -> float:
    """Return the share of all requests that come in bursts of the streams that are simulated at their highest rates."""
    streams = plan.described_workload.streams
    rates = [stream.row_weight for stream in streams]
    in_bursts = [
        stream.arrival.peak_share * rate
        for stream, rate in zip(streams, rates, strict=True)
        if stream.name in plan.peaks
    ]
    return sum(in_bursts) / sum(rates)
