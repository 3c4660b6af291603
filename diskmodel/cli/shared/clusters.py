"""`diskmodel plan` for pools of clusters: which levels are such, and their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.console import print_json, say, show_lines
from diskmodel.cli.shared.status import no_answer
from diskmodel.drive.cluster.words import is_cluster
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import QUESTION, Option

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


def schemes_of(levels: Sequence[str] | None) -> list[str]:
    """Return the levels that are pools of clusters.

    Raises
    ------
    DescriptionError
        When others are among them.
    """
    found = [level for level in levels or () if is_cluster(level)]
    if found and len(found) < len(levels or ()):
        others = ", ".join(level for level in levels or () if level not in found)
        rule = "are pools of clusters and levels of one array together"
        raise DescriptionError(
            Fault("--level", ", ".join(levels or ()), rule, f"ask about {others} in a plan of its own")
        )
    return found


#: What a plan about clusters reads of the fields that options set; those without any field are about the load.
_READ = ("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks")


def _is_of_arrays(option: Option) -> bool:
    """Return whether an option of a question is about arrays alone."""
    return bool(option.plan) and not option.plan.startswith(_READ)


def plan_of_clusters(
    plan: PlanDescription,
    notes: Sequence[str],
    schemes: Sequence[str],
    *,
    given: Mapping[str, Any],
    refused: dict[str, Any],
    as_json: bool,
) -> None:
    """Answer a plan about pools of clusters, and print the answer.

    Parameters
    ----------
    plan : PlanDescription
    notes : sequence of str
        What the question assumed.
    schemes : sequence of str
    given : mapping
        Values of all options of the question by key.
    refused : dict
        Values of other options that only a plan for arrays takes, by name.
    as_json : bool

    Raises
    ------
    DescriptionError
        When an option does not apply, or the plan breaks a rule.
    """
    from diskmodel.plan.clusters.search import plan_clusters
    from diskmodel.plan.clusters.show import lines

    rule, fix = "is for a plan about arrays, and this one is about a cluster", "leave it out"
    own = {option.name: given.get(option.key) for option in QUESTION if _is_of_arrays(option)}
    if faults := [Fault(name, str(value), rule, fix) for name, value in (refused | own).items() if value]:
        raise DescriptionError(faults)
    for note in notes:
        say(note)
    answer = plan_clusters(plan, schemes)
    if as_json:
        print_json({**answer.to_dict(), "question_notes": list(notes)})
    else:
        show_lines("\n".join(lines(answer)))
        for message in answer.candidates[0].array.doubts if answer.candidates else ():
            say(message)
    if not answer.is_feasible:
        raise no_answer("no number of nodes and drives that was tried meets the objective")
