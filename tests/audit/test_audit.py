"""The audit itself: what it calls unsafe, and ten of its questions."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.plan import PlanDescription
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.result.statistics.batches import Interval
from tests.audit.page import Answered, page_of
from tests.audit.questions import KINDS, draw
from tests.audit.verify import Checked, check, verdict_of

LIMIT_MS = 20.0
TOLD: dict[tuple[str, str], Any] = {("latency", "p99"): {"low": 17.0, "high": 19.0, "verdict": "holds"}}


def p99(low: float, high: float) -> Criterion:
    verdict = Verdict.HOLDS if high <= LIMIT_MS else Verdict.FAILS if low > LIMIT_MS else Verdict.UNDECIDED
    return Criterion("latency", "p99", LIMIT_MS, Interval((low + high) / 2, low, high), "ms", True, verdict)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(18.0, 18.5, "true"), (19.9, 20.1, "true"), (20.5, 21.5, "narrowly missed"), (21.5, 22.0, "unsafe")],
)
def test_a_feasible_candidate_may_miss_by_no_more_than_its_interval(low: float, high: float, verdict: str) -> None:
    runs = [("steady", [p99(18.0, 18.2)]), ("empty", [p99(low, high)])]
    assert verdict_of("feasible", TOLD, runs).startswith(verdict)


def test_an_overloaded_array_is_never_feasible() -> None:
    overloaded = Criterion("iops", "overloaded", 500.0, Interval.exact(499.0), "1/s", False, Verdict.FAILS)
    assert verdict_of("feasible", TOLD, [("steady", [overloaded])]).startswith("unsafe: iops overloaded")


def test_an_infeasible_candidate_may_not_meet_the_objective() -> None:
    assert verdict_of("infeasible", TOLD, [("steady", [p99(19.0, 19.5)])]).startswith("unsafe")
    assert verdict_of("infeasible", TOLD, [("steady", [p99(19.0, 19.5)]), ("full", [p99(20.5, 21.0)])]) == "true"
    too_small: dict[tuple[str, str], Any] = {("capacity", "usable"): {"verdict": "fails"}}
    assert verdict_of("infeasible", too_small, [("steady", [p99(19.0, 19.5)])]) == "true"


def test_runs_that_have_not_settled_say_nothing() -> None:
    assert verdict_of("feasible", TOLD, [("empty", [])]) == "not checked: no run settled"


def test_every_kind_of_question_is_drawn_and_is_a_plan() -> None:
    questions = [draw(1, number) for number in range(100)]
    assert {question.kind for question in questions} == set(KINDS)
    for question in questions:
        assert PlanDescription.parse(question.plan).name.startswith("audit 1/")
    assert draw(1, 7) == draw(1, 7)
    assert draw(1, 7).plan != draw(2, 7).plan


def test_the_page_counts_what_was_found() -> None:
    good = Checked("A", "raid5", 5, "feasible", "true")
    bad = Checked("B", "raid10", 4, "infeasible", "unsafe: it meets the objective")
    skipped = Checked("C", "raid6", 9, "undecided", "not checked: the plan claims nothing")
    answers = [Answered(3, 0, "disks", [good, skipped]), Answered(4, 0, "flash", [bad])]
    text = page_of(answers, requests=2_000_000, overload=100_000, missed=200_000)
    assert "`make audit QUESTIONS=1 SEED=3` and `make audit QUESTIONS=1 SEED=4`: 2 questions, 3 candidates" in text
    assert "2 of them checked, **1 unsafe**." in text
    assert "| disks | 1 | 2 | 1 | 1 | 0 | 1 | 0 | 0 |" in text
    assert "| all | 2 | 3 | 2 | 1 | 1 | 1 | 0 | 1 |" in text
    assert "| 4, 0 | flash | 4 x B, raid10 | infeasible | unsafe: it meets the objective |" in text


#: Questions of every kind that take little time.
CHEAP = (0, 2, 3, 6, 7, 11, 12, 13, 15, 18)


@pytest.mark.slow
@pytest.mark.parametrize("number", CHEAP)
def test_answers_are_confirmed_by_longer_runs_from_other_starts(number: int) -> None:
    found = check(draw(1, number).plan, n_requests=60_000)
    assert found
    assert not [item for item in found if item.is_unsafe]
    assert any(item.verdict == "true" for item in found)
