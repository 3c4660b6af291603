"""Whether a protected write cache does for commits what no number of spindles does."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.plan.advice.relax import CACHE_BYTES, with_write_cache
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.changes import CacheInstead
from diskmodel.plan.answer.criterion import tightest
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.result import COMMITS


def caches_instead(plan: PlanDescription, candidates: tuple[Candidate, ...], evaluate: Evaluate) -> list[CacheInstead]:
    """Return the fewest disks of each hard disk that misses a limit of commits, behind a write cache.

    A search for each such drive, in the first of its levels. Nothing where the controller has a write cache.
    """
    if plan.controller.write_cache is not None or plan.search.method == "rule":
        return []
    missed: dict[str, Candidate] = {}
    for candidate in candidates:
        is_of_commits = (
            candidate.binding is not None and COMMITS in f"{candidate.binding.name} {candidate.binding.detail}"
        )
        if not candidate.is_feasible and is_of_commits and candidate.family.drive.has_arms:
            missed.setdefault(candidate.family.drive.name, candidate)
    cached = with_write_cache(plan)

    def searched(candidate: Candidate) -> CacheInstead | None:
        case = Case(cached, candidate.family)
        found = search_family(case, evaluate)
        if found.disks is None or found.trial is None:
            return None
        about = next((item for item in found.trial.criteria if COMMITS in f"{item.name} {item.detail}"), None)
        criterion = about or tightest(found.trial.criteria)
        if criterion is None:
            return None
        level = replace(found, array=case.array(found.disks)).level_in_words
        return CacheInstead(candidate.family.drive.name, level, CACHE_BYTES, found.disks, criterion)

    with at_once(evaluate) as pool:
        return [item for item in pool.map(searched, missed.values()) if item is not None]
