"""`diskmodel plan` for pools of clusters: which levels are such, and their answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskmodel.cli.shared.own_plans import OwnAnswer, OwnPlan
from diskmodel.drive import is_scheme
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


def plan_of_clusters(levels: Sequence[str] | None) -> OwnPlan | None:
    """Return the plan of the levels that are pools of clusters; None where none is.

    Raises
    ------
    DescriptionError
        When others are among them.
    """
    schemes = [level for level in levels or () if is_scheme(level)]
    if not schemes:
        return None
    if others := [level for level in levels or () if level not in schemes]:
        rule = "are pools of clusters and levels of one array together"
        fix = f"ask about {', '.join(others)} in a plan of its own"
        raise DescriptionError(Fault("--level", ", ".join(levels or ()), rule, fix))
    return OwnPlan(
        rule="is for a plan about arrays, and this one is about a cluster",
        read=("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks"),
        answer=lambda plan: _answer(plan, schemes),
        infeasible="no number of nodes and drives that was tried meets the objective",
        stand_in={"level": ["raid10"]},
    )


def _answer(plan: PlanDescription, schemes: Sequence[str]) -> OwnAnswer:
    from diskmodel.plan import plan_clusters
    from diskmodel.plan.clusters.show import sheet

    found = plan_clusters(plan, schemes)
    return OwnAnswer(found, sheet(found))
