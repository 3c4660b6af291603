"""Plans of one kind beside those of arrays of drives: of clusters, of caches on SSDs, of volumes of a cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.console import print_json, say, show_lines
from diskmodel.cli.shared.status import no_answer
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import QUESTION

if TYPE_CHECKING:
    from diskmodel.plain import Record
    from diskmodel.plan import PlanDescription, Sheet


@dataclass(frozen=True)
class OwnAnswer:
    """What such a plan answers.

    Attributes
    ----------
    record : Record
        For JSON.
    sheet : Sheet
        For people; what it says beside the answer goes to standard error.
    """

    record: Record
    sheet: Sheet


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
    infeasible : str
        Said where nothing meets the objective.
    stand_in : dict of str to any
        Values of options with which the question is asked: what this kind has none of.
    """

    rule: str
    read: tuple[str, ...]
    answer: Callable[[PlanDescription], OwnAnswer]
    infeasible: str
    stand_in: Mapping[str, Any] = field(default_factory=dict)

    def respond(
        self,
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
        others = [option for option in QUESTION if option.plan and not option.plan.startswith(self.read)]
        unread = {**refused, **{option.name: given.get(option.key) for option in others}}
        if faults := [Fault(name, str(value), self.rule, "leave it out") for name, value in unread.items() if value]:
            raise DescriptionError(faults)
        for note in notes:
            say(note)
        found = self.answer(plan)
        if as_json:
            print_json({**found.record.to_dict(), "question_notes": list(notes)})
        else:
            show_lines("\n".join(found.sheet.lines()))
            for message in found.sheet.said:
                say(message)
        if report is not None:
            from diskmodel.plan import write_sheet

            write_sheet(found.sheet, report)
            say(f"report: {report}")
        if found.sheet.array is None:
            raise no_answer(self.infeasible)
