"""Working on several families of a plan at the same time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, Self

from diskmodel.engine import Threads, native, on_account, resolve
from diskmodel.engine.ledger import current, elsewhere
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.signals import whole

#: Pools of our own to try in all: a process may be killed, for example for lack of memory.
ATTEMPTS = 3

#: Families that are searched before the next ones get what these have left of the question's computing time. At half,
#: processors wait more often for the last of a few; at double, each may take half as much.
_FAMILIES_AT_ONCE = 16

#: Work on one family: its case, the evaluation, and the candidate so far, if there is one.
Job = Callable[[Case, Evaluate, Candidate | None], Candidate]

#: Called with the number of families searched, the number of all, and the candidate just found.
Progress = Callable[[int, int, Candidate], None]

#: Called with the best candidate so far, None where there is none, and what is still open.
SoFar = Callable[[Candidate | None, str], None]


class _Processes(ProcessPoolExecutor):
    """Processes that end without a word when a signal ends the plan, even while they start."""

    @whole
    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call, for which a process may be started.

        A process that is cut off from what it should read first prints a traceback, and so does one that Ctrl-C meets
        while it loads: a terminal sends it to all. Ours do not get it; `_stop` ends them.
        """
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(function, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().submit(function, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def local_pool(asked: Sequence[Case]) -> Executor:
    """Return a pool on this machine: threads where the native kernel runs (it releases the GIL), else processes."""
    workers = max(1, min(os.cpu_count() or 1, len(asked)))
    if all(_is_native(case) for case in asked):
        return Threads(workers)
    return _Processes(workers, mp_context=get_context("spawn"))


def _is_native(case: Case) -> bool:
    if case.search.engine == "simpy":
        return False
    if not case.counts:
        return True
    array, seed = case.array(case.counts[-1]), case.search.seed
    space = max(array.usable_bytes, case.required_bytes)  # the kernel does not care where requests are
    requests = case.workload.requests(capacity_bytes=space, n=16, seed=seed)
    return native.covers(resolve(array, seed), requests) is None


def _stop(pool: Executor | None) -> None:
    """End what a pool of our own is doing: nobody waits for it any more."""
    if isinstance(pool, Threads):
        pool.stop()
    elif isinstance(pool, ProcessPoolExecutor):
        for process in list((pool._processes or {}).values()):
            process.kill()  # one that began after SIGTERM came to this process ignores that, too


class Workers:
    """Works on the families of a plan, several at the same time.

    Parameters
    ----------
    asked : sequence of Case
        All families.
    evaluate : Evaluate
    executor : concurrent.futures.Executor, optional
        Default: a pool on this machine, where something is simulated. It is closed when the `with` block ends.
    """

    def __init__(self, asked: Sequence[Case], evaluate: Evaluate, executor: Executor | None) -> None:
        self.asked, self.evaluate, self.executor = asked, evaluate, executor
        self._is_alone = executor is None and (len(asked) == 1 or not Evaluation.of(evaluate).is_simulated)
        self._own: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, Exception):
            self._close()
            return
        _stop(self._own)
        # a signal may have come while a pool started its own thread, which cannot be joined then
        with suppress(RuntimeError):
            self._close()

    def work(
        self, job: Job, candidates: Mapping[int, Candidate | None], progress: Progress | None = None
    ) -> dict[int, Candidate]:
        """Return what a job makes of some candidates, by the number of their family.

        Parameters
        ----------
        job : callable
        candidates : mapping of int to Candidate or None
        progress : callable or None
            Called in this thread after each.
        """
        done: dict[int, Candidate] = {}
        if self._is_alone or (self.executor is None and len(candidates) == 1):
            # in the same parts as elsewhere
            numbers, account = list(candidates), current()
            for first in range(0, len(numbers), _FAMILIES_AT_ONCE):
                some = numbers[first : first + _FAMILIES_AT_ONCE]
                parts = account.parts(len(some), len(numbers) - first)
                for part, i in zip(parts, some, strict=True):
                    with on_account(part):
                        done[i] = job(self.asked[i], self.evaluate, candidates[i])
                    if progress:
                        progress(len(done), len(candidates), done[i])
                account.settle(parts)
            return done
        for attempt in range(ATTEMPTS):
            try:
                self._gather(job, candidates, done, progress)
                break
            except BrokenExecutor:  # a process of our own pool was killed: a new pool does the rest
                self._close()
                if self.executor is not None or attempt == ATTEMPTS - 1:
                    raise
        return {i: done[i] for i in candidates}

    def _gather(
        self,
        job: Job,
        candidates: Mapping[int, Candidate | None],
        done: dict[int, Candidate],
        progress: Progress | None,
    ) -> None:
        """Add the candidates that are missing from `done` as they end.

        A few at a time: what they have not taken of the question's time is left for the next ones.
        """
        pool = self.executor
        if pool is None:
            pool = self._own = self._own or local_pool(self.asked)
        missing = [i for i in candidates if i not in done]
        account = current()
        for first in range(0, len(missing), _FAMILIES_AT_ONCE):
            some = missing[first : first + _FAMILIES_AT_ONCE]
            parts = account.parts(len(some), len(missing) - first)
            futures = {
                pool.submit(elsewhere, part.budget_s, part.n_ahead, job, self.asked[i], self.evaluate, candidates[i]): i
                for part, i in zip(parts, some, strict=True)
            }
            for future in as_completed(futures):
                done[futures[future]] = future.result().settled(account)
                if progress:
                    progress(len(done), len(candidates), done[futures[future]])

    def _close(self) -> None:
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)
            self._own = None
