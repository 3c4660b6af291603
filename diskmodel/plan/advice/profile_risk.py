"""Trying the answer of a plan again with drives drawn from what the profile leaves open."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from diskmodel.drive.drawn import drawn, drawn_parameters
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.profile_risk import CONFIDENCE, ProfileRisk
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.trier import Trier
from diskmodel.result.prediction import combined
from diskmodel.result.statistics.batches import Interval

DRAWS = 16


def profile_risk(
    plan: PlanDescription, candidate: Candidate, evaluate: Evaluate, *, n_draws: int = DRAWS
) -> ProfileRisk | None:
    """Return the risk of an answer; None where the drive's profile is exact or nothing was simulated.

    Notes
    -----
    Costs at most `n_draws` + 1 evaluations of the plan's shortest length, or of one that sees whole rounds of a cache;
    all have the same requests.
    """
    drive, trial = candidate.family.drive, candidate.trial
    parameters = drawn_parameters(drive)
    if not parameters or trial is None or trial.outcome is None:
        return None
    case = Case(plan, candidate.family)

    def tried(trial_drive: Any, first: int) -> Trial:
        asked = plan.model_copy(update={"search": plan.search.model_copy(update={"requests": first})})
        changed = replace(case.of(drive=trial_drive), plan=asked)
        return Trier(changed, evaluate, always_runs=True, decides=False)(trial.disks)

    # as long as it takes to see whole rounds, and the draws as long as that
    same = tried(drive, plan.search.requests)
    reference = values_of(same.outcome) if same.outcome else {}
    length = same.outcome.n_requests if same.outcome else plan.search.requests
    with at_once(evaluate) as pool:
        others = list(pool.map(lambda item: tried(item, length), drawn(drive, n_draws, seed=plan.search.seed)))
    draws = [
        (values_of(found.outcome) if found.outcome else {}, [c.name for c in found.criteria if c.margin_ratio < 0])
        for found in others
    ]
    failing = Counter(name for _, missed in draws for name in dict.fromkeys(missed))
    own = intervals_of(trial.outcome)
    figures = {}
    for name, interval in own.items():
        if name in reference:
            wide = combined(interval, reference[name], [values.get(name, math.nan) for values, _ in draws], CONFIDENCE)
            figures[name] = Interval(wide.value, wide.low, wide.high)
    return ProfileRisk(
        disks=trial.disks,
        parameters=parameters,
        n_draws=len(draws),
        n_holding=sum(not missed for _, missed in draws),
        failing=dict(failing),
        figures=figures,
    )


def intervals_of(outcome: Outcome) -> dict[str, Interval]:
    """Return the IOPS and latencies of an outcome by name."""
    return {"iops": outcome.iops, **outcome.latency_ns.get("", {})}


def values_of(outcome: Outcome) -> dict[str, float]:
    """Return the same without intervals; nothing where the array is overloaded."""
    return {name: interval.value for name, interval in intervals_of(outcome).items()} if outcome.is_stable else {}
