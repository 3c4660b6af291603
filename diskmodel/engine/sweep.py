"""Asking many questions with an executor, in batches that are worth sending."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from typing import TypeVar

from diskmodel.engine.threads import Threads
from diskmodel.errors import DescriptionError, Fault

Q = TypeVar("Q")
A = TypeVar("A")

#: Seconds that a worker takes for a batch. A task on a cluster costs 4 to 5 ms of processor time beside the work, a
#: third of it in the scheduler, which all workers share (`benchmarks/bench_cluster.py`). At half, that is 2 % instead
#: of 1; at double, the workers that are ready first wait twice as long for the last batch.
BATCH_S = 0.5
#: Batches to divide a sweep into at least, so that eight workers get four each however quick the questions are. At
#: half, the last of four workers may leave the others idle for a quarter of the time; at double, tasks take 6 % of a
#: sweep of 2,500 questions.
LEAST_BATCHES = 32
#: Batches of two questions that are sent first, to see how long the second takes; the first may load modules. With
#: half, of sixteen workers eight wait for that before they load them; with double, it costs 32 tasks.
PROBES = 16


def sweep(
    ask: Callable[[Q], A],
    questions: Iterable[Q],
    *,
    executor: Executor | None = None,
    batch: int | None = None,
) -> Iterator[A]:
    """Return the answers to many questions, in their order, as they come.

    Parameters
    ----------
    ask : callable
        Answers one question. Processes need one that can be pickled.
    questions : iterable
    executor : concurrent.futures.Executor, optional
        Default: a thread for each processor.
    batch : int, optional
        Questions that are sent at a time, at least 1; default: as many as take half a second, but not more than a 32nd
        of all.

    Returns
    -------
    iterator
        Without a batch that is given, the first 32 questions show how large batches have to be. If one question
        fails, its error is raised in its turn, and what is not yet answered is canceled.

    Raises
    ------
    DescriptionError
        When `batch` is less than 1.

    Examples
    --------
    >>> from diskmodel import Array, Workload, simulate, sweep
    >>> workload = Workload.parse({"size": "8 KiB", "clients": 8})
    >>> def iops(disks):
    ...     array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": disks}})
    ...     return simulate(array, workload, n_requests=2000, seed=7).iops.mean
    >>> rates = list(sweep(iops, [4, 6, 8]))
    >>> rates == sorted(rates)
    True
    """
    if batch is not None and batch < 1:
        raise DescriptionError(Fault("batch", batch, "must be at least 1", "leave it out, or state how many questions"))
    return _answers(ask, list(questions), executor, batch)


def _answers(
    ask: Callable[[Q], A], questions: Sequence[Q], executor: Executor | None, batch: int | None
) -> Iterator[A]:
    own = Threads() if executor is None else None
    waiting: deque[Future[tuple[list[A], float]]] = deque()

    def send(part: Sequence[Q], size: int) -> None:
        pool = executor or own
        assert pool is not None
        waiting.extend(pool.submit(_answered, ask, part[at : at + size]) for at in range(0, len(part), size))

    with own or nullcontext():
        try:
            n_first = 0
            if batch is None:
                n_first, seconds = min(2 * PROBES, len(questions)), float("inf")
                send(questions[:n_first], 2)
                while waiting:
                    answers, took_s = waiting.popleft().result()
                    seconds = min(seconds, took_s)
                    yield from answers
                worth_sending = int(BATCH_S / max(seconds, 1e-6))
                batch = max(min(worth_sending, len(questions) // LEAST_BATCHES), 1)
            send(questions[n_first:], batch)
            while waiting:
                yield from waiting.popleft().result()[0]
        finally:
            for future in waiting:
                future.cancel()


def _answered(ask: Callable[[Q], A], questions: Sequence[Q]) -> tuple[list[A], float]:
    """Return the answers to a batch, and the seconds that the last one took."""
    answers, began_s = list[A](), 0.0
    for question in questions:
        began_s = time.perf_counter()
        answers.append(ask(question))
    return answers, time.perf_counter() - began_s
