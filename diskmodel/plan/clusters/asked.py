"""Questions about pools of clusters: those whose levels are such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskmodel.drive import is_cluster
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan.own_plans import OwnPlan

if TYPE_CHECKING:
    from diskmodel.plan.clusters.answer import ClusterPlan
    from diskmodel.plan.question.description import PlanDescription
    from diskmodel.plan.sheet.sheet import Sheet


def asked(question: Mapping[str, Any]) -> OwnPlan | None:
    """Return the plan of the levels that are pools of clusters; None where none is.

    Raises
    ------
    DescriptionError
        When others are among them.
    """
    levels = question.get("level") or ()
    schemes = [level for level in levels if is_cluster(level)]
    if not schemes:
        return None
    if others := [level for level in levels if level not in schemes]:
        rule = "are pools of clusters and levels of one array together"
        fix = f"ask about {', '.join(others)} in a plan of its own"
        raise DescriptionError(Fault("--level", ", ".join(levels), rule, fix))
    return OwnPlan(
        rule="is for a plan about arrays, and this one is about a cluster",
        read=("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks"),
        answer=lambda plan: _answer(plan, schemes),
        infeasible="no number of nodes and drives that was tried meets the objective",
        stand_in={"level": ["raid10"]},
    )


def _answer(plan: PlanDescription, schemes: Sequence[str]) -> tuple[ClusterPlan, Sheet]:
    from diskmodel.plan.clusters.search import plan_clusters
    from diskmodel.plan.clusters.show import sheet

    found = plan_clusters(plan, schemes)
    return found, sheet(found)
