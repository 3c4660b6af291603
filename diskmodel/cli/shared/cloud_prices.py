"""`diskmodel plan --cloud-prices`: the cheapest volumes of a cloud."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.cli.shared.own_plans import OwnAnswer, OwnPlan

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


def plan_of_volumes(prices: Path | None) -> OwnPlan | None:
    """Return the plan of volumes by the prices in a file; None without one."""
    if prices is None:
        return None
    from diskmodel.plan import CloudPrices, plan_volumes
    from diskmodel.plan.volumes.show import sheet

    known = CloudPrices.load(prices)

    def answer(plan: PlanDescription) -> OwnAnswer:
        found = plan_volumes(plan, known)
        return OwnAnswer(found, sheet(found))

    return OwnPlan(
        rule="is for a plan about drives, and this one is about volumes of a cloud",
        read=("objective.", "controller"),
        answer=answer,
        infeasible="no provision of these volumes meets the objective",
        stand_in={"drive": list(known.volumes)[:1], "level": ["raid0"]},
    )
