"""The quiz: questions that the user answers before the model computes the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.curves import figures
from diskmodel.lab.quiz_questions import QUESTIONS, Dilemma, Draws, variants
from diskmodel.lab.settings import Arrivals, Settings
from diskmodel.loading import dataclass

#: Requests of each run that decides an answer. Open arrivals need more, because the tail of their queue converges more
#: slowly; with fewer, more answers have an interval that overlaps two choices.
N_REQUESTS: dict[Arrivals, int] = {"outstanding": 30_000, "rate": 200_000}
#: Numbers of questions accepted from the page; only a limit on the input.
MAX_QUESTIONS = 10_000


@dataclass(frozen=True)
class Quiz:
    """One question of the quiz, numbered from 0; the same number and seed give the same question."""

    number: int
    seed: int

    def dilemma(self) -> Dilemma:
        """Return the question.

        Raises
        ------
        DescriptionError
            When the number or the seed is out of range.
        """
        if not 0 <= self.number < MAX_QUESTIONS:
            raise DescriptionError(
                Fault("number", self.number, f"must be 0 to {MAX_QUESTIONS - 1}", "ask for another question")
            )
        if not 0 <= self.seed < 2**32:
            raise DescriptionError(Fault("seed", self.seed, "must be 0 to 4294967295", "use another seed"))
        return QUESTIONS[self.number % len(QUESTIONS)](Draws.of(self.number, self.seed))

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data, without its answer."""
        asked = self.dilemma()
        return {
            "number": self.number,
            "seed": self.seed,
            "setting": asked.setting,
            "question": asked.question,
            "choices": asked.choice_texts(),
        }

    def reveal(self, choice: int, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Simulate the answer, and return it with whether `choice` was right.

        A choice counts as right when the interval of the answer overlaps it. `check` is called before each of the runs;
        what it raises ends them.

        Raises
        ------
        DescriptionError
            When `choice` is out of range.
        """
        asked = self.dilemma()
        if not 0 <= choice <= len(asked.borders):
            raise DescriptionError(
                Fault("choice", choice, f"must be 0 to {len(asked.borders)}", "choose one of the answers")
            )
        runs = []
        for settings in asked.settings:
            check()
            runs.append(_run(settings))
        values = [_value(run, asked.figure) for run in runs]
        low, value, high = _ratio(values) if len(values) == 2 else (values[0][1], values[0][0], values[0][2])
        right = [n for n, (below, above) in enumerate(asked.ranges()) if low < above and high >= below]
        return {
            "is_right": choice in right,
            "right": right,
            "answer": {"value": value, "low": low, "high": high},
            "unit": asked.unit,
            "runs": [
                {"name": name, "figure": asked.figure_text, "value": v[0], "low": v[1], "high": v[2]}
                for name, v in zip(asked.names, values, strict=True)
            ],
            "why": asked.why,
            "settings": asked.settings[-1].to_dict(),
        }


def _run(settings: Settings) -> dict[str, Any]:
    n = N_REQUESTS[settings.arrivals]
    return figures(simulate(settings.array(), settings.workload(), seed=settings.seed, n_requests=n))


def _value(run: dict[str, Any], figure: str) -> tuple[float, float, float]:
    """Return a figure and the ends of its interval; without an interval both ends are the value."""
    found = run[figure]
    value, low, high = found if isinstance(found, list) else (found, None, None)
    if value is None:
        raise RuntimeError(f"a question of the quiz overloads its array: {run}")
    return value, value if low is None else low, value if high is None else high


def _ratio(values: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Return low end, value and high end of the second over the first; errors of independent runs add in squares."""
    (a, a_low, a_high), (b, b_low, b_high) = values
    ratio = b / a
    down = math.hypot((b - b_low) / b, (a_high - a) / a)
    up = math.hypot((b_high - b) / b, (a - a_low) / a)
    return ratio * (1 - down), ratio, ratio * (1 + up)


def quiz_tables() -> list[dict[str, Any]]:
    """Return all that each question can ask as plain data, for a page that simulates the answers itself."""
    return [_question_table(question) for question in QUESTIONS]


def _question_table(question: Callable[[Draws], Dilemma]) -> dict[str, Any]:
    sizes, asked = variants(question)
    return {
        "sizes": sizes,
        "asked": [
            {
                "setting": one.setting,
                "question": one.question,
                "choices": one.choice_texts(),
                "borders": list(one.borders),
                "settings": [settings.to_dict() for settings in one.settings],
                "names": list(one.names),
                "figure": one.figure,
                "figure_text": one.figure_text,
                "unit": one.unit,
                "why": one.why,
            }
            for one in asked
        ],
    }
