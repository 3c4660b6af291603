"""The audit of chances: what it counts as kept, and its page."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.audit.chances import N_TRUTHS, Chance, at_most, page_of


def chance(number: int, stated: float, holding: int, asked: float = 0.9) -> Chance:
    missed = {"latency": N_TRUTHS - holding} if holding < N_TRUTHS else {}
    return Chance(number, "bursts", "6 x one, raid5", asked, stated, N_TRUTHS, holding, missed)


def test_at_most_is_a_sum_of_binomials() -> None:
    assert at_most(N_TRUTHS, N_TRUTHS, 0.9) == 1.0
    assert math.isclose(at_most(0, 2, 0.5), 0.25)


def test_too_few_truths_are_a_promise_that_is_not_kept() -> None:
    assert chance(0, 0.94, 26).promises_too_much
    assert not chance(0, 0.94, 34).promises_too_much
    assert not chance(0, 0.5, 20).promises_too_much  # nothing was promised
    assert chance(0, 0.5, 17).holds_what_is_stated
    assert not chance(0, 0.5, 8).holds_what_is_stated
    assert chance(0, 1.0, 38).holds_what_is_stated  # of 16 draws none missed the objective


def test_the_page_says_how_many_more_disks_the_chance_takes() -> None:
    sure = [replace(chance(n, 0.94, 38), disks=disks, as_described=4) for n, disks in enumerate((4, 6, 8))]
    text = " ".join(page_of([*sure, replace(Chance(3, "disks"), as_described=5)], seed=7).split())
    assert "Of 4 questions that have an answer if everything is as described, 3 (75%) have one" in text
    assert "with 1.5 times as many disks at the median" in text


def test_the_page_counts_answers_by_what_they_state() -> None:
    text = page_of([chance(0, 0.94, 38), chance(1, 1.0, 36), chance(2, 0.5, 10), Chance(3, "disks")], seed=7)
    assert max(map(len, text.splitlines())) <= 120
    text = " ".join(text.split())
    assert "4 questions; 3 answers have a chance, and 2 of them one as high as was asked for" in text
    assert "of 2 answers at least as many as were asked for" in text
    assert "Of all 3 answers, 1 have at least the share that they state" in text
    assert "--questions 4 --seed 7" in text
