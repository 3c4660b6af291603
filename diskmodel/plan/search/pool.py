"""Searching all families of a plan, several at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing import get_context

from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.question.case import Case
from diskmodel.plan.search.complete import completed
from diskmodel.plan.search.evaluation import Evaluate
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.search.memory import Remembered
from diskmodel.plan.search.simulated import Simulated

#: Pools of our own to try in all: a process may be killed, for example for lack of memory.
ATTEMPTS = 3


#: Called with the number of families searched, the number of all, and the candidate just found.
Progress = Callable[[int, int, Candidate], None]


def local_pool(asked: Sequence[Case]) -> Executor:
    """Return a pool on this machine: threads where the native kernel runs (it releases the GIL), else processes."""
    workers = max(1, min(os.cpu_count() or 1, len(asked)))
    if all(_is_native(case) for case in asked):
        return ThreadPoolExecutor(workers)
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _is_native(case: Case) -> bool:
    if case.search.engine == "simpy":
        return False
    if not case.counts:
        return True
    array, seed = case.array(case.counts[-1]), case.search.seed
    space = max(array.usable_bytes, case.required_bytes)  # the kernel does not care where requests are
    requests = case.workload.requests(capacity_bytes=space, n=16, seed=seed)
    return native.covers(resolve(array, seed), requests) is None


def search_all(
    asked: Sequence[Case], evaluate: Evaluate, executor: Executor | None, progress: Progress | None
) -> list[Candidate]:
    """Return the candidate of every case, in the same order.

    Parameters
    ----------
    asked : sequence of Case
    evaluate : Evaluate
    executor : concurrent.futures.Executor or None
        None: a pool on this machine, where something is simulated.
    progress : callable or None
        Called in this thread after each case.
    """
    inner = evaluate.evaluate if isinstance(evaluate, Remembered) else evaluate
    is_simulated = isinstance(inner, Simulated)
    if executor is None and (len(asked) == 1 or not is_simulated):
        found = []
        for case in asked:
            found.append(_answer(case, evaluate))
            if progress:
                progress(len(found), len(asked), found[-1])
        return found
    done: dict[int, Candidate] = {}
    for attempt in range(ATTEMPTS):
        pool = executor if executor is not None else local_pool(asked)
        try:
            _gather(evaluate, pool, asked, done, progress)
            break
        except BrokenExecutor:  # a process of our own pool was killed: a new pool does the rest
            if executor is not None or attempt == ATTEMPTS - 1:
                raise
        finally:
            if executor is None:
                pool.shutdown(cancel_futures=True)
    return [done[i] for i in range(len(asked))]


def _answer(case: Case, evaluate: Evaluate) -> Candidate:
    return completed(search_family(case, evaluate), case, evaluate)


def _gather(
    evaluate: Evaluate,
    pool: Executor,
    asked: Sequence[Case],
    done: dict[int, Candidate],
    progress: Progress | None,
) -> None:
    """Add the candidates that are missing from `done` as their searches end."""
    futures = {pool.submit(_answer, case, evaluate): i for i, case in enumerate(asked) if i not in done}
    for future in as_completed(futures):
        done[futures[future]] = future.result()
        if progress:
            progress(len(done), len(asked), done[futures[future]])
