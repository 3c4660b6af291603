"""`diskmodel quiz`: a quiz with its solutions, to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, say
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.output import write_text


@ends_well
def quiz(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file to write, for the printer.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the questions: another one asks others.")] = 1,
    questions: Annotated[int, typer.Option(min=1, max=100, help="How many; ten have one of each kind.")] = 10,
    solutions: Annotated[bool, typer.Option(help="Whether the solutions follow, on pages of their own.")] = True,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a quiz with simulated solutions; the lab asks the same questions for the same seed."""
    from diskmodel.lab.quiz_sheet import quiz_sheet, solved_quiz

    if out is not None:
        check_place(out, "out")
    solved = solved_quiz(seed, questions)
    if out is not None:
        write_text(out, quiz_sheet(seed, solved, with_solutions=solutions))
        say(f"wrote {out}: open it in a browser, and print it")
    if as_json:
        print_json({"seed": seed, "questions": solved})
    elif out is None:
        for one in solved:
            say_question(one)


def say_question(one: dict[str, object]) -> None:
    """Print a question and its choices; those that are right are marked."""
    choices, right = one["choices"], one["right"]
    assert isinstance(choices, list)
    assert isinstance(right, list)
    typer.echo(f"{int(str(one['number'])) + 1}. {one['setting']} {one['question']}")
    for n, text in enumerate(choices):
        typer.echo(f"   {'*' if n in right else ' '} {text}")
