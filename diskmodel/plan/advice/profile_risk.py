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
from diskmodel.result.statistics.registry import BY_NAME

DRAWS = 16
#: Requests of a run with a drawn drive. All runs have the same ones, so that most of what chance does to a figure is
#: the same in all of them: the ratio of two drives' p99 then varies by 1.7 % in 10,000 requests and by 1.2 % in 30,000,
#: and the drives themselves differ by 7 %. At half, chance is a third of that; at double, 16 draws cost more than an
#: answer does.
DRAWN_REQUESTS = 10_000


def profile_risk(
    plan: PlanDescription, candidate: Candidate, evaluate: Evaluate, *, n_draws: int = DRAWS
) -> ProfileRisk | None:
    """Return the risk of an answer; None where the drive's profile is exact or nothing was simulated.

    Notes
    -----
    Costs at most `n_draws` + 1 evaluations of 10,000 requests, or as many as it takes to see whole rounds of a cache;
    where more than that decides, of the plan's shortest length. All have the same requests, and only their ratios
    count: a figure of a drawn drive is that of the answer times the drawn drive's over the profile's own in these runs.
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
    first = plan.search.requests if _needs_intervals(case) else min(plan.search.requests, DRAWN_REQUESTS)
    same = tried(drive, first)
    reference = values_of(same.outcome) if same.outcome else {}
    length = same.outcome.n_requests if same.outcome else first
    with at_once(evaluate) as pool:
        others = list(pool.map(lambda item: tried(item, length), drawn(drive, n_draws, seed=plan.search.seed)))
    draws = [(values_of(found.outcome) if found.outcome else {}, _missed(found, same, trial)) for found in others]
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


def _needs_intervals(case: Case) -> bool:
    """Return whether short runs say too little: of 10,000 requests p99.9 is one of ten, and p99 has no interval.

    Failed disks, a limited rebuild, and replays of a trace are simulated only where intervals show that the rest of the
    objective is met.
    """
    objective = case.objective
    more = (objective.degraded, objective.rebuild_hours, objective.data_loss_per_year, case.trace)
    limited = [objective.latency, *objective.latency.streams.values()]
    is_far = any(BY_NAME[name].least_requests >= DRAWN_REQUESTS for item in limited for name in item.limits())
    return is_far or any(item is not None for item in more)


def _missed(drawn: Trial, same: Trial, answer: Trial) -> list[str]:
    """Return the names of the criteria that a drawn drive misses.

    A figure is the answer's times the drawn drive's over the profile's own, both of short runs with the same requests.
    """
    short, long = ({(c.name, c.detail): c.figure.value for c in trial.criteria} for trial in (same, answer))
    missed = []
    for item in drawn.criteria:
        key = (item.name, item.detail)
        factor = long.get(key, math.nan) / (short.get(key) or math.nan)
        if math.isfinite(factor) and factor > 0:
            item = replace(item, figure=item.figure.scaled(factor))
        if item.margin_ratio < 0:
            missed.append(item.name)
    return missed


def intervals_of(outcome: Outcome) -> dict[str, Interval]:
    """Return the IOPS and latencies of an outcome by name."""
    return {"iops": outcome.iops, **outcome.latency_ns.get("", {})}


def values_of(outcome: Outcome) -> dict[str, float]:
    """Return the same without intervals; nothing where the array is overloaded."""
    return {name: interval.value for name, interval in intervals_of(outcome).items()} if outcome.is_stable else {}
