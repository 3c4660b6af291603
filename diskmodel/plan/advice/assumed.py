"""What a question left unsaid and the answer depends on: the other case, simulated."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from diskmodel.engine.ledger import current
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

#: Share of an array above which data that lie in one piece are about everywhere: seeks are a tenth shorter there.
_MOST_OF_AN_ARRAY = 0.8
#: Share of writes from which a write cache can change an answer. At a tenth of that, too few requests wait for writes.
_LEAST_WRITES = 0.01


def assumptions(
    plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool = False
) -> list[Assumption]:
    """Return what was assumed because the question does not say it, with the answer of the opposite.

    `by_chance`: the other answer has the chance that the objective asks for, as the answer has.

    A write cache of the controller: with the answer's drive, every level of the plan, and fewer disks. The other way
    round nothing is assumed: a cache that is there was asked for. The drives' own write caches, and the records of a
    pool, with the answer's drive and level. That Linux md has no write-intent bitmap. That the data lie together on the
    outer part of the disks. And that limits apply within rare bursts. What takes more disks is first.
    """
    outer = _outer_part(plan, best, evaluate, by_chance=by_chance)
    bitmap = _bitmap(plan, best, evaluate, by_chance=by_chance)
    cache = _cache(plan, best, evaluate, by_chance=by_chance)
    own = _drive_caches(plan, best, evaluate, by_chance=by_chance)
    records = _records(plan, best, evaluate, by_chance=by_chance)
    found = [*outer, *cache, *own, *records, *bitmap, *rare_bursts(plan, best, evaluate)]
    return sorted(found, key=lambda one: not one.needs_more)


def _has_writes(plan: PlanDescription) -> bool:
    streams = plan.workload.streams
    writes = sum(stream.row_weight * stream.write_ratio for stream in streams)
    return writes >= _LEAST_WRITES * sum(stream.row_weight for stream in streams)


def _bitmap(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    """Return the answer with the bitmap that `mdadm` makes, where the answer is an array of Linux md without one."""
    if best.disks is None or not _has_writes(plan) or not Case(plan, best.family).array(best.disks).lacks_usual_bitmap:
        return []
    controller = plan.controller.model_copy(update={"linux_md": True})
    with_bitmap = plan.model_copy(update={"controller": controller})
    changed = _alike(with_bitmap, best.family, levels=(best.family.level,), disks=(best.disks,))
    # how many disks do is another search, of arrays that cost several times as much to simulate: it is not made
    assumed, instead = "Linux md on an HBA, no write-intent bitmap", "with mdadm's (--controller linux-md)"
    return _where_it_fails(assumed, instead, "that option", changed, evaluate, by_chance=by_chance)


def _outer_part(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    """Return what the answer's disks do with the data all over them, where that does not meet the objective.

    A volume, or a partition, lies in one piece. File systems that fill an array spread their files over all of it, ext4
    by its groups of blocks and XFS by its allocation groups; OpenZFS prefers the outer tracks.
    """
    stored, array = plan.stored_bytes, best.array
    if stored is None or best.disks is None or array is None or not array.drive.has_arms:
        return []
    ratio = stored / array.usable_bytes
    if ratio > _MOST_OF_AN_ARRAY or array.layout.is_cached_in_memory:
        return []
    spread = plan.model_copy(update={"workload": plan.workload.model_copy(update={"span_ratio": 1.0})})
    changed = _alike(spread, best.family, levels=(best.family.level,), disks=(best.disks,))
    assumed = f"the data in one piece, on the outer {100 * ratio:.2g} % of the disks"
    instead = "spread over all of them, as a file system of the whole array may do it (--span 100%)"
    return _where_it_fails(assumed, instead, "--span 100%", changed, evaluate, by_chance=by_chance)


def _where_it_fails(
    assumed: str, instead: str, option: str, changed: PlanDescription, evaluate: Evaluate, *, by_chance: bool
) -> list[Assumption]:
    """Return an assumption where the same disks do not meet the changed question; how many do is not looked for."""
    (case,) = cases(changed)
    found = search_family(case, evaluate, is_careful=False)
    if not found.is_feasible:
        why = "" if found.binding is None else found.binding.in_short()
        other = f"these disks do not meet the objective: {why}" if found.is_decided else _undecided(option)
    elif by_chance and Chances(changed, evaluate, n_draws=FEW_DRAWS).best([found]) is None:
        other = "these disks have not the chance that the objective asks for"
    else:
        return []
    return [Assumption(assumed, instead, None, "", other, needs_more=found.is_decided or found.is_feasible)]


def _cache(plan: PlanDescription, best: Candidate, evaluate: Evaluate, *, by_chance: bool) -> list[Assumption]:
    counts = [count for count in plan.candidates.counts if count < (best.disks or 0)]
    if plan.controller.write_cache is not None or not _has_writes(plan) or not counts:
        return []
    if Layout.of_level(best.family.level).is_cached_in_memory:  # no controller stands before a pool
        return []
    changed = _alike(with_write_cache(plan), best.family, disks=tuple(counts))
    other, is_decided = _searched(changed, evaluate, by_chance=by_chance)
    return [
        Assumption(
            assumed="no write cache of the controller",
            instead="with 1 GiB, battery-backed",
            disks=None if other is None else other.disks,
            level="" if other is None else other.level_in_words,
            unknown="" if is_decided else _undecided("--write-cache 1GiB"),
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
    option = f"--drive-write-cache {'off' if is_on else 'on'}"
    found = _where_it_counts(assumed, f"with {option}", option, best, changed, evaluate, by_chance=by_chance)
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
    option = f"--record-size {pretty_bytes(of_files).replace(' ', '')}"
    instead = f"with those of files ({option})"
    return _where_it_counts(assumed, instead, option, best, changed, evaluate, by_chance=by_chance)


def _where_it_counts(
    assumed: str,
    instead: str,
    option: str,
    best: Candidate,
    changed: PlanDescription,
    evaluate: Evaluate,
    *,
    by_chance: bool,
) -> list[Assumption]:
    """Return an assumption with the answer of the changed question; none where that has as many disks."""
    other = _searched(changed, evaluate, by_chance=by_chance)
    if other.best is not None and other.best.disks == best.disks:
        return []
    if not other.is_decided:
        return [Assumption(assumed, instead, None, "", _undecided(option))]
    if other.best is None:
        none = f"no number of disks up to {max(changed.candidates.counts)} meets the objective"
        return [Assumption(assumed, instead, None, "", none, needs_more=True)]
    needs_more = (other.best.disks or 0) > (best.disks or 0)
    return [Assumption(assumed, instead, other.best.disks, other.best.level_in_words, needs_more=needs_more)]


def _undecided(option: str) -> str:
    return f"not decided beside this answer; {option} asks it"


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


class _Other(NamedTuple):
    """The best candidate of a changed question, None where none meets the objective, and whether that is decided."""

    best: Candidate | None
    is_decided: bool


def _searched(changed: PlanDescription, evaluate: Evaluate, *, by_chance: bool) -> _Other:
    """Return the best candidate of a changed question.

    That there is none is decided where the runs of all were long enough: no account of the question cut them short. It
    is without any run, too, where all are too small or too expensive.
    """
    chances = Chances(changed, evaluate, n_draws=FEW_DRAWS)
    every = cases(changed)
    # a chance that even the most disks have not takes two or three runs to see, and a search dozens
    asked = [case for case in every if not (by_chance and chances.is_hopeless(case))]
    with at_once(evaluate) as pool:
        searched = list(pool.map(lambda case: search_family(case, evaluate, is_careful=False), asked))
    # the chance by formula is a lower bound: what exceeds the limit with it cannot be the answer
    limit = changed.objective.data_loss_per_year or USUAL_LOSS_PER_YEAR
    found = [item for item in searched if item.trial is None or item.trial.statics.loss_per_year <= limit]
    best = chances.best(found) if by_chance else choose(changed, found)[0]
    is_without_runs = asked == every and all(item.trial is None or item.trial.outcome is None for item in searched)
    has_time = current().left_s > 0 or is_without_runs
    is_decided = best is not None or (all(item.is_decided for item in found) and has_time)
    return _Other(best, is_decided=is_decided)
