"""`diskmodel plan --cloud-prices`: the cheapest volumes of a cloud, and what such a plan does not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.console import print_json, say, show_lines
from diskmodel.cli.shared.status import no_answer
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import QUESTION, Option

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription

#: Of the fields that options set, what a plan of volumes reads beside the load.
_READ = ("objective.", "controller")


def _is_of_arrays(option: Option) -> bool:
    """Return whether an option of a question is about arrays of drives alone."""
    return bool(option.plan) and not option.plan.startswith(_READ)


def stand_in(prices: Path) -> dict[str, Any]:
    """Return values of options that keep a question from choosing drives and levels, of which volumes have none."""
    from diskmodel.plan.volumes.prices import CloudPrices

    return {"drive": list(CloudPrices.load(prices).volumes)[:1], "level": ["raid0"]}


def plan_of_volumes(
    plan: PlanDescription,
    notes: Sequence[str],
    prices: Path,
    *,
    given: Mapping[str, Any],
    refused: dict[str, Any],
    as_json: bool,
) -> None:
    """Answer a plan about volumes of a cloud, and print the answer.

    Parameters
    ----------
    plan : PlanDescription
    notes : sequence of str
        What the question assumed.
    prices : Path
    given : mapping
        Values of all options of the question by key.
    refused : dict
        Values of other options that only a plan for arrays takes, by name.
    as_json : bool

    Raises
    ------
    DescriptionError
        When an option does not apply, or the plan or the prices break a rule.
    """
    from diskmodel.plan.volumes.prices import CloudPrices
    from diskmodel.plan.volumes.search import plan_volumes
    from diskmodel.plan.volumes.show import lines

    rule, fix = "is for a plan about drives, and this one is about volumes of a cloud", "leave it out"
    own = {option.name: given.get(option.key) for option in QUESTION if _is_of_arrays(option)}
    if faults := [Fault(name, str(value), rule, fix) for name, value in (refused | own).items() if value]:
        raise DescriptionError(faults)
    for note in notes:
        say(note)
    answer = plan_volumes(plan, CloudPrices.load(prices))
    if as_json:
        print_json({**answer.to_dict(), "question_notes": list(notes)})
    else:
        show_lines("\n".join(lines(answer)))
    if not answer.is_feasible:
        raise no_answer("no provision of these volumes meets the objective")
