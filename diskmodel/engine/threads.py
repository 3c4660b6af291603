"""Threads for work that runs the kernel, which needs no interpreter."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from types import TracebackType
from typing import Any, TypeVar

from diskmodel.engine import ledger
from diskmodel.engine.native import stop_runs

T = TypeVar("T")

#: Seconds between two attempts to end the runs of threads, which may be about to begin another one.
_STEP_S = 0.05

_Job = tuple[Future[Any], Callable[[], Any]]


def mapped(
    pool: Executor, work: Callable[..., T], *items: Iterable[Any], timeout: float | None = None, are_runs: bool = False
) -> list[T]:
    """Return what `work` makes of each item, with a part of the question's computing time for each.

    Parameters
    ----------
    pool : concurrent.futures.Executor
        Of this process.
    work : callable
    *items : iterables
        Its arguments.
    timeout : float, optional
        Seconds to wait for each.
    are_runs : bool
        Whether each is a single run (`Account.parts`).
    """
    asked = list(zip(*items, strict=False))
    account = ledger.current()
    parts = account.parts(len(asked), are_runs=are_runs) if asked else []
    futures = [pool.submit(ledger.on(part, work), *item) for part, item in zip(parts, asked, strict=True)]
    try:
        return [future.result(timeout) for future in futures]
    finally:
        for future in futures:
            future.cancel()
        account.settle(parts)


class Threads(Executor):
    """An executor of so many threads, or of fewer where the system starts no more.

    Without any thread the work is done where it is submitted. A `with` block that is left by Ctrl-C or by the end of
    the program stops the runs of the kernel that are in progress, so that leaving it takes no longer than a moment.

    Parameters
    ----------
    n_threads : int, optional
        Default: one for each processor.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads = n_threads or os.cpu_count() or 1
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._n_open = 0

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Let a thread call `function`."""
        future: Future[T] = Future()
        job: _Job = (future, lambda: function(*args, **kwargs))
        with self._lock:
            self._n_open += 1
            has_thread = len(self._threads) >= min(self._n_open, self._n_threads) or self._start() or self._threads
        if has_thread:
            self._jobs.put(job)
        else:
            self._do(job)
        return future

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """Return what `fn` makes of all items, when all are done: each has a part of the question's computing time."""
        return iter(mapped(self, fn, *iterables, timeout=timeout))

    def _start(self) -> bool:
        thread = threading.Thread(target=self._serve, name="diskmodel run")
        # before it starts: a signal may end this in the middle, and a thread that is not here would never end
        self._threads.append(thread)
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # no more threads for this user, or no memory for another stack
            self._threads.remove(thread)
            self._n_threads = max(len(self._threads), 1)
            return False
        return True

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._do(job)

    def _do(self, job: _Job) -> None:
        future, work = job
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # for who asks for the result
                future.set_exception(error)
        with self._lock:
            self._n_open -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end when all that was submitted is done, or at once with `cancel_futures`."""
        while cancel_futures:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is not None:
                job[0].cancel()
        for _ in self._threads:
            self._jobs.put(None)
        if wait:
            for thread in self._threads:
                if thread.is_alive():  # a signal may have come before it was started, which cannot be joined
                    thread.join()
        self._threads = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self.stop()
        self.shutdown()

    def stop(self) -> None:
        """End what the threads are doing, also what they begin meanwhile, and wait for that."""
        threads = self._threads
        self.shutdown(wait=False, cancel_futures=True)
        for thread in threads:
            while thread.is_alive():
                stop_runs()
                thread.join(_STEP_S)
