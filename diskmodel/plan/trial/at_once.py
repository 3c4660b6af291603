"""Evaluations of which none needs another's outcome, on all processors or on those of a cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, TypeVar

from diskmodel.engine import Threads
from diskmodel.engine.ledger import current, elsewhere
from diskmodel.engine.sweep import sweep
from diskmodel.engine.threads import mapped
from diskmodel.plan.answer.effort import Effort
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation

T = TypeVar("T")
R = TypeVar("R")

#: Processor time that is sent to an executor at a time, seconds. A task of a cluster costs 4 to 5 ms beside its work.
#: At half that is a sixth; at double, a draw of ten milliseconds has two of sixteen workers.
TASK_S = 0.05


def at_once(evaluate: Evaluate) -> Executor:
    """Return an executor for work that evaluates arrays, and may itself divide its work like this.

    It has a thread for each processor where the kernel simulates, which needs no interpreter; otherwise it does
    everything in the calling thread, as it is submitted. A `with` block of the evaluation within that of the executor
    ends the work of all threads when it ends with an error (`Evaluation`).
    """
    if Evaluation.of(evaluate).is_native:
        return Threads()
    return _InTurn()


class _InTurn(Executor):
    """Does what is submitted before it returns."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # for who asks for the result
            future.set_exception(error)
        return future

    def map(
        self, fn: Callable[..., R], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[R]:
        return iter(mapped(self, fn, *iterables))


def counted(work: Callable[[Evaluate, T], R], evaluate: Evaluate, item: T) -> tuple[R, Effort]:
    """Return what work makes of an item, and what was simulated for it; on any machine."""
    own = Evaluation.apart(evaluate)
    return work(own, item), own.effort


def each(evaluate: Evaluate, work: Callable[[Evaluate, T], R], items: Sequence[T]) -> list[R]:
    """Return what work makes of each item, by one run: on the evaluation's executor if it has one, else as `at_once`.

    Parameters
    ----------
    evaluate : Evaluate
        What was evaluated with it before is taken to have lasted as long as an item does.
    work : callable
        A function of an evaluation and an item, and both, can be pickled where there is an executor.
    items : sequence
    """
    whole = Evaluation.of(evaluate)
    if whole.executor is None:
        with at_once(evaluate) as pool:
            return mapped(pool, partial(work, evaluate), items, are_runs=True)
    known = whole.effort
    batch = math.ceil(TASK_S * known.n_runs / known.processor_s) if known.processor_s else 1
    found, account = [], current()
    (part,) = account.parts(len(items), are_runs=True)[:1] or [account]
    job = partial(elsewhere, part.budget_s, part.n_ahead, counted, work, Evaluation.apart(whole))
    for done in sweep(job, items, executor=whole.executor, batch=batch):
        result, effort = done.settled(account)
        whole.add(effort)
        found.append(result)
    return found
