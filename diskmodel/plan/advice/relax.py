"""Which changes make an array that falls short meet the objective; each is simulated before it is offered."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from diskmodel.controller import WriteCache
from diskmodel.drive import Drive, load_drive
from diskmodel.errors import DescriptionError
from diskmodel.layout import Layout
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import Relaxation
from diskmodel.plan.answer.criterion import Criterion, Verdict, tightest
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.objective import LatencyObjective
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.trier import Trier
from diskmodel.result import COMMITS

#: Drives that are tried beside the plan's own, slowest first: a class each.
CLASSES = ("generic-10k", "generic-15k", "generic-sas-ssd")

#: Size of the caches that are tried, bytes: what RAID controllers are sold with.
CACHE_BYTES = 1 << 30

#: Strips are tried at this multiple and this part of the plan's. Double is seldom enough to see a difference.
STRIP_FACTOR = 4

#: More disks are searched for up to this multiple of the plan's largest count, and up to so many. More would be another
#: project: 8,000 drives of flash took 1.6 GB.
MORE_DISKS_FACTOR, MOST_DISKS = 4, 4_000
#: Limits that are tried, and how far the next one is above what was found. With one, a limit at the end of an interval
#: is missed by the width that a criterion needs beyond it; a fourth has been of no use.
_LIMITS_TRIED, _BEYOND = 3, 1.1


def relaxations(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> list[Relaxation]:
    """Return the changes with which the array just short of the objective meets it: more disks, since their number is
    what was asked, then the others, the one with most margin first.

    The array is the one below the answer, or the nearest one where nothing was feasible. Tried are: more disks (where
    nothing was feasible), another level, another strip, faster drives (the candidates' and a class each of the
    catalogue), caches, and the limit that the array does meet. A change that does not make the array meet every
    criterion is not returned.
    """
    short, binding = candidate.below or candidate.trial, candidate.binding
    if short is None or binding is None:
        return []
    case = Case(plan, candidate.family)
    more = [] if candidate.is_feasible else _more_disks(case, candidate, evaluate)
    found: list[Relaxation] = []

    def tried(change: str, changed: Case) -> list[Relaxation]:
        trier = Trier(changed, evaluate, always_runs=True)
        try:
            is_missed = trier(short.disks).verdict is Verdict.FAILS
        except DescriptionError:  # the level cannot have this number of disks
            return []
        return [] if is_missed else _offered(change, trier.careful(short.disks), binding)

    with at_once(evaluate) as pool:
        for offered in pool.map(tried, *zip(*_changes(case), strict=True)):
            found += offered
    found.sort(key=lambda item: -item.criterion.margin_ratio)
    return more + found + _relaxed_limit(case, short, binding, evaluate)


def _offered(change: str, trial: Trial, binding: Criterion) -> list[Relaxation]:
    """Return the change where the array meets every criterion with it."""
    if not trial.is_met:
        return []
    after = next((c for c in trial.criteria if (c.name, c.detail) == (binding.name, binding.detail)), None)
    if after is None and binding.is_overload and trial.outcome is not None:
        after = replace(binding, detail="", figure=trial.outcome.iops, verdict=Verdict.HOLDS)
    after = after or tightest(trial.criteria)
    if after is None:
        return []
    gain = after.margin_ratio - binding.margin_ratio
    return [Relaxation(change, trial.disks, after, 0.0 if math.isnan(gain) else gain, trial.statics.cost_usd)]


def _more_disks(case: Case, candidate: Candidate, evaluate: Evaluate) -> list[Relaxation]:
    """Return the fewest disks beyond the plan's range that meet the objective."""
    trial, binding = candidate.trial, candidate.binding
    assert trial is not None
    assert binding is not None
    if not candidate.is_decided or not candidate.more_may_help:
        return []
    most = min(MORE_DISKS_FACTOR * trial.disks, MOST_DISKS)
    if most <= trial.disks:
        return []
    wider = {"disks": None, "min_disks": trial.disks + 1, "max_disks": most}
    candidates = case.plan.candidates.model_copy(update=wider)
    found = search_family(replace(case, plan=case.plan.model_copy(update={"candidates": candidates})), evaluate)
    if not found.is_feasible or found.trial is None:
        return []
    more = found.trial.disks - trial.disks
    return _offered(f"{more} more disk{'s' if more > 1 else ''}", found.trial, binding)


def _relaxed_limit(case: Case, short: Trial, binding: Criterion, evaluate: Evaluate) -> list[Relaxation]:
    """Return the latency limit that the array does meet, where latency is all that it misses: asked so, it is tried.

    A search ends at the first criterion that is missed, so that a rebuild or a failed disk may not have been simulated.
    """
    others = [item for item in short.criteria if item is not binding and item.verdict is not Verdict.UNKNOWN]
    high = binding.figure.high
    is_latency = binding.name in ("latency", "degraded latency") and math.isfinite(high) and high > 0
    if not is_latency or any(item.verdict is not Verdict.HOLDS for item in others if item != binding):
        return []
    for _ in range(_LIMITS_TRIED):
        step = 10.0 ** (math.floor(math.log10(high)) - 1)
        limit = round(math.ceil(high / step) * step, 9)
        trial = Trier(_with_limit(case, binding, limit), evaluate, always_runs=True).careful(short.disks)
        change = f"a limit of {limit:g} ms on {binding.detail} instead of {binding.limit:g} ms"
        if trial.is_met:
            return _offered(change, trial, binding)
        again = next((c for c in trial.criteria if (c.name, c.detail) == (binding.name, binding.detail)), None)
        if again is None or again.verdict is Verdict.HOLDS or not math.isfinite(again.figure.high):
            break
        # a criterion holds beyond its interval only; a longer run may have another one
        high = max(again.figure.high, high) * _BEYOND
    return []


def _with_limit(case: Case, binding: Criterion, limit_ms: float) -> Case:
    """Return the case with another limit instead of that of a criterion about latency."""
    statistic, _, stream = binding.detail.partition(" of ")
    objective, update = case.objective, {f"{statistic}_ns": round(limit_ms * 1e6)}

    if stream == COMMITS and stream not in objective.latency.streams:
        limits = objective.commit_latency.model_copy(update=update)
        objective = objective.model_copy(update={"commit_latency": limits})
        return replace(case, plan=case.plan.model_copy(update={"objective": objective}))

    def changed(latency: LatencyObjective) -> LatencyObjective:
        if not stream:
            return latency.model_copy(update=update)
        streams = {**latency.streams, stream: latency.streams[stream].model_copy(update=update)}
        return latency.model_copy(update={"streams": streams})

    if binding.name == "latency":
        objective = objective.model_copy(update={"latency": changed(objective.latency)})
    else:
        assert objective.degraded is not None
        degraded = objective.degraded.model_copy(update={"latency": changed(objective.degraded.latency)})
        objective = objective.model_copy(update={"degraded": degraded})
    return replace(case, plan=case.plan.model_copy(update={"objective": objective}))


def _changes(case: Case) -> Iterator[tuple[str, Case]]:
    plan, family = case.plan, case.family
    if family.level != "raid10":
        yield "RAID 10 instead", case.of(level="raid10", groups=1)
    for drive in _faster_drives(plan, family.drive):
        yield f"{drive.name} drives", case.of(drive=drive)
    for strip_bytes in (family.strip_bytes * STRIP_FACTOR, family.strip_bytes // STRIP_FACTOR):
        if strip_bytes >= 4096:
            yield f"a strip of {strip_bytes // 1024} KiB", case.of(strip_bytes=strip_bytes)
    controller = plan.controller
    if (
        controller.write_cache is None
        and case.workload.has_writes
        and not Layout.of_level(family.level).is_cached_in_memory
    ):
        yield "1 GiB of write cache", Case(with_write_cache(plan), family)
    cache = controller.read_cache
    if family.cache_bytes:
        yield "twice the cache", case.of(cache_bytes=2 * family.cache_bytes)
    elif cache is not None and cache.hit_ratio is not None and cache.hit_ratio <= 0.9:
        yield "10 % more of the reads hit the cache", Case(with_cache_hit(plan, cache.hit_ratio + 0.1), family)
    elif cache is None and case.workload.has_reads:
        yield "1 GiB of read cache", case.of(cache_bytes=CACHE_BYTES)


def _faster_drives(plan: PlanDescription, than: Drive) -> list[Drive]:
    """Return the plan's other drives and the classes that are faster: by spindle speed, flash last."""
    found: dict[str, Drive] = {}
    for drive in (*plan.candidates.drives, *(load_drive(name) for name in CLASSES)):
        if drive.spindle_rpm > than.spindle_rpm:
            found.setdefault(drive.name, drive)
    return list(found.values())


def with_write_cache(plan: PlanDescription) -> PlanDescription:
    """Return the plan with a write cache as RAID controllers are sold with."""
    controller = plan.controller.model_copy(update={"write_cache": WriteCache(size_bytes=CACHE_BYTES)})
    return plan.model_copy(update={"controller": controller})


def with_cache_hit(plan: PlanDescription, hit_ratio: float) -> PlanDescription:
    """Return the plan with another stated hit ratio of the controller's read cache."""
    cache = plan.controller.read_cache
    assert cache is not None
    controller = plan.controller.model_copy(update={"read_cache": cache.model_copy(update={"hit_ratio": hit_ratio})})
    return plan.model_copy(update={"controller": controller})
