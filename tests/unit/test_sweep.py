"""Sweeps: answers in order, in batches that are worth sending, on any executor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from diskmodel import DescriptionError, sweep
from diskmodel.engine.sweep import LEAST_BATCHES, PROBES


def square(number: int) -> int:
    return number * number


class Counting(Executor):
    """Does what is submitted at once, and notes how many questions each task has."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.sizes.append(len(args[1]))
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 1000])
@pytest.mark.parametrize("batch", [None, 1, 7, 5000])
def test_answers_are_in_order_however_they_are_sent(n: int, batch: int | None) -> None:
    assert list(sweep(square, range(n), batch=batch)) == [square(number) for number in range(n)]
    pool = Counting()
    assert list(sweep(square, range(n), executor=pool, batch=batch)) == [square(number) for number in range(n)]
    assert sum(pool.sizes) == n
    assert max(pool.sizes, default=0) <= (batch or max(n // LEAST_BATCHES, 2))


def test_quick_questions_travel_together_and_slow_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = Counting(), Counting()
    list(sweep(square, range(6432), executor=quick))
    assert quick.sizes[:PROBES] == [2] * PROBES
    assert set(quick.sizes[PROBES:-1]) == {6432 // LEAST_BATCHES}
    monkeypatch.setattr("diskmodel.engine.sweep.BATCH_S", 0.0)
    list(sweep(square, range(6432), executor=slow))
    assert set(slow.sizes[PROBES:]) == {1}


def test_batches_of_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(sweep(square, range(100), executor=pool)) == [square(number) for number in range(100)]


def test_a_question_that_fails_is_an_error_in_its_turn_and_the_rest_is_canceled() -> None:
    begun, go_on = list[int](), threading.Event()

    def ask(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise ValueError("two")
        if number > 2:
            go_on.wait(60)
        return number

    with ThreadPoolExecutor(1) as pool:
        answers = sweep(ask, range(100), executor=pool, batch=1)
        assert [next(answers), next(answers)] == [0, 1]
        with pytest.raises(ValueError, match="two"):
            next(answers)
        go_on.set()
    assert len(begun) <= 5


def test_answers_that_nobody_waits_for_are_not_begun() -> None:
    begun, go_on = list[int](), threading.Event()

    def ask(number: int) -> int:
        begun.append(number)
        if number:
            go_on.wait(60)
        return number

    with ThreadPoolExecutor(1) as pool:
        answers = sweep(ask, range(100), executor=pool, batch=1)
        assert next(answers) == 0
        answers.close()  # type: ignore[attr-defined]
        go_on.set()
    assert len(begun) <= 3


@pytest.mark.parametrize("batch", [0, -3])
def test_a_batch_has_a_question_at_least(batch: int) -> None:
    with pytest.raises(DescriptionError, match=rf"batch={batch}: must be at least 1; leave it out"):
        sweep(square, range(3), batch=batch)
