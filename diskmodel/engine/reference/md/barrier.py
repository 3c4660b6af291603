"""Requests and steps of a pass that wait for each other, at the barriers of Linux's RAID 10 (rule R8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.command import Access, Command


class Barrier:
    """Who may go: requests, or steps of the pass.

    Parameters
    ----------
    clock : Clock
    pause_ns : int
        How long the pass sleeps where requests wait.
    device : int
        Number of the pass in the order of events.
    when_awake : callable, optional
        Calls something when the thread that hands commands to the disks is awake; default: at once.
    """

    def __init__(
        self,
        clock: Clock,
        pause_ns: int,
        device: int,
        when_awake: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self.clock = clock
        self.when_awake = when_awake
        self.pause_ns = pause_ns
        self.device = device
        #: Begins the next step, or lets it wait again.
        self.step: Callable[[], None] | None = None
        self.n_steps = 0
        self.n_requests = 0
        #: What begins the requests that wait for the steps.
        self.waiting: deque[Callable[[], None]] = deque()
        #: A step waits for the requests that have begun, and others for it.
        self.is_raised = False
        #: A step lets the requests that wait go first, and goes no earlier than this.
        self.due_ns: int | None = None

    def enter(self, begin: Callable[[], None]) -> None:
        """Begin a request, or let it wait until no step is in progress."""
        if self.is_raised or self.n_steps:
            self.waiting.append(begin)
            return
        self.n_requests += 1
        begin()

    def leaving(self, done: Callable[[Access, Command], None]) -> Callable[[Access, Command], None]:
        """Return what is called when a request has ended that goes through here."""

        def ended(access: Access, last: Command) -> None:
            self.n_requests -= 1
            if self.is_raised and not self.n_requests:
                self._schedule(self.clock.now)
            done(access, last)

        return ended

    def may_begin(self, now: int) -> bool:
        """Whether a step may begin; if not it does so later by itself."""
        if not self.is_raised:
            if self.waiting:
                self.due_ns = now + self.pause_ns
                return False
            if self.n_requests:
                self.is_raised = True
                return False
        self.is_raised = False
        self.n_steps += 1
        return True

    def ended(self) -> None:
        """A step has ended: with the last one in progress the requests that wait begin."""
        self.n_steps -= 1
        if self.n_steps:
            return
        waiting, self.waiting = self.waiting, deque()
        self.n_requests = len(waiting)
        for begin in waiting:
            if self.when_awake is None:
                begin()
            else:
                self.when_awake(begin)
        if self.due_ns is not None:
            self._schedule(max(self.due_ns, self.clock.now))
            self.due_ns = None

    def _schedule(self, time_ns: int) -> None:
        assert self.step is not None
        self.clock.at(time_ns, ARRIVE, self.device, 0, self.step)
