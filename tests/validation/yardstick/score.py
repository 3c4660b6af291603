"""How good answers are: error of a figure, share of figures that are nearly right, and what intervals are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.validation.coverage.score import interval_score
from tests.validation.yardstick.answers import Answers
from tests.validation.yardstick.questions import Question, statistics_of

#: A figure is right within this share, and badly wrong from this factor on.
NEAR, FAR = 0.10, 2.0


@dataclass(frozen=True)
class Score:
    """Of a predictor on a group of questions.

    Attributes
    ----------
    n_asked, n_answered : int
        Figures: statistics of questions.
    median_error : float
        Median of the relative error, of those answered.
    near, far : float
        Share of those answered within 10 %, and of those that are wrong by a factor of two or more.
    n_intervals, n_inside : int
        Answers with a 95 % interval, and of these the ones that contain the figure.
    interval_score : float
        Mean of the interval score of the logarithm (Gneiting and Raftery 2007, section 6.2): the width, and forty
        times the distance of a figure that lies outside; the smaller the better. NaN without intervals.
    """

    n_asked: int
    n_answered: int
    median_error: float
    near: float
    far: float
    n_intervals: int
    n_inside: int
    interval_score: float


def score(asked: Iterable[Question], answers: Answers) -> Score:
    """Return the score of a predictor on these questions."""
    figures = [(item.id, name, item.measured[name]) for item in asked for name in statistics_of(item)]
    pairs = [(true, answers[asked, name]) for asked, name, true in figures if (asked, name) in answers]
    factors = np.array([found.value / true for true, found in pairs])
    bounded = [
        (true, found.low, found.high) for true, found in pairs if found.low is not None and found.high is not None
    ]
    n_inside = sum(low <= true <= high for true, low, high in bounded)
    return Score(
        n_asked=len(figures),
        n_answered=len(pairs),
        median_error=_of(np.abs(factors - 1), np.median),
        near=_of(np.abs(factors - 1) <= NEAR, np.mean),
        far=_of(np.maximum(factors, 1 / factors) >= FAR, np.mean),
        n_intervals=len(bounded),
        n_inside=n_inside,
        interval_score=_of(np.array([interval_score(*item) for item in bounded]), np.mean),
    )


def _of(values: np.ndarray, statistic: Callable[[np.ndarray], np.floating]) -> float:
    return float(statistic(values)) if len(values) else math.nan


def table(asked: Sequence[Question], answers: dict[str, Answers]) -> str:
    """Return the scores of predictors, by name, as a Markdown table."""
    lines = [
        "| predictor | answered | median error | within 10 % | off by 2 and more | inside 95 % | interval score |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, known in answers.items():
        got = score(asked, known)
        intervals = ("–", "–")
        if got.n_intervals:
            intervals = (f"{got.n_inside} of {got.n_intervals}", f"{got.interval_score:.2f}")
        shares = (f"{100 * share:.0f} %" if got.n_answered else "–" for share in (got.median_error, got.near, got.far))
        cells = (name, f"{got.n_answered} of {got.n_asked}", *shares, *intervals)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
