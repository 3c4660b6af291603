"""Grading of drawn exercises: in a notebook's tests, and of files that students hand in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.exercises.draw import digits
from diskmodel.lab.exercises.drawn import Drawn
from diskmodel.loading import dataclass

#: Half a unit of the third digit: answers may be rounded to so many.
_ROUNDING = 0.005


@dataclass(frozen=True)
class Grade:
    """What a student's answers are worth.

    Attributes
    ----------
    lesson, seed : int
    points, of : int
    remarks : tuple of str
        One for each exercise.
    """

    lesson: int
    seed: int
    points: int
    of: int
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        own = {"lesson": self.lesson, "seed": self.seed, "points": self.points, "of": self.of}
        return own | {"remarks": list(self.remarks)}


def is_right(lesson: int, number: int, seed: int, answer: float) -> bool:
    """Return whether an answer is within the exercise's tolerance, or rounded to three digits."""
    task = Drawn(lesson, number, seed).task()
    if not isinstance(answer, int | float) or isinstance(answer, bool) or not math.isfinite(answer):
        return False
    slack = max(task.within, _ROUNDING if task.within else 0.0)
    return abs(answer - task.answer) <= slack * abs(task.answer) + 1e-9


def check(lesson: int, seed: int, answers: Sequence[float | None], *, first: int = 0) -> None:
    """Raise an AssertionError that names the first wrong answer: for the tests of nbgrader and Otter.

    Parameters
    ----------
    lesson, seed : int
        The seed is the student's number.
    answers : sequence of float
        None: no answer.
    first : int
        Number of the exercise that the first of them answers, from 0 on.
    """
    for number, given in enumerate(answers, first):
        unit = Drawn(lesson, number, seed).task().unit
        assert given is not None, f"exercise {number + 1} has no answer"
        assert is_right(lesson, number, seed, given), f"exercise {number + 1}: {given} {unit} is not right"


def grade(handed_in: Mapping[str, Any]) -> Grade:
    """Return the points of what a student hands in: {"lesson", "seed", "answers": [numbers or null]}.

    Raises
    ------
    DescriptionError
        When a field is missing or has another type.
    """
    lesson, seed, answers = (handed_in.get(key) for key in ("lesson", "seed", "answers"))
    for name, value, kind in (("lesson", lesson, int), ("seed", seed, int), ("answers", answers, list)):
        if not isinstance(value, kind) or isinstance(value, bool):
            rule = "must be a list of numbers" if kind is list else "must be a whole number"
            raise DescriptionError(Fault(name, value, rule, "hand in the file that the page of exercises saves"))
    assert isinstance(lesson, int)
    assert isinstance(seed, int)
    assert isinstance(answers, list)
    remarks = []
    points = 0
    for number, given in enumerate(answers):
        task = Drawn(lesson, number, seed).task()
        right = given is not None and is_right(lesson, number, seed, given)
        points += right
        said = "no answer" if given is None else f"{given} {task.unit}"
        remarks.append(f"{said}: {'right' if right else f'not right, it is {digits(task.answer)}'}")
    return Grade(lesson, seed, points, len(answers), tuple(remarks))
