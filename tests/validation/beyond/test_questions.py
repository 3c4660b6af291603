"""The table of public questions: those that take a second give the answers that it has."""

from __future__ import annotations

import pytest

from tests.validation.beyond.questions import PAGE, QUESTIONS, Question, _in

#: Ceph, and long runs: their like is in the tests of their own pages.
CHEAP = [one for one in QUESTIONS if not any(word in one.command for word in ("ceph", "rook", "proxmox", "0000"))]
BAR = 0.15


@pytest.mark.parametrize("question", CHEAP, ids=lambda one: one.asked[:40])
def test_the_answer_is_that_of_the_page(question: Question) -> None:
    value = question.answered("--only-run-noise")
    (row,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {question.asked} ")]
    assert f"| {_in(value, question.unit)} (" in row
    if "*" not in question.note:
        assert value == pytest.approx(question.measured, rel=BAR)


def test_there_are_twenty_and_each_has_its_row() -> None:
    assert len(QUESTIONS) == 20
    assert len(CHEAP) >= 10
    page = PAGE.read_text()
    assert all(f"| {one.asked} |" in page and one.source in page for one in QUESTIONS)
