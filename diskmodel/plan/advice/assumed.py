"""What a question left unsaid and the answer depends on: the other case, simulated."""

from __future__ import annotations

from diskmodel.layout.assumed import with_bitmap
from diskmodel.layout.levels import KINDS
from diskmodel.plan.advice.choice import choose
from diskmodel.plan.advice.fewest_assured import Chances
from diskmodel.plan.advice.profile_risk import FEW_DRAWS
from diskmodel.plan.advice.rare_bursts import rare_bursts
from diskmodel.plan.advice.relax import with_write_cache
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Assumption
from diskmodel.plan.answer.safety import USUAL_LOSS_PER_YEAR
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate

#: Share of writes from which a write cache can change an answer. At a tenth of that, too few requests wait for writes.
_LEAST_WRITES = 0.01


def assumptions(
    plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool = False
) -> list[Assumption]:
    """Return what was assumed because the question does not say it, with the answer of the opposite.

    `by_chance`: the other answer has the chance that the objective asks for, as the answer has.

    A write cache of the controller: with the answer's drive, every level of the plan, and fewer disks. The other way
    round nothing is assumed: a cache that is there was asked for. That Linux md has no write-intent bitmap. And that
    limits apply within rare bursts.
    """
    cache = _cache(plan, best, evaluate, by_chance=by_chance)
    return [*cache, *_bitmap(plan, best), *rare_bursts(plan, best, evaluate)]


def _has_writes(plan: PlanDescription) -> bool:
    streams = plan.workload.streams
    writes = sum(stream.row_weight * stream.write_ratio for stream in streams)
    return writes >= _LEAST_WRITES * sum(stream.row_weight for stream in streams)


def _bitmap(plan: PlanDescription, best: Candidate) -> list[Assumption]:
    """Return that the answer has no bitmap, where it is an array of Linux md that `mdadm` makes one for.

    Another search would be needed for the answer with one, which has up to twice as many disks.
    """
    if best.disks is None or not _has_writes(plan) or plan.controller.linux_md:
        return []
    array = Case(plan, best.family).array(best.disks)
    if array.is_hardware or not with_bitmap(array.layout, array.usable_bytes):
        return []
    return [
        Assumption(
            assumed="Linux md on an HBA, no write-intent bitmap",
            instead="with mdadm's",
            disks=None,
            level="",
            unknown="--controller linux-md",
        )
    ]


def _cache(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    counts = [count for count in plan.candidates.counts if count < (best.disks or 0)]
    if plan.controller.write_cache is not None or not _has_writes(plan) or not counts:
        return []
    family = best.family
    if KINDS[family.level].is_pool:  # no controller stands before a pool
        return []
    alike = {
        "drives": (family.drive,),
        "strip_bytes": (family.strip_bytes,),
        "cache_bytes": (family.cache_bytes,),
        "record_bytes": (family.record_bytes,) if family.record_bytes else (),
        "log_devices": (family.log_device,) if family.log_device else (),
        "special_devices": (family.special_device,) if family.special_device else (),
        "cache_devices": (family.cache_device,) if family.cache_device else (),
        "disks": tuple(counts),
    }
    candidates = plan.candidates.model_copy(update=alike)
    changed = with_write_cache(plan).model_copy(update={"candidates": candidates, "recording": None})
    chances = Chances(changed, evaluate, n_draws=FEW_DRAWS)
    # a chance that even the most disks have not takes two or three runs to see, and a search dozens
    asked = [case for case in cases(changed) if not (by_chance and chances.is_hopeless(case))]
    with at_once(evaluate) as pool:
        searched = pool.map(lambda case: search_family(case, evaluate, is_careful=False), asked)
        # the chance by formula is a lower bound: what exceeds the limit with it cannot be the answer
        limit = plan.objective.data_loss_per_year or USUAL_LOSS_PER_YEAR
        found = [item for item in searched if item.trial is None or item.trial.statics.loss_per_year <= limit]
    other = chances.best(found) if by_chance else choose(changed, found)[0]
    return [
        Assumption(
            assumed="no write cache of the controller",
            instead="with 1 GiB, battery-backed",
            disks=None if other is None else other.disks,
            level="" if other is None else other.level_in_words,
        )
    ]
