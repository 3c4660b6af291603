"""Stations of a cluster: processors of a node, drives, links, and the thread that commits (rules E5 to E9)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

from diskmodel.engine.cluster.member import Member, scaled

Then = Callable[[], None]
#: How long a processor that saves power takes to wake up, ns, by how long it had nothing to do, the longest first: in
#: C6 and in C1E. Linux's intel_idle has residencies of 600 and 20 us for them on servers, and at most 133 and 10 us to
#: leave them; measured are 50 to 100 us (hostzero.com, The hidden Linux defaults that are slowing down your Ceph
#: cluster, 2026). At double, a write of an idle cluster takes a third longer.
WAKE_NS = ((600_000, 60_000), (20_000, 10_000))
#: The three kinds of threads of an OSD; the last kind has as many as it wants.
MESSENGER, WORKER, OTHER = 0, 1, 2
#: Transfers that are longer let others pass in between: what Linux hands to a network card in one piece.
LONG_BYTES = 66_000
#: Times of processors vary around their mean: half of each is fixed, the other half exponential. Nothing published
#: gives the distribution; were all fixed, p99 at low load would be 5 % above p95, and twelve OSDs 3 % faster.
_N_RATIOS = 1024
_RATIOS = tuple(0.5 - 0.5 * math.log1p(-(i + 0.5) / _N_RATIOS) for i in range(_N_RATIOS))


class Calendar:
    """Events in order of time, and of their making where times are equal (rule E1)."""

    def __init__(self) -> None:
        self.now = 0
        self._n = 0
        self._events: list[tuple[int, int, Then]] = []

    def at(self, when: int, action: Then) -> None:
        """Call `action` at a time, ns."""
        self._n += 1
        heappush(self._events, (when, self._n, action))

    def step(self) -> None:
        """Come to the next event."""
        self.now, _, action = heappop(self._events)
        action()


class Sleep:
    """How long threads take to wake up whose processor saves power while they have nothing to do (rule E5)."""

    def __init__(self, calendar: Calendar, *, sleeps: bool) -> None:
        self._calendar, self._sleeps = calendar, sleeps
        self._since_ns = -(1 << 60)

    def worked(self) -> None:
        """Say that one of them has worked until now."""
        self._since_ns = self._calendar.now

    def wake_ns(self) -> int:
        """Return what one takes to wake up now."""
        if not self._sleeps:
            return 0
        idle_ns = self._calendar.now - self._since_ns
        return next((wake_ns for least_ns, wake_ns in WAKE_NS if idle_ns >= least_ns), 0)


class Processors:
    """Hardware threads of a node; those who want one come in order."""

    def __init__(self, calendar: Calendar, n: int) -> None:
        self.calendar, self._free = calendar, n
        self._waiting: deque[tuple[int, Then]] = deque()
        self.n, self.busy_ns = n, 0

    def run(self, work_ns: int, then: Then) -> None:
        """Work for a time as soon as a thread is free, then call `then`."""
        if self._free:
            self._free -= 1
            self._start(work_ns, then)
        else:
            self._waiting.append((work_ns, then))

    def _start(self, work_ns: int, then: Then) -> None:
        self.busy_ns += work_ns

        def ended() -> None:
            if self._waiting:
                self._start(*self._waiting.popleft())
            else:
                self._free += 1
            then()

        self.calendar.at(self.calendar.now + work_ns, ended)


class Threads:
    """Threads of one kind of an OSD, which run on the processors of its node (rule E5)."""

    def __init__(
        self, processors: Processors, n: int, draw: Callable[[], int], *, waking_ns: int, sleeps: bool
    ) -> None:
        self._processors, self._free, self._draw, self._waking_ns = processors, n, draw, waking_ns
        self._sleep = Sleep(processors.calendar, sleeps=sleeps)
        self._waiting: deque[tuple[int, Then]] = deque()
        self.n, self.busy_ns = n, 0

    def run(self, work_ns: int, then: Then) -> None:
        """Work for about a time as soon as one of these threads has a processor, then call `then`."""
        work_ns = int(work_ns * _RATIOS[self._draw() % _N_RATIOS])
        self._processors.run(self._waking_ns, _nothing)
        if self._free:
            self._free -= 1
            self._start(work_ns + self._sleep.wake_ns(), then)
        else:
            self._waiting.append((work_ns, then))

    def _start(self, work_ns: int, then: Then) -> None:
        self.busy_ns += work_ns

        def ended() -> None:
            self._sleep.worked()
            if self._waiting:
                self._start(*self._waiting.popleft())
            else:
                self._free += 1
            then()

        self._processors.run(work_ns, ended)


def _nothing() -> None:
    pass


class Link:
    """One direction of a node's network, or a drive's interface: transfers one after the other (rule E6).

    Long transfers are cut into packets or commands, between which short ones pass: these wait for each other alone, and
    the long ones lose what they take. Each takes the link for a least time, which only those behind it wait for.
    """

    def __init__(self, bytes_per_s: float, least_ns: int = 0) -> None:
        self._byte_ns, self._least_ns = 1e9 / bytes_per_s, least_ns
        self._short_ns = self._long_ns = 0
        self.busy_ns = 0

    def begins(self, now: int, n_bytes: int) -> int:
        """Return when a transfer that is there now begins."""
        lasts = max(self.lasts_ns(n_bytes), self._least_ns)
        self.busy_ns += lasts
        if n_bytes > LONG_BYTES:
            begins = max(now, self._short_ns, self._long_ns)
            self._long_ns = begins + lasts
            return begins
        begins = max(now, self._short_ns)
        self._short_ns = begins + lasts
        if self._long_ns > now:
            self._long_ns += lasts
        return begins

    def lasts_ns(self, n_bytes: int) -> int:
        """Return how long it passes."""
        return int(n_bytes * self._byte_ns)


class DriveStation:
    """A drive that stands for its own model (rule E8)."""

    def __init__(self, member: Member, draw: Callable[[], int]) -> None:
        self._member, self._draw = member, draw
        self.servers = member.servers
        self._free = [0] * member.servers
        heapify(self._free)
        self._out: list[int] = []
        self._wire = Link(member.read_bytes_per_s)
        self.busy_ns = 0
        self.n_reads = self.n_writes = self.read_bytes = self.written_bytes = 0

    def slow_down(self, factor: float) -> None:
        """Have all accesses take so many times as long (rule E13)."""
        self._member = scaled(self._member, factor, factor)
        self._wire = Link(self._member.read_bytes_per_s)

    def read(self, now: int, n_bytes: int) -> int:
        """Return when a read that comes now is done."""
        member = self._member
        self.n_reads += 1
        self.read_bytes += n_bytes
        more = max(n_bytes - 4096, 0)
        if member.has_arm:
            return self._by_arm(now, member.read_rates, member.reads.ns, n_bytes / member.read_bytes_per_s * 1e9)
        lasts = member.reads.ns[self._draw() % len(member.reads.ns)] + int(more * member.reads.byte_ns)
        begins = self._serve(now, lasts)
        return max(begins + lasts, self._wire.begins(begins, n_bytes) + self._wire.lasts_ns(n_bytes))

    def write(self, now: int, n_bytes: int, *, in_order: bool = False) -> int:
        """Return when a write that comes now is in the drive's buffer, or on its disk."""
        member = self._member
        self.n_writes += 1
        self.written_bytes += n_bytes
        more = max(n_bytes - 4096, 0)
        if member.has_arm:
            return self._by_arm(now, member.write_rates, member.writes.ns, n_bytes / member.write_bytes_per_s * 1e9)
        answer = member.writes.ns[self._draw() % len(member.writes.ns)] + int(more * member.writes.byte_ns)
        work = n_bytes / member.write_bytes_per_s * 1e9 * member.servers
        if not in_order:
            work = max(work, member.write_work_ns + more * member.write_byte_ns)
        if n_bytes > LONG_BYTES:
            # long writes are in order within themselves: all dies take part
            work = n_bytes / member.write_bytes_per_s * 1e9 * member.servers
        # what all dies do is spread over them
        parts = max(min(round(work / max(member.write_work_ns, 1.0)), member.servers), 1)
        begins = max(self._serve(now, int(work / parts)) for _ in range(parts))
        return begins + answer

    def commit(self, now: int, n_bytes: int) -> int:
        """Return when a write in order that begins now is safe from a power cut."""
        member = self._member
        lasts = member.commit.ns[self._draw() % len(member.commit.ns)] + int(
            max(n_bytes - 4096, 0) * member.commit.byte_ns
        )
        self.n_writes += 1
        self.written_bytes += n_bytes
        if member.has_arm:
            return self._serve(now, lasts) + lasts
        work = n_bytes / member.write_bytes_per_s * 1e9 * member.servers
        return self._serve(now, int(work)) + lasts

    def _by_arm(self, now: int, rates: tuple[float, ...], alone: tuple[int, ...], transfer_ns: float) -> int:
        """Return when an arm is done with a request, which is faster the more it has to choose from."""
        out = self._out
        while out and out[0] <= now:
            heappop(out)
        at = min((len(out) + 1).bit_length() - 1, len(rates) - 1)
        mean = sum(alone) / len(alone)
        relative = alone[self._draw() % len(alone)] / mean if mean else 1.0
        lasts = int(1e9 / rates[at] * relative + transfer_ns)
        done = self._serve(now, lasts) + lasts
        heappush(out, done)
        return done

    def _serve(self, now: int, lasts: int) -> int:
        """Return when the first free server begins, which is then taken for so long."""
        begins = max(now, self._free[0])
        heapreplace(self._free, begins + lasts)
        self.busy_ns += lasts
        return begins


class Committer:
    """The thread of an OSD that commits what has come since its last commit, all with one flush (rule E9)."""

    def __init__(
        self,
        calendar: Calendar,
        log: DriveStation,
        *,
        flush_ns: int,
        work_ns: int,
        log_bytes: int,
        n_syncs: int,
        sleeps: bool,
    ) -> None:
        self._sleep = Sleep(calendar, sleeps=sleeps)
        self._calendar, self._log = calendar, log
        self._flush_ns, self._work_ns, self._log_bytes, self._n_syncs = flush_ns, work_ns, log_bytes, n_syncs
        self._waiting: list[tuple[int, Any]] = []
        self._is_busy = False
        self.busy_ns = 0
        self.n_commits = self.n_flushes = 0

    def add(self, logged_bytes: int, then: Then) -> None:
        """Commit a write with so many bytes of its own data in the log, then call `then`."""
        self._waiting.append((logged_bytes + self._log_bytes, then))
        if not self._is_busy:
            self._commit(self._sleep.wake_ns())

    def _commit(self, wake_ns: int = 0) -> None:
        self._is_busy = True
        batch, self._waiting = self._waiting, []
        now = self._calendar.now
        begins = now + wake_ns + len(batch) * self._work_ns
        n_bytes = -(-sum(size for size, _ in batch) // 4096) * 4096
        done = self._log.commit(begins + self._flush_ns, n_bytes)
        for _ in range(1, self._n_syncs):
            done = self._log.commit(done, 4096)
        self.busy_ns += done - now
        self.n_commits += len(batch)
        self.n_flushes += 1

        def ended() -> None:
            self._is_busy = False
            self._sleep.worked()
            if self._waiting:
                self._commit()
            for _, then in batch:
                then()

        self._calendar.at(done, ended)


__all__ = ["MESSENGER", "OTHER", "WORKER", "Calendar", "Committer", "DriveStation", "Link", "Processors", "Threads"]
