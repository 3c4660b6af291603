"""Questions about volumes of a cloud: those with prices of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskmodel.plan.own_plans import OwnPlan

if TYPE_CHECKING:
    from diskmodel.plan.question.description import PlanDescription
    from diskmodel.plan.sheet.sheet import Sheet
    from diskmodel.plan.volumes.answer import VolumePlan


def asked(question: Mapping[str, Any]) -> OwnPlan | None:
    """Return the plan of volumes by the prices in a file; None without one."""
    if question.get("cloud_prices") is None:
        return None
    from diskmodel.plan.volumes.prices import CloudPrices
    from diskmodel.plan.volumes.search import plan_volumes
    from diskmodel.plan.volumes.show import sheet

    known = CloudPrices.load(Path(question["cloud_prices"]))

    def answer(plan: PlanDescription) -> tuple[VolumePlan, Sheet]:
        found = plan_volumes(plan, known)
        return found, sheet(found)

    return OwnPlan(
        rule="is for a plan about drives, and this one is about volumes of a cloud",
        read=("objective.", "controller"),
        answer=answer,
        infeasible="no provision of these volumes meets the objective",
        stand_in={"drive": list(known.volumes)[:1], "level": ["raid0"]},
    )
