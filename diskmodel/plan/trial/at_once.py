"""Evaluations of which none needs another's outcome, on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any
from weakref import WeakSet

from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.simulated import Simulated


def at_once(evaluate: Evaluate) -> Executor:
    """Return an executor for work that evaluates arrays, and may itself divide its work like this.

    It has a thread for each processor where the kernel simulates, which needs no interpreter; otherwise it does
    everything in the calling thread, as it is submitted. When the `with` block ends with an error, what has not begun
    is left undone.
    """
    inner = getattr(evaluate, "evaluate", evaluate)  # of one that keeps outcomes in a file
    if isinstance(inner, Simulated) and inner.engine != "simpy":
        return _Threads(os.cpu_count() or 1)
    return _InTurn()


class _Threads(ThreadPoolExecutor):
    """Threads that leave what has not begun undone after an error."""

    def __init__(self, n_threads: int) -> None:
        super().__init__(n_threads)
        _LIVE.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.shutdown(cancel_futures=True)
        elif error is not None:
            # Ctrl-C reaches the main thread only, which would wait for all that the others still divide
            for pool in list(_LIVE):
                pool.shutdown(wait=False, cancel_futures=True)
        self.shutdown()


_LIVE: WeakSet[_Threads] = WeakSet()


class _InTurn(Executor):
    """Does what is submitted before it returns."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # for who asks for the result
            future.set_exception(error)
        return future
