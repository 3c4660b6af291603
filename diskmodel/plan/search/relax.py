"""Which change to an array that falls short helps most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from diskmodel.drive import Hdd
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Relaxation
from diskmodel.plan.answer.criterion import Verdict
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.evaluation import Evaluate
from diskmodel.plan.search.trier import Trier


def relaxations(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> list[Relaxation]:
    """Return the changes that help the array just short of the objective, the most helpful first.

    The array is the one below the answer, or the nearest one where nothing was feasible. Tried are: more disks (where
    nothing was feasible), another level, a faster drive among the candidates, more cache, more hits. Changes that do
    not help with the limiting criterion are left out.
    """
    short = candidate.below or candidate.trial
    binding = candidate.binding
    if short is None or binding is None:
        return []
    found = []
    for change, case, disks in _changes(Case(plan, candidate.family), short.disks, is_feasible=candidate.is_feasible):
        try:
            case.array(disks)
        except DescriptionError:
            continue
        trial = Trier(case, evaluate, always_runs=True)(disks)
        after = next((c for c in trial.criteria if (c.name, c.detail) == (binding.name, binding.detail)), None)
        if after is None and binding.detail == "overloaded" and trial.outcome is not None and trial.outcome.is_stable:
            after = replace(binding, figure=trial.outcome.iops, verdict=Verdict.HOLDS)
        if after is not None and (trial.is_met or after.margin_ratio > binding.margin_ratio):
            gain = after.margin_ratio - binding.margin_ratio
            gain = gain if not math.isnan(gain) else 0.0
            found.append(Relaxation(change, disks, after, gain, trial.is_met))
    return sorted(found, key=lambda item: (not item.holds, -item.gain_ratio))


def _changes(case: Case, disks: int, *, is_feasible: bool) -> Iterator[tuple[str, Case, int]]:
    plan, family = case.plan, case.family
    wider = plan.model_copy(
        update={"candidates": plan.candidates.model_copy(update={"disks": None, "max_disks": disks + 8})}
    )
    more = next((n for n in Case(wider, family).counts if n > disks), None)
    if more is not None and not is_feasible:
        yield f"{more - disks} more disk{'s' if more - disks > 1 else ''}", case, more
    if family.level != "raid10":
        yield "RAID 10 instead", case.of(level="raid10", groups=1), disks
    for drive in plan.candidates.drives:
        if isinstance(drive, Hdd) and isinstance(family.drive, Hdd) and drive.rpm <= family.drive.rpm:
            continue
        if drive.name != family.drive.name and not (isinstance(drive, Hdd) and not isinstance(family.drive, Hdd)):
            yield f"{drive.name} drives", case.of(drive=drive), disks
    cache = plan.controller.read_cache
    if family.cache_bytes:
        yield "twice the cache", case.of(cache_bytes=2 * family.cache_bytes), disks
    elif cache is not None and cache.hit_ratio is not None and cache.hit_ratio <= 0.9:
        yield "10 % more of the reads hit the cache", Case(with_cache_hit(plan, cache.hit_ratio + 0.1), family), disks
    elif cache is None:
        yield "1 GiB of read cache", case.of(cache_bytes=1 << 30), disks


def with_cache_hit(plan: PlanDescription, hit_ratio: float) -> PlanDescription:
    """Return the plan with another stated hit ratio of the controller's read cache."""
    cache = plan.controller.read_cache
    assert cache is not None
    controller = plan.controller.model_copy(update={"read_cache": cache.model_copy(update={"hit_ratio": hit_ratio})})
    return plan.model_copy(update={"controller": controller})
