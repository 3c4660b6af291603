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
from diskmodel.errors import DescriptionError, Fault
from diskmodel.output import write_text

#: Questions of a quiz unless another number is asked for: one of each kind.
N_QUESTIONS = 10
#: Students on one page; at ten times as many it takes minutes and has megabytes.
MAX_STUDENTS = 500


@ends_well
def quiz(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file to write, for the printer.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the questions: another one asks others.")] = 1,
    questions: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="How many: 10, one of each kind, unless given; of a lesson 1.", show_default=False
        ),
    ] = None,
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
    lesson: Annotated[
        int | None,
        typer.Option(
            help="Exercises of this lesson of the course instead, drawn by the seed, a student's number; the ending of "
            "--out decides: a page (.html), or a notebook for nbgrader (.ipynb)."
        ),
    ] = None,
    students: Annotated[
        str | None, typer.Option(help="Numbers of the students on one page of --lesson, for example 1:30.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Seal the solutions on the page of --lesson: only its address with this word shows them."),
    ] = None,
    otter: Annotated[
        Path | None, typer.Option(help="Also write the tests of --lesson for Otter into this folder (q1.py, q2.py, …).")
    ] = None,
    grade: Annotated[
        list[Path] | None,
        typer.Option(help="Grade files that students saved from the page of a lesson; may be repeated."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a quiz with simulated solutions; the lab asks the same questions for the same seed, except for faults."""
    if grade:
        _grade(grade, as_json)
        return
    if lesson is not None:
        if faults:
            raise DescriptionError(Fault("faults", True, "is not of a lesson", "leave out --faults or --lesson"))
        _lesson(lesson, seed, questions or 1, students, key, otter, out, solutions, as_json)
        return
    for name, value in (("students", students), ("key", key), ("otter", otter)):
        if value is not None:
            raise DescriptionError(Fault(name, str(value), "is for the exercises of a lesson", "add --lesson"))
    questions = questions or N_QUESTIONS
    from diskmodel.explanation import solved_exercises
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


def _lesson(
    lesson: int,
    seed: int,
    n_exercises: int,
    students: str | None,
    key: str | None,
    otter: Path | None,
    out: Path | None,
    solutions: bool | None,
    as_json: bool,
) -> None:
    """Write or print the exercises of a lesson."""
    from diskmodel.lab import class_page, notebook, otter_test, solved_lesson

    numbers = [seed] if students is None else _numbers(students)
    solved = solved_lesson(lesson, numbers[0], n_exercises)
    if out is not None:
        check_place(out, "out", (".html", ".ipynb"))
    elif students is not None or key is not None:
        name = "students" if students is not None else "key"
        raise DescriptionError(Fault(name, None, "is for a page", "name one: --out class.html"))
    if out is not None and out.suffix.lower() == ".ipynb":
        write_text(out, notebook(lesson, numbers[0], n_exercises))
        say(f"wrote {out}: a notebook that nbgrader assigns and grades")
    elif out is not None:
        page = class_page(lesson, numbers, n_exercises, key=key, with_solutions=solutions is not False)
        write_text(out, page)
        say(f"wrote {out}; the exercises of number {numbers[0]}: {out}#student={numbers[0]}")
    if otter is not None:
        otter.mkdir(parents=True, exist_ok=True)
        for n in range(1, n_exercises + 1):
            write_text(otter / f"q{n}.py", otter_test(lesson, n), "otter")
        say(f"wrote {n_exercises} tests for Otter: {otter}")
    if as_json:
        print_json({"lesson": lesson, "seed": numbers[0], "exercises": solved})
    elif out is None:
        for one in solved:
            _say_wrapped(f"{one['number'] + 1}. ", f"{one['question']} ({one['unit']})")
        if solutions:
            typer.echo("\nSolutions")
            for one in solved:
                _say_wrapped(f"{one['number'] + 1}. ", " ".join(one["steps"]))
        elif solutions is None:
            more = f" --questions {n_exercises}" if n_exercises > 1 else ""
            say(f"for the solutions: diskmodel quiz --lesson {lesson} --seed {seed}{more} --solutions")


def _numbers(text: str) -> list[int]:
    """Return the numbers of "1:30"."""
    first, _, last = text.partition(":")
    if not (first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal() and int(first) <= int(last)):
        raise DescriptionError(Fault("students", text, "is not two numbers, the smaller one first", "write 1:30"))
    if int(last) - int(first) >= MAX_STUDENTS:
        fix = "write a page for each group of them"
        raise DescriptionError(Fault("students", text, f"is more than {MAX_STUDENTS} students", fix))
    return list(range(int(first), int(last) + 1))


def _grade(files: list[Path], as_json: bool) -> None:
    """Print the points of each file that was handed in."""
    from diskmodel.formats import read_document
    from diskmodel.lab import grade
    from diskmodel.limits import parse_json

    found = []
    for path in files:
        try:
            handed_in = parse_json(read_document(path))
        except (ValueError, RecursionError):
            handed_in = None
        if not isinstance(handed_in, dict):
            rule = "is not a file of answers"
            raise DescriptionError(Fault("grade", str(path), rule, "hand in what the page of exercises saves"))
        found.append({"file": str(path), **grade(handed_in).to_dict()})
    if as_json:
        print_json({"grades": found})
        return
    for one in found:
        typer.echo(f"{one['file']}: number {one['seed']}, lesson {one['lesson']}: {one['points']} of {one['of']}")
        for number, remark in enumerate(one["remarks"], 1):
            typer.echo(f"  {number}. {remark}")


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
