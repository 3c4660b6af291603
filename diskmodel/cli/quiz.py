"""`diskmodel quiz`: a quiz with its solutions, to print."""

from __future__ import annotations

import textwrap
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, say, width_of_output
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.output import write_text


@ends_well
def quiz(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file to write, for the printer.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the questions: another one asks others.")] = 1,
    questions: Annotated[int, typer.Option(min=1, max=100, help="How many; ten have one of each kind.")] = 10,
    solutions: Annotated[
        bool | None,
        typer.Option(
            help="Whether the solutions follow: in a file on pages of their own, by default; in a terminal "
            "below all questions, where they are asked for.",
            show_default=False,
        ),
    ] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Exercises instead: measured figures, and which cause explains them.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a quiz with simulated solutions; the lab asks the same questions for the same seed, except for faults."""
    from diskmodel.explanation.exercise import solved_exercises
    from diskmodel.lab.quiz_sheet import quiz_sheet, solved_quiz

    if out is not None:
        check_place(out, "out")
    solved = solved_exercises(seed, questions) if faults else solved_quiz(seed, questions)
    if out is not None:
        write_text(out, quiz_sheet(seed, solved, with_solutions=solutions is not False))
        say(f"wrote {out}: open it in a browser, and print it")
    if as_json:
        print_json({"seed": seed, "questions": solved})
    elif out is None:
        for one in solved:
            _say_question(one)
        if solutions:
            typer.echo("\nSolutions")
            for one in solved:
                _say_solution(one)
        elif solutions is None:
            more = " --faults" if faults else ""
            say(f"for the solutions: diskmodel quiz --seed {seed} --questions {questions}{more} --solutions")


def _say_question(one: dict[str, Any]) -> None:
    _say_wrapped(f"{one['number'] + 1}. ", f"{one['setting']} {one['question']}")
    for letter, text in zip(ascii_lowercase, one["choices"], strict=False):
        typer.echo(f"   {letter}) {text}")


def _say_solution(one: dict[str, Any]) -> None:
    from diskmodel.lab.quiz_sheet import found_in_words

    right = " or ".join(ascii_lowercase[n] for n in one["right"])
    _say_wrapped(f"{one['number'] + 1}. ", f"{right}: {found_in_words(one)}. {one['why']}")


def _say_wrapped(first: str, text: str) -> None:
    """Print a paragraph as wide as the terminal, its lines below the words of the first one."""
    typer.echo(textwrap.fill(text, width_of_output(), initial_indent=first, subsequent_indent=" " * len(first)))
