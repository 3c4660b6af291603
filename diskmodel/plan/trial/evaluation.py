"""Evaluating arrays: by simulation or by the rule of thumb, with outcomes remembered and counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Mapping
from concurrent.futures import CancelledError, Executor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from diskmodel.array import Array
from diskmodel.engine.steady.shared import Like
from diskmodel.plan.answer.effort import Effort
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.memory import Memory
from diskmodel.plan.trial.rule_of_thumb import Counted
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload


class Evaluate(Protocol):
    """Evaluates arrays; the same input gives the same outcome."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of `n_requests` requests of a workload on an array."""
        ...


class Evaluation:
    """Evaluates arrays with a method and counts what that simulates, until a `with` block of it ends with an error.

    Ctrl-C reaches the main thread only, which then waits for the run that each other thread is at, and not for their
    whole searches. Threads may share an evaluation. Sent to another process, it begins to count anew.

    Parameters
    ----------
    method : Evaluate
        What evaluates in the end: `Simulated`, `Counted`, or any other function.
    memory : path, optional
        File that keeps every outcome, and from which an outcome of the same input is taken.

    Attributes
    ----------
    executor : concurrent.futures.Executor or None
        Whose workers share evaluations of which none needs another's outcome (`diskmodel.plan.trial.at_once.each`). It
        is not sent with the evaluation: there it would wait for itself.
    remembered : dict
        What was made of outcomes and may be asked for again, by what it was made of; parts of an evaluation share it.
    """

    def __init__(self, method: Evaluate, *, memory: str | Path | None = None) -> None:
        self.method = method
        self.executor: Executor | None = None
        self._memory = None if memory is None else Memory(str(memory))
        self._begin(whole=None)

    def _begin(self, whole: Evaluation | None) -> None:
        self._whole = whole
        self._stopped: threading.Event = threading.Event() if whole is None else whole._stopped
        self.remembered: dict[Hashable, Any] = {} if whole is None else whole.remembered
        self._lock = threading.Lock()
        self._effort = Effort()

    def __getstate__(self) -> dict[str, Any]:
        return {"method": self.method, "_memory": self._memory}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self.executor = None
        self._begin(whole=None)

    @classmethod
    def of(cls, evaluate: Evaluate) -> Evaluation:
        """Return an evaluation as it is, and any other method as one without memory."""
        return evaluate if isinstance(evaluate, Evaluation) else cls(evaluate)

    @classmethod
    def part(cls, evaluate: Evaluate) -> Evaluation:
        """Return an evaluation with a count of its own; what it counts, `evaluate` counts as well."""
        whole = cls.of(evaluate)
        part = cls(whole.method)
        part._memory, part.executor = whole._memory, whole.executor
        part._begin(whole)
        return part

    @classmethod
    def apart(cls, evaluate: Evaluate) -> Evaluation:
        """Return an evaluation for work elsewhere: what it counts is added by who asked for it, and it ends with it."""
        whole = cls.of(evaluate)
        apart = cls(whole.method)
        apart._memory, apart._stopped = whole._memory, whole._stopped
        return apart

    @classmethod
    def of_ratios(cls, evaluate: Evaluate) -> Evaluation:
        """Return a part of an evaluation for figures that are compared with each other, without their intervals."""
        part = cls.part(evaluate)
        if type(part.method) is Simulated:
            part.method = replace(part.method, with_angles=False)
        return part

    @classmethod
    def of_arrays_like(cls, evaluate: Evaluate, like: Like) -> Evaluation:
        """Return a part of an evaluation for arrays that differ little from another one."""
        part = cls.part(evaluate)
        if type(part.method) is Simulated:
            part.method = replace(part.method, like=like)
        return part

    def prepare(self, like: Like, workload: Workload, n_requests: int, seed: int) -> None:
        """Find what runs of arrays like one begin with, before some are made at the same time in this process.

        Whichever of them found it first would have paid for all.
        """
        if self.executor is None and type(self.method) is Simulated:
            self.method.prepare(like, workload, n_requests=n_requests, seed=seed)

    @property
    def is_simulated(self) -> bool:
        """Whether an engine simulates the arrays."""
        return isinstance(self.method, Simulated)

    @property
    def is_native(self) -> bool:
        """Whether the kernel may simulate the arrays, which needs no interpreter meanwhile."""
        return isinstance(self.method, Simulated) and self.method.engine != "simpy"

    @property
    def effort(self) -> Effort:
        """Everything that was simulated so far."""
        return self._effort

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the remembered outcome, or a new one. The rule of thumb simulates nothing.

        Raises
        ------
        CancelledError
            After the end.
        """
        if self._stopped.is_set():
            raise CancelledError
        began_s = time.thread_time()
        if self._memory is None:
            outcome = self.method(array, workload, n_requests=n_requests, seed=seed)
        else:
            outcome = self._memory.outcome(self.method, array, workload, n_requests=n_requests, seed=seed)
        if outcome.method != "rule":
            self.add(Effort(1, max(outcome.n_simulated, outcome.n_requests), time.thread_time() - began_s))
        return outcome

    def add(self, effort: Effort) -> None:
        """Count a simulation; also what was simulated without the evaluation: replays of a trace."""
        with self._lock:
            self._effort += effort
        if self._whole is not None:
            self._whole.add(effort)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stopped.set()


def evaluator(plan: PlanDescription) -> Evaluate:
    """Return what a plan asks to be evaluated with."""
    if plan.search.method == "rule":
        return Counted(plan.objective.design_iops)
    return Simulated(plan.search.engine)
