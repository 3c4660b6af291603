"""The lab's simulations: two at a time in the whole process, and none for a reader who has left."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

#: Simulations at a time. The kernel releases the interpreter lock, so two use two cores; each may take some 100 MB, so
#: twice as many would take twice the memory and finish no sooner.
N_THREADS = 2
#: Simulations that wait. A curve has up to ten; with 200, twenty curves wait, the last for a minute or so. More would
#: only wait longer than anyone looks at a page.
MAX_WAITING = 200
#: Seconds between two looks at whether the reader is still connected.
_LOOK_EVERY_S = 0.1


class BusyError(Exception):
    """More simulations wait than the lab accepts."""


class LeftError(Exception):
    """The reader has closed the connection, or the lab is ending."""


class Ticket:
    """What a simulation and its reader share: whether the result is still needed."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Say that nobody needs the result."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody needs the result."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise `LeftError` when nobody needs the result."""
        if self.is_cancelled:
            raise LeftError


@dataclass
class _Job:
    work: Callable[[], Any]
    ticket: Ticket
    future: Future[Any] = field(default_factory=Future)


class Workers:
    """Threads that do the work of all requests, first come, first served.

    The threads are daemons: a simulation that is still running does not keep the process from ending.
    """

    def __init__(self, n_threads: int = N_THREADS, max_waiting: int = MAX_WAITING) -> None:
        self._jobs: queue.Queue[_Job] = queue.Queue(max_waiting)
        self._lock = threading.Lock()
        self._n_threads = n_threads
        self._threads: list[threading.Thread] = []
        self._n_running = 0

    @property
    def is_running(self) -> bool:
        """Whether a simulation is in progress."""
        return self._n_running > 0

    def submit(self, work: Callable[[], T], ticket: Ticket) -> Future[T]:
        """Let a thread do `work`, unless its ticket is cancelled before.

        Raises
        ------
        BusyError
            When too many simulations wait.
        """
        job = _Job(work, ticket)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise BusyError from None
        with self._lock:
            if len(self._threads) < self._n_threads:
                thread = threading.Thread(target=self._serve, name="lab simulation", daemon=True)
                self._threads.append(thread)
                thread.start()
        return job.future

    def _serve(self) -> None:
        while True:
            self._do(self._jobs.get())

    def _do(self, job: _Job) -> None:
        if job.ticket.is_cancelled:
            job.future.cancel()
        if not job.future.set_running_or_notify_cancel():
            return
        with self._lock:
            self._n_running += 1
        try:
            job.future.set_result(job.work())
        except BaseException as error:  # handed to the reader, whatever it is
            job.future.set_exception(error)
        finally:
            with self._lock:
                self._n_running -= 1

    async def do_all(
        self, works: list[Callable[[], T]], ticket: Ticket, has_left: Callable[[], Awaitable[bool]]
    ) -> list[T]:
        """Return the results of `works` in order.

        Raises
        ------
        BusyError
            When too many simulations wait.
        LeftError
            When the reader has left before the last result.
        """
        futures: list[asyncio.Future[T]] = []
        try:
            for work in works:
                futures.append(asyncio.wrap_future(self.submit(work, ticket)))
            while True:
                _, pending = await asyncio.wait(futures, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_EXCEPTION)
                failed = any(one.done() and (one.cancelled() or one.exception()) for one in futures)
                if not pending or failed:
                    break
                if await has_left():
                    raise LeftError
            if any(one.cancelled() for one in futures):
                raise LeftError
            for one in futures:
                if one.done():
                    one.result()
            return [one.result() for one in futures]
        finally:
            # whatever ended this, nobody needs what is left
            ticket.cancel()
            for one in futures:
                one.add_done_callback(_seen)


def _seen(future: asyncio.Future[Any]) -> None:
    """Take note of the error of a result that nobody waits for."""
    if not future.cancelled():
        future.exception()
