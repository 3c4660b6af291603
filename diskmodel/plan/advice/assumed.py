"""What a question left unsaid and the answer depends on: the other case, simulated."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.layout import Layout
from diskmodel.plan.advice.choice import choose
from diskmodel.plan.advice.fewest_confident import Chances
from diskmodel.plan.advice.profile_risk import FEW_DRAWS
from diskmodel.plan.advice.rare_bursts import rare_bursts
from diskmodel.plan.advice.relax import with_write_cache
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Assumption
from diskmodel.plan.answer.safety import USUAL_LOSS_PER_YEAR
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.family import Family
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.units import pretty_bytes

#: Share of writes from which a write cache can change an answer. At a tenth of that, too few requests wait for writes.
_LEAST_WRITES = 0.01


def assumptions(
    plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool = False
) -> list[Assumption]:
    """Return what was assumed because the question does not say it, with the answer of the opposite.

    `by_chance`: the other answer has the chance that the objective asks for, as the answer has.

    A write cache of the controller: with the answer's drive, every level of the plan, and fewer disks. The other way
    round nothing is assumed: a cache that is there was asked for. The drives' own write caches, and the records of a
    pool, with the answer's drive and level. That Linux md has no write-intent bitmap. And that limits apply within rare
    bursts.
    """
    cache = _cache(plan, best, evaluate, by_chance=by_chance)
    own = _drive_caches(plan, best, evaluate, by_chance=by_chance)
    records = _records(plan, best, evaluate, by_chance=by_chance)
    return [*cache, *own, *records, *_bitmap(plan, best), *rare_bursts(plan, best, evaluate)]


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
    if array.is_hardware or not array.layout.bitmap_by_default(array.usable_bytes):
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
    if Layout.of_level(best.family.level).is_cached_in_memory:  # no controller stands before a pool
        return []
    changed = _alike(with_write_cache(plan), best.family, disks=tuple(counts))
    other = _searched(changed, evaluate, by_chance=by_chance)
    return [
        Assumption(
            assumed="no write cache of the controller",
            instead="with 1 GiB, battery-backed",
            disks=None if other is None else other.disks,
            level="" if other is None else other.level_in_words,
        )
    ]


def _drive_caches(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    if best.disks is None or plan.drive_write_cache is not None or not _has_writes(plan):
        return []
    array = Case(plan, best.family).array(best.disks)
    if not array.has_disks_that_buffer or array.layout.disks == 1:
        return []
    is_on = array.has_drive_write_cache
    other_plan = plan.model_copy(update={"drive_write_cache": not is_on})
    changed = _alike(other_plan, best.family, levels=(best.family.level,))
    assumed = f"the drives' own write caches {'on' if is_on else 'off'}, {array.why_drive_write_cache}"
    instead = f"with --drive-write-cache {'off' if is_on else 'on'}"
    found = _where_it_counts(assumed, instead, best, changed, evaluate, by_chance=by_chance)
    return [replace(one, name="drive_write_cache") for one in found]


def _records(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    family = best.family
    if best.disks is None or family.record_bytes or plan.layout.record_bytes:
        return []
    array = Case(plan, family).array(best.disks)
    if not array.layout.record_bytes:
        return []
    record = array.layout.pool_record_bytes
    of_files = array.with_records_of_files().layout.pool_record_bytes
    changed = _alike(plan, family, levels=(family.level,), record_bytes=(of_files,))
    assumed = f"records of {pretty_bytes(record)}, as volumes of virtual machines have"
    instead = f"with those of files (--record-size {pretty_bytes(of_files).replace(' ', '')})"
    return _where_it_counts(assumed, instead, best, changed, evaluate, by_chance=by_chance)


def _where_it_counts(
    assumed: str, instead: str, best: Candidate, changed: PlanDescription, evaluate: Evaluate, *, by_chance: bool
) -> list[Assumption]:
    """Return an assumption with the answer of the changed question; none where that has as many disks."""
    other = _searched(changed, evaluate, by_chance=by_chance)
    if other is None:
        most = max(changed.candidates.counts)
        return [Assumption(assumed, instead, None, "", f"no number of disks up to {most} meets the objective")]
    if other.disks == best.disks:
        return []
    return [Assumption(assumed, instead, other.disks, other.level_in_words)]


def _alike(plan: PlanDescription, family: Family, **candidates: object) -> PlanDescription:
    """Return the question with candidates as this one, but for those that are given."""
    alike = {
        "drives": (family.drive,),
        "strip_bytes": (family.strip_bytes,),
        "cache_bytes": (family.cache_bytes,),
        "record_bytes": (family.record_bytes,) if family.record_bytes else (),
        "log_devices": (family.log_device,) if family.log_device else (),
        "special_devices": (family.special_device,) if family.special_device else (),
        "cache_devices": (family.cache_device,) if family.cache_device else (),
    }
    changed = plan.candidates.model_copy(update=alike | candidates)
    return plan.model_copy(update={"candidates": changed, "recording": None})


def _searched(changed: PlanDescription, evaluate: Evaluate, *, by_chance: bool) -> Candidate | None:
    """Return the best candidate of a changed question; None where none meets the objective."""
    chances = Chances(changed, evaluate, n_draws=FEW_DRAWS)
    # a chance that even the most disks have not takes two or three runs to see, and a search dozens
    asked = [case for case in cases(changed) if not (by_chance and chances.is_hopeless(case))]
    with at_once(evaluate) as pool:
        searched = pool.map(lambda case: search_family(case, evaluate, is_careful=False), asked)
        # the chance by formula is a lower bound: what exceeds the limit with it cannot be the answer
        limit = changed.objective.data_loss_per_year or USUAL_LOSS_PER_YEAR
        found = [item for item in searched if item.trial is None or item.trial.statics.loss_per_year <= limit]
    return chances.best(found) if by_chance else choose(changed, found)[0]
