"""Find the fault: the same seed draws the same exercise, and its cause is one of the choices."""

from __future__ import annotations

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.exercise import Exercise
from diskmodel.lab.quiz_sheet import quiz_sheet


@pytest.fixture(scope="module")
def solved() -> dict[str, object]:
    return Exercise(0, 1).solved()


def test_the_right_choice_is_the_cause(solved: dict[str, object]) -> None:
    choices, right = solved["choices"], solved["right"]
    assert isinstance(choices, list)
    assert isinstance(right, list)
    assert len(choices) == len(set(choices)) == 4
    assert choices[right[0]] == CAUSES[str(solved["cause"])].title


def test_the_cause_shows(solved: dict[str, object]) -> None:
    rows = solved["figures"]
    assert isinstance(rows, list)
    assert any(not 0.75 < row["measured"]["iops"] / row["expected"]["iops"] < 1.33 for row in rows)


def test_the_same_seed_draws_the_same(solved: dict[str, object]) -> None:
    assert Exercise(0, 1).solved() == solved


def test_it_is_printed_like_a_quiz(solved: dict[str, object]) -> None:
    page = quiz_sheet(1, [solved])
    assert "What is the cause?" in page
    assert str(solved["cause"]) in page
    assert "--seed 1 --faults" in page


def test_a_seed_out_of_range_is_refused() -> None:
    with pytest.raises(DescriptionError, match="seed"):
        Exercise(0, -1).solved()
