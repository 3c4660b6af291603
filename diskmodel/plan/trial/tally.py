"""Counting the simulations that an answer takes."""

from __future__ import annotations

import threading
import time

from diskmodel.array import Array
from diskmodel.plan.answer.effort import Effort
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.workload import Workload


class Tally:
    """Evaluates with another evaluation, and counts what that simulates. Threads may share one.

    Attributes
    ----------
    evaluate : Evaluate
        It may be a tally itself, which then counts the same.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self._effort = Effort()
        self._lock = threading.Lock()

    @property
    def effort(self) -> Effort:
        """Everything so far."""
        return self._effort

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of the other evaluation. The rule of thumb simulates nothing."""
        began_s = time.thread_time()
        outcome = self.evaluate(array, workload, n_requests=n_requests, seed=seed)
        if outcome.method != "rule":
            simulated = Effort(1, max(outcome.n_simulated, outcome.n_requests), time.thread_time() - began_s)
            with self._lock:
                self._effort += simulated
        return outcome

    def add(self, effort: Effort) -> None:
        """Count what was simulated without the evaluation: replays of a trace."""
        with self._lock:
            self._effort += effort
        if isinstance(self.evaluate, Tally):
            self.evaluate.add(effort)
