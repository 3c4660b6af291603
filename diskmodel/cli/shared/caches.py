"""`diskmodel plan` for arrays with a cache on SSDs: which questions are about one, and their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.console import print_json, say, show_lines
from diskmodel.cli.shared.status import no_answer
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.levels import KINDS, POOLS, level_name
from diskmodel.options import QUESTION, Option

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription


#: What a plan about caches reads of the fields that options set; those without any field are about the load.
_READ = ("objective.", "candidates.drives", "candidates.levels", "candidates.max_disks", "candidates.cache_devices")


def _is_of_arrays(option: Option) -> bool:
    """Return whether an option of a question is about arrays without such a cache."""
    return bool(option.plan) and not option.plan.startswith(_READ)


def cached_levels(levels: Sequence[str] | None, caches: Sequence[str] | None) -> list[str]:
    """Return the levels that are to have a cache on SSDs; none where the question is about none, or about pools.

    Raises
    ------
    DescriptionError
        When levels of arrays and pools are together.
    """
    named = [str(level_name(level)) for level in levels or ()]
    if not caches or not named:
        return []
    found = [level for level in named if level in KINDS and level not in POOLS]
    if found and len(found) < len(named):
        rule = "are levels of arrays and pools together, whose caches differ"
        raise DescriptionError(Fault("--level", ", ".join(named), rule, "ask about pools in a plan of its own"))
    return found


def plan_of_caches(
    plan: PlanDescription,
    notes: Sequence[str],
    levels: Sequence[str],
    caches: Sequence[str],
    *,
    given: Mapping[str, Any],
    refused: dict[str, Any],
    as_json: bool,
) -> None:
    """Answer a plan about caches on SSDs, and print the answer.

    Parameters
    ----------
    plan : PlanDescription
    notes : sequence of str
        What the question assumed.
    levels, caches : sequence of str
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
    from diskmodel.plan.caches.search import plan_caches
    from diskmodel.plan.caches.show import lines

    rule, fix = "is not for a plan with a cache on SSDs", "leave it out"
    own = {option.name: given.get(option.key) for option in QUESTION if _is_of_arrays(option)}
    if faults := [Fault(name, str(value), rule, fix) for name, value in (refused | own).items() if value]:
        raise DescriptionError(faults)
    for note in notes:
        say(note)
    answer = plan_caches(plan, levels, [cache for cache in caches if cache != "none"])
    if as_json:
        print_json({**answer.to_dict(), "question_notes": list(notes)})
    else:
        show_lines("\n".join(lines(answer)))
        for message in answer.best.said if answer.best else ():
            say(message)
    if answer.best is None:
        raise no_answer("no number of disks that was tried meets the objective")
