"""The exercise of a lesson for a student: the same lesson, number and seed draw the same one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.exercises import arrays, disks
from diskmodel.lab.exercises.draw import Task
from diskmodel.lab.quiz_questions import Draws
from diskmodel.loading import dataclass

#: What is drawn for each lesson, in their order.
LESSONS: tuple[Callable[[Draws], Task], ...] = (
    disks.random_reads,
    disks.outer_part,
    disks.schedulers,
    disks.queue,
    arrays.parity_write,
    arrays.cache_hits,
    disks.read_ahead,
    disks.flash,
    arrays.sizing,
    arrays.unreadable,
    arrays.pages,
    arrays.wrong_model,
    arrays.commits,
    arrays.pool_space,
    arrays.cloud_limit,
)
#: Exercises of a lesson and a seed; only a limit on the input.
MAX_EXERCISES = 1000


@dataclass(frozen=True)
class Drawn:
    """One exercise of a lesson, numbered from 0.

    Attributes
    ----------
    lesson : int
        From 1 on.
    number, seed : int
        The seed is the student's number.
    """

    lesson: int
    number: int
    seed: int

    def task(self) -> Task:
        """Return the exercise with its solution.

        Raises
        ------
        DescriptionError
            When the lesson, the number or the seed is out of range.
        """
        limits = (
            ("lesson", self.lesson, 1, len(LESSONS)),
            ("number", self.number, 0, MAX_EXERCISES - 1),
            ("seed", self.seed, 0, 2**32 - 1),
        )
        for name, value, low, high in limits:
            if not low <= value <= high:
                raise DescriptionError(Fault(name, value, f"must be {low} to {high}", "use another one"))
        return _task(self.lesson, self.number, self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the exercise as plain data, without its answer."""
        task = self.task()
        own = {"lesson": self.lesson, "number": self.number, "seed": self.seed}
        return own | {"question": task.question, "unit": task.unit, "link": task.link}

    def solution(self) -> dict[str, Any]:
        """Return the answer, its tolerance and the worked solution as plain data."""
        task = self.task()
        return {"answer": task.answer, "within": task.within, "steps": list(task.steps)}


@lru_cache(maxsize=4096)
def _task(lesson: int, number: int, seed: int) -> Task:
    return LESSONS[lesson - 1](Draws.of(lesson * MAX_EXERCISES + number, seed))


def drawn_exercise(lesson: int, number: int, seed: int) -> dict[str, Any]:
    """Return an exercise with its solution."""
    one = Drawn(lesson, number, seed)
    return one.to_dict() | one.solution()


def solved_lesson(lesson: int, seed: int, n_exercises: int) -> list[dict[str, Any]]:
    """Return the exercises of a lesson for a student with their solutions."""
    return [drawn_exercise(lesson, number, seed) for number in range(n_exercises)]
