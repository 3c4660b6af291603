"""`diskmodel plan` for what is no array of drives: clusters, caches on SSDs, volumes of a cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.console import print_json, say, show_lines
from diskmodel.cli.shared.status import no_answer
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import QUESTION

if TYPE_CHECKING:
    from diskmodel.plan import OwnPlan, PlanDescription


def respond(
    own: OwnPlan,
    plan: PlanDescription,
    notes: Sequence[str],
    *,
    given: Mapping[str, Any],
    refused: Mapping[str, Any],
    report: Path | None = None,
    as_json: bool,
) -> None:
    """Answer a question, and print the answer.

    Parameters
    ----------
    own : OwnPlan
    plan : PlanDescription
    notes : sequence of str
        What the question assumed.
    given : mapping
        Values of all options of the question by key.
    refused : mapping
        Values of other options that only a plan for arrays takes, by name.
    report : Path, optional
        File to write a report to.
    as_json : bool

    Raises
    ------
    DescriptionError
        When an option does not apply, or the plan breaks a rule.
    """
    # options without a field of a plan are about the load
    others = [option for option in QUESTION if option.plan and not option.plan.startswith(own.read)]
    unread = {**refused, **{option.name: given.get(option.key) for option in others}}
    if faults := [Fault(name, str(value), own.rule, "leave it out") for name, value in unread.items() if value]:
        raise DescriptionError(faults)
    for note in notes:
        say(note)
    record, sheet = own.answer(plan)
    if as_json:
        print_json({**record.to_dict(), "question_notes": list(notes)})
    else:
        show_lines("\n".join(sheet.lines()))
        for message in sheet.said:
            say(message)
    if report is not None:
        from diskmodel.plan import write_sheet

        write_sheet(sheet, report)
        say(f"report: {report}")
    if sheet.array is None:
        raise no_answer(own.infeasible)
