"""Ending work that other threads still do."""

from __future__ import annotations

from concurrent.futures import CancelledError
from types import TracebackType
from typing import Self

from diskmodel.array import Array
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.workload import Workload


class Stoppable:
    """Evaluates with another evaluation until a `with` block of it ends with an error, or with Ctrl-C.

    Ctrl-C reaches the main thread only. Without this it would wait for the searches that other threads are at; with it,
    only for the run that each of them is at.

    Attributes
    ----------
    evaluate : Evaluate
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self._is_stopped = False

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of the other evaluation.

        Raises
        ------
        CancelledError
            After the end.
        """
        if self._is_stopped:
            raise CancelledError
        return self.evaluate(array, workload, n_requests=n_requests, seed=seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_stopped = self._is_stopped or error is not None
