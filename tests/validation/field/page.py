"""The validation page, made from the outcomes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import groupby

from tests.validation.field.cases import CASES, NOTES, ROOT
from tests.validation.field.outcome import Outcome

PAGE = ROOT / "docs" / "explanation" / "validation-field.md"

_INTRODUCTION = """# Field measurements

Measurements that others published, compared with what diskmodel predicts for the hardware as its author described it.
`make field` generates this page and prints the table; nothing on it is typed by hand. Each scenario is in
`examples/field/`, and you can run it alone with the command under its case.

A *predicted* row uses only the description of the hardware and profiles of the catalogue. A *fitted* row was used to
set a parameter of its scenario. A *formula* row must agree to the last printed digit. The error is relative to the
author's figure, or to the nearer end of his range. If a description leaves a choice open, a second table shows the
figures for the other choices.
"""

#: Smallest relative change of a figure that the page reports.
_NOTICEABLE = 0.01


def verdict_of(outcome: Outcome) -> str:
    """Reached or not, in a word."""
    return "within" if outcome.is_reached else "OUT"


def _other_choices(case: str, choices: Sequence[tuple[str, Outcome]], rows: Sequence[Outcome]) -> str:
    """Table of the figures that other choices change by more than a hundredth."""
    ours = {(o.row, o.quantity, o.author): o.ours for o in rows}
    reported = [
        (text, o)
        for text, o in choices
        if o.case == case and abs(o.ours / ours[o.row, o.quantity, o.author] - 1) > _NOTICEABLE
    ]
    if not any(o.case == case for _, o in choices):
        return ""
    unchanged = dict.fromkeys(text for text, o in choices if o.case == case)
    for text, _ in reported:
        unchanged.pop(text, None)
    page = "\nOther choices that the description allows, and the figures that they change by more than 1 %:\n"
    if reported:
        page += "\n| choice | row | quantity | author | then | error | verdict |\n|---|---|---|--:|--:|--:|---|\n"
        for text, o in reported:
            page += f"| {text} | {o.row} | {o.quantity} | {o.author} | {o.our_figure} | {o.error:+.1%} "
            page += f"| {'within' if o.is_reached else 'out'} |\n"
    if unchanged:
        page += f"\nNo figure changes with: {'; '.join(unchanged)}.\n"
    return page


def write_page(outcomes: Sequence[Outcome], choices: Sequence[tuple[str, Outcome]]) -> None:
    """Write the page; `choices` are figures with other choices, and what was chosen."""
    text = io.StringIO()
    text.write(_INTRODUCTION)
    n_out = sum(not o.is_reached for o in outcomes)
    text.write(f"\n{len(outcomes)} figures of {len(CASES)} cases: {len(outcomes) - n_out} are within")
    text.write(f" the tolerance of their case, {n_out} not.\n")
    text.write("\n![Author's figures and ours](validation-field.svg)\n")
    for case, group in groupby(outcomes, key=lambda o: o.case):
        rows = list(group)
        text.write(f"\n## {case}\n\n{CASES[case]['source']}.\n")
        if note := CASES[case].get("note"):
            text.write(f"\nNote of the source: {note}.\n")
        if case in NOTES:
            text.write(f"\n{NOTES[case]}.\n")
        text.write("\n| row | quantity | author | ours | error | tolerance | verdict | kind |\n")
        text.write("|---|---|--:|--:|--:|--:|---|---|\n")
        for o in rows:
            text.write(
                f"| {o.row} | {o.quantity} | {o.author} | {o.our_figure} | {o.error:+.1%} | {o.tolerance:.0%} "
                f"| {verdict_of(o)} | {o.kind} |\n"
            )
        for reason in dict.fromkeys(o.unreached for o in rows if o.unreached):
            names = ", ".join(dict.fromkeys(f"{o.row} ({o.quantity})" for o in rows if o.unreached == reason))
            text.write(f"\nOut of tolerance, {names}: {reason}.\n")
        text.write(_other_choices(case, choices, rows))
        commands = list(dict.fromkeys(o.command for o in rows if o.command))
        if commands:
            text.write(
                "\n<!-- not run: make field runs them -->\n```console\n"
                + "\n".join(f"$ {command}" for command in commands)
                + "\n```\n"
            )
    PAGE.write_text(text.getvalue(), encoding="utf-8")
