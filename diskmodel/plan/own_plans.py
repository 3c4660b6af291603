"""Plans beside those of arrays of drives: of clusters, of caches on SSDs, of volumes of a cloud.

Each kind names on its card what makes the plan of its own from the options of a question (`planned_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from diskmodel.drive import planners
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.plain import Record
    from diskmodel.plan.question.description import PlanDescription
    from diskmodel.plan.sheet.sheet import Sheet


@dataclass(frozen=True)
class OwnPlan:
    """A question that a plan of one kind answers.

    Attributes
    ----------
    rule : str
        Why an option of other plans is refused.
    read : tuple of str
        Places of the fields of a plan that it reads; options that set others are refused.
    answer : callable
        Of the plan: its answer, for JSON, and a sheet for people. What that says beside the answer goes to standard
        error.
    infeasible : str
        Said where nothing meets the objective.
    stand_in : dict of str to any
        Values of options with which the question is asked: what this kind has none of.
    """

    rule: str
    read: tuple[str, ...]
    answer: Callable[[PlanDescription], tuple[Record, Sheet]]
    infeasible: str
    stand_in: Mapping[str, Any] = field(default_factory=dict)


def own_plan(question: Mapping[str, Any]) -> OwnPlan | None:
    """Return the plan of its own that answers a question; None where a plan of arrays does.

    Parameters
    ----------
    question : mapping
        Values of the options by key, None where one was not given.

    Raises
    ------
    DescriptionError
        When the options are about such a plan, and about another one as well.
    """
    found = (resolve_name(planner)(question) for planner in planners())
    return next(filter(None, found), None)
