"""Evaluations of which none needs another's outcome, on all processors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from diskmodel.engine.threads import Threads
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation


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
