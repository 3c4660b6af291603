"""How the answer moves when an input is off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from diskmodel.drive import Drive, scalar_of, with_values
from diskmodel.errors import DescriptionError
from diskmodel.plan.advice.relax import with_cache_hit
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Sensitivity
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.workload import Workload

#: Standard errors to either side.
SIGMAS = 2.0


def sensitivity(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> list[Sensitivity]:
    """Return how the number of disks of a candidate's family moves when an input is 10 % off, largest swing first.

    Inputs: the load, the share of reads, cache hits where they are stated, the space required; the parameters of a
    calibrated drive by two standard errors, or the seek times of another one.
    """

    def moved(name: str, low: _Variant, high: _Variant) -> Sensitivity:
        answers = (search_family(case, evaluate).disks for _, case in (low, high))
        return Sensitivity(name, low[0], high[0], *answers)

    with at_once(evaluate) as pool:
        found = list(pool.map(moved, *zip(*_inputs(Case(plan, candidate.family)), strict=True)))
    infinite = 10**9
    return sorted(found, key=lambda s: -abs((s.disks_high or infinite) - (s.disks_low or infinite)))


#: What was changed, in words, and the case with it.
_Variant = tuple[str, Case]


def _inputs(case: Case) -> Iterator[tuple[str, _Variant, _Variant]]:
    plan, family, objective = case.plan, case.family, case.objective
    factors = (("-10 %", 0.9), ("+10 %", 1.1))

    def of_plan(**update: Any) -> Case:
        return replace(case, plan=plan.model_copy(update=update))

    def of_objective(**update: Any) -> Case:
        return of_plan(objective=objective.model_copy(update=update))

    if case.trace is not None:  # the peak scales the fitted workload and the replay alike
        low, high = ((t, of_objective(peak_factor=f * objective.peak_factor)) for t, f in factors)
    elif objective.iops is not None:
        low, high = ((t, of_objective(iops=f * objective.iops)) for t, f in factors)
    else:
        low, high = ((t, of_plan(workload=plan.workload.scaled(f))) for t, f in factors)
    yield "load", low, high
    ratios = [stream.read_ratio for stream in plan.workload.streams]
    if case.trace is None and any(0 < ratio < 1 for ratio in ratios):  # a trace has the mix that it has
        yield (
            "share of reads",
            ("-10 points", of_plan(workload=_with_read_shift(plan.workload, -0.1))),
            ("+10 points", of_plan(workload=_with_read_shift(plan.workload, 0.1))),
        )
    cache = plan.controller.read_cache
    if cache is not None and cache.hit_ratio is not None and not family.cache_bytes:
        shifted = [min(1.0, max(0.0, cache.hit_ratio + shift)) for shift in (-0.1, 0.1)]
        yield (
            "cache hits",
            ("-10 points", replace(case, plan=with_cache_hit(plan, shifted[0]))),
            ("+10 points", replace(case, plan=with_cache_hit(plan, shifted[1]))),
        )
    if family.drive.uncertainty is None and all(
        drives := [family.drive.deviating("other-seeks", f) for _, f in factors]
    ):
        low_s, high_s = ((t, case.of(drive=drive)) for (t, _), drive in zip(factors, drives, strict=True))
        yield "seek times", low_s, high_s
    yield from _measured_inputs(case)
    if objective.capacity_bytes:
        low_c, high_c = ((t, of_objective(capacity_bytes=int(f * objective.capacity_bytes))) for t, f in factors)
        yield "data to store", low_c, high_c


def _measured_inputs(case: Case) -> Iterator[tuple[str, _Variant, _Variant]]:
    for name, low, high in variants(case.family.drive):
        yield (
            f"{name} of the drive",
            ("-2 standard errors", case.of(drive=low)),
            ("+2 standard errors", case.of(drive=high)),
        )


def _with_read_shift(workload: Workload, shift: float) -> Workload:
    streams = tuple(
        stream.model_copy(update={"read_ratio": min(1.0, max(0.0, stream.read_ratio + shift))})
        if 0 < stream.read_ratio < 1
        else stream
        for stream in workload.streams
    )
    return workload.model_copy(update={"streams": streams})


def variants(drive: Drive) -> Iterator[tuple[str, Drive, Drive]]:
    """Yield each uncertain parameter of a calibrated profile, with the drive at two standard errors below and above.

    One parameter changes at a time; a parameter is left out where one of the two drives would be impossible.
    """
    if drive.uncertainty is None:
        return
    for index, name in enumerate(drive.uncertainty.names):
        error = math.sqrt(drive.uncertainty.covariance[index][index])
        try:
            yield name, _moved(drive, name, -SIGMAS * error), _moved(drive, name, SIGMAS * error)
        except (DescriptionError, KeyError, TypeError):
            continue


def _moved(drive: Drive, name: str, by: float) -> Drive:
    return with_values(drive, {name: scalar_of(drive, name) + by})
