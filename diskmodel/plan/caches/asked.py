"""Questions about arrays with a cache on SSDs: those with cache devices and levels of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import POOLS, level_name
from diskmodel.layout.levels import KINDS
from diskmodel.plan.own_plans import OwnPlan

if TYPE_CHECKING:
    from diskmodel.plan.caches.answer import CachePlan
    from diskmodel.plan.question.description import PlanDescription
    from diskmodel.plan.sheet.sheet import Sheet


def cached_levels(levels: Sequence[str] | None, devices: Sequence[str] | None) -> list[str]:
    """Return the levels that are to have a cache on SSDs; none where the question is about none, or about pools.

    Raises
    ------
    DescriptionError
        When levels of arrays and pools are together.
    """
    named = [str(level_name(level)) for level in levels or ()]
    found = [level for level in named if level in KINDS and level not in POOLS]
    if not devices or not found:
        return []
    if len(found) < len(named):
        rule = "are levels of arrays and pools together, whose caches differ"
        raise DescriptionError(Fault("--level", ", ".join(named), rule, "ask about pools in a plan of its own"))
    return found


def asked(question: Mapping[str, Any]) -> OwnPlan | None:
    """Return the plan of levels that are to have a cache on SSDs; None where there are none (`cached_levels`)."""
    devices = question.get("cache_device")
    found = cached_levels(question.get("level"), devices)
    if not found:
        return None
    caches = [cache for cache in devices or () if cache != "none"]
    return OwnPlan(
        rule="is not for a plan with a cache on SSDs",
        read=(
            *("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks"),
            "candidates.cache_devices",
        ),
        answer=lambda plan: _answer(plan, found, caches),
        infeasible="no number of disks that was tried meets the objective",
        stand_in={"cache_device": None},
    )


def _answer(plan: PlanDescription, levels: Sequence[str], caches: Sequence[str]) -> tuple[CachePlan, Sheet]:
    from diskmodel.plan.caches.search import plan_caches
    from diskmodel.plan.caches.show import sheet

    found = plan_caches(plan, levels, caches)
    return found, sheet(found)
