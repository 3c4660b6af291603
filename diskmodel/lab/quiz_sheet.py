"""A quiz as a page to print: questions, and their solutions from simulated runs on pages of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from diskmodel.errors import in_page
from diskmodel.lab.quiz import Quiz
from diskmodel.lab.quiz_questions import QUESTIONS
from diskmodel.version import __version__

#: Questions of a quiz unless another number is asked for: one of each kind.
N_QUESTIONS = len(QUESTIONS)


def solved_quiz(seed: int, n_questions: int = N_QUESTIONS) -> list[dict[str, Any]]:
    """Return the questions of a seed with their solutions: the choices that are right, the figures and the reason.

    Raises
    ------
    DescriptionError
        When the seed is out of range.
    """
    solved = []
    for number in range(n_questions):
        quiz = Quiz(number, seed)
        solved.append(quiz.to_dict() | {key: value for key, value in quiz.reveal(0).items() if key != "is_right"})
    return solved


def quiz_sheet(seed: int, solved: Sequence[dict[str, Any]], *, with_solutions: bool = True) -> str:
    """Return the page; `solved` as of `solved_quiz`."""
    loader = PackageLoader("diskmodel.lab", "templates")
    environment = Environment(loader=loader, autoescape=select_autoescape(["j2"]), finalize=in_page)
    template = environment.get_template("quiz_sheet.html.j2")
    questions = [
        one | {"found": f"The model: {found_in_words(one)}", "runs": [_run(run) for run in one.get("runs", ())]}
        for one in solved
    ]
    faults = any("cause" in one for one in solved)
    return template.render(
        seed=seed, questions=questions, with_solutions=with_solutions, faults=faults, version=__version__
    )


def found_in_words(one: dict[str, Any]) -> str:
    """Return the simulated figure of a solved question, with its interval; of a fault to find, how strong it is."""
    if "cause" in one:
        return f"{one['cause']}{', ' if one['strength'] else ''}{one['strength']}"
    answer = _interval(one["answer"])
    return f"× {answer}" if one["unit"] == "times" else f"{answer} {one['unit']}"


def _run(run: dict[str, Any]) -> str:
    return f"{run['name']}: {_interval(run)} {run['figure']}"


def _interval(found: dict[str, Any]) -> str:
    ends = [f"{found[end]:.3g}" for end in ("low", "high")]
    return f"{found['value']:.3g}" + ("" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]})")
