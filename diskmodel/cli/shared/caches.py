"""`diskmodel plan` for arrays with a cache on SSDs: which questions are about one, and their answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskmodel.cli.shared.own_plans import OwnAnswer, OwnPlan
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import POOLS, level_name
from diskmodel.layout.levels import KINDS

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


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


def plan_of_caches(levels: Sequence[str] | None, devices: Sequence[str] | None) -> OwnPlan | None:
    """Return the plan of levels that are to have a cache on SSDs; None where there are none (`cached_levels`)."""
    found = cached_levels(levels, devices)
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


def _answer(plan: PlanDescription, levels: Sequence[str], caches: Sequence[str]) -> OwnAnswer:
    from diskmodel.plan import plan_caches
    from diskmodel.plan.caches.show import sheet

    found = plan_caches(plan, levels, caches)
    return OwnAnswer(found, sheet(found))
