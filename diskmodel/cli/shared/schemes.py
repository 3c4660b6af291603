"""`diskmodel plan` for volumes of several servers: which levels are such, and their answer."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from diskmodel.cli.shared.own_plans import OwnAnswer, OwnPlan
from diskmodel.drive import planner_of
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


def plan_of_schemes(levels: Sequence[str] | None) -> OwnPlan | None:
    """Return the plan of the levels that are pools of clusters; None where none is.

    Raises
    ------
    DescriptionError
        When others are among them.
    """
    schemes = [level for level in levels or () if planner_of(level)]
    if not schemes:
        return None
    planner, *more = {planner_of(level) for level in schemes}
    if more:
        rule, fix = "are of several kinds, each with a plan of its own", "ask about one kind at a time"
        raise DescriptionError(Fault("--level", ", ".join(schemes), rule, fix))
    if others := [level for level in levels or () if level not in schemes]:
        rule = "are pools of clusters and levels of one array together"
        fix = f"ask about {', '.join(others)} in a plan of its own"
        raise DescriptionError(Fault("--level", ", ".join(levels or ()), rule, fix))
    return OwnPlan(
        rule="is for a plan about arrays, and this one is about a cluster",
        read=("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks"),
        answer=lambda plan: _answer(planner, plan, schemes),
        infeasible="no number of nodes and drives that was tried meets the objective",
        stand_in={"level": ["raid10"]},
    )


def _answer(planner: str, plan: PlanDescription, schemes: Sequence[str]) -> OwnAnswer:
    found, sheet = resolve_name(planner)(plan, schemes)
    return OwnAnswer(found, sheet)
