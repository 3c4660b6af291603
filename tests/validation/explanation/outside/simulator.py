"""A small queueing simulator of arrays: nothing of it is shared with the engines that explain.

Disks have an arm (a seek that grows with the root of its length), a platter (the angle of each request is drawn), a
buffer for writes, and choose the next command by the shortest positioning; flash drives have dies and a link
(`drives`). Requests of clients that wait go through stages before the array (a processor, buckets of tokens, a delay,
a limit of those inside), are divided among members (`shares`), and end with their last part. Times are seconds.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.validation.explanation.outside.drives import Disk, Flash, Part, Request, Share
from tests.validation.explanation.outside.shares import Shares, ends_at


@dataclass
class Load:
    """What is asked for. `read_ratio` is that of a mixed load; of others `is_write` says it."""

    size: float = 8192
    depth: int = 1
    is_write: bool = False
    is_sequential: bool = False
    read_ratio: float | None = None

    @property
    def reads(self) -> float:
        """Share of reads."""
        return float(not self.is_write) if self.read_ratio is None else self.read_ratio


@dataclass
class Box:
    """An array, and what stands before it.

    `kind` is "stripe", "mirrors" (pairs), "parity", "raidz" (groups of `width`) or "pool" (pairs of whole records);
    `n_parity` says how many parity strips there are. All else is a limit or a fault; 0 is none.
    """

    members: list[Disk | Flash]
    kind: str = "stripe"
    n_parity: int = 0
    strip: float = 65536
    #: Of pools: bytes of a record, and disks of a RAID-Z.
    record: float = 0.0
    width: int = 0
    failed: tuple[int, ...] = ()
    #: A cache before it all: share of reads that it answers.
    hits: float = 0.0
    #: A controller's cache for writes: requests that it holds.
    cache: int = 0
    most_inside: int = 0
    most_clients: int = 0
    delay: float = 0.0
    #: Share of the delay that is drawn anew for each request.
    jitter: float = 0.0
    processor: float = 0.0
    tokens_per_s: float = 0.0
    burst: float = 0.0
    slice: float = 0.0
    #: A bucket of bytes, and a wire that answers go through.
    token_bytes_per_s: float = 0.0
    bytes_per_s: float = 0.0
    #: Others that ask for the same, or for 64 KiB at random where the load is in order.
    others: int = 0
    #: Sequential requests between two seeks; places in a row that readers share.
    pieces: float = 0.0
    #: A pass over all members: bytes a second of each, in requests of half a mebibyte. As Linux md does that is faster
    #: than its limit, it reads on at once and then sleeps for half a second (`md_do_sync` of md.c).
    pass_bytes_per_s: float = 0.0
    #: Only the first member is used.
    is_one: bool = False
    #: Share of requests that begin beside the borders of strips and sectors.
    beside: float = 0.0
    #: Reads and writes move as many bytes at least.
    least: float = 0.0
    #: Each write copies a chunk of so many bytes first.
    chunk: float = 0.0
    #: Share of writes that change a bit of a bitmap on all members before; writes of a journal behind each; a flush.
    bits: float = 0.0
    journal: int = 0
    is_flushed: bool = False

    def __post_init__(self) -> None:
        if self.kind in ("raidz", "pool"):
            for one in self.members:
                if isinstance(one, Disk):
                    one.most = _MOST_OF_POOL


@dataclass
class Times:
    """What came of a run: requests per second, and the sorted times of reads and of writes."""

    rate: float
    reads: list[float]
    writes: list[float]

    @property
    def all(self) -> list[float]:
        return sorted(self.reads + self.writes)


def run(box: Box, load: Load, n: int, seed: int) -> tuple[float, list[float]]:
    """Return requests per second and sorted times of the requests of clients that wait, after a third of the run."""
    found = times_of(box, load, n, seed)
    return found.rate, found.all


def times_of(box: Box, load: Load, n: int, seed: int) -> Times:
    """Return the same, with reads and writes apart."""
    return _Run(box, load, seed).times(n)


#: Reads that a disk of a pool is given at once (zfs_vdev_sync_read_max_active of OpenZFS's vdev_queue.c).
_MOST_OF_POOL = 10
#: Requests of a pass over an array, bytes, and the stream that they are of; how many it has outstanding at a member,
#: how long it sleeps, s, how many sleeps it may be late by, and how many of them a run sees.
_PASS, _PASSING = 512 << 10, -1
_PASSING_AT_ONCE, _SLEEP, _MOST_LATE, _SLEEPS = 1, 0.5, 4, 8


@dataclass
class _Bucket:
    """Tokens that fill at a rate."""

    per_s: float
    most: float
    tokens: float = 0.0
    filled: float = 0.0

    def wait(self, now: float, n: float) -> float:
        """Return how long n tokens are waited for."""
        self.tokens = min(self.tokens + (now - self.filled) * self.per_s, max(self.most, n))
        self.filled = now
        self.tokens -= n
        return max(-self.tokens / self.per_s, 0.0)


@dataclass
class _Cache:
    """A controller's cache: how many writes it holds, and those that wait for a place."""

    most: int
    held: int = 0
    waiting: list[Request] = field(default_factory=list)


class _Run:
    def __init__(self, box: Box, load: Load, seed: int) -> None:
        self.box, self.load, self.draw = box, load, random.Random(seed)
        self.events: list[tuple[float, int, Callable[[float], None]]] = []
        self.serial = 0
        self.shares = Shares(box, load, self.draw)
        self.inside, self.waiting = 0, list[Request]()
        self.processor_free = self.wire_free = 0.0
        self.ops = _Bucket(box.tokens_per_s, box.burst, box.burst)
        self.bytes = _Bucket(box.token_bytes_per_s, 1 << 20)
        self.cache = _Cache(box.cache)
        self.needs_bits, self.is_writing_bits = list[Request](), False
        self.done: list[tuple[float, float, bool]] = []
        self.slice_number = self.used = 0
        self.passing = [0] * len(box.members)
        self.passed = [0] * len(box.members)
        self.due = [0.0] * len(box.members)
        self.pass_begins = self.draw.random()

    def at(self, time: float, what: Callable[[float], None]) -> None:
        self.serial += 1
        heapq.heappush(self.events, (time, self.serial, what))

    def times(self, n: int) -> Times:
        box = self.box
        clients = min(self.load.depth, box.most_clients or self.load.depth)
        for client in [*range(clients), *range(1_000, 1_000 + box.others)]:
            self.at(client * 1e-6, lambda now, client=client: self.ask(now, client))  # type: ignore[misc]
        if box.pass_bytes_per_s:
            for member in range(len(box.members)):
                if member not in box.failed:
                    self.at(0.0, lambda now, member=member: self.wake(now, member))  # type: ignore[misc]
        now, least = 0.0, _SLEEPS * _SLEEP if box.pass_bytes_per_s else 0.0
        while len(self.done) < n or now < least:
            now, _, what = heapq.heappop(self.events)
            what(now)
        own = self.done[len(self.done) // 3 :]
        seconds = own[-1][0] - own[0][0]
        reads, writes = (sorted(time for _, time, wrote in own if wrote == which) for which in (False, True))
        return Times((len(own) - 1) / seconds, reads, writes)

    def wake(self, now: float, member: int) -> None:
        """Let a pass read what it may of a member until it sleeps again."""
        each = self.box.pass_bytes_per_s * _SLEEP
        self.due[member] = min(self.due[member] + each, _MOST_LATE * each)
        self.go_on(now, member)
        self.at(now + _SLEEP, lambda then: self.wake(then, member))

    def go_on(self, now: float, member: int) -> None:
        """Let a pass read on, unless its last requests still wait."""
        while self.passing[member] < _PASSING_AT_ONCE and self.due[member] >= _PASS:
            self.passing[member] += 1
            self.due[member] -= _PASS
            offset = self.passed[member] * _PASS
            self.passed[member] += 1
            self.give(now, Part(None, Share(member, _PASS, False, self.pass_begins, _PASSING, offset), now))

    def ask(self, now: float, client: int) -> None:
        box = self.box
        request = Request(client, now, iter(()), self.draw.random() >= self.load.reads)
        if box.hits and not request.is_write and self.draw.random() < box.hits:
            self.at(now + 6e-6, lambda then: self.end(then, request))
            return
        is_other = client >= 1_000 and self.load.is_sequential
        request.phases = self.shares.phases(request.is_write, is_other)
        ready = now + box.delay * (1 - box.jitter + box.jitter * self.draw.expovariate(1.0))
        if box.processor:
            self.processor_free = max(self.processor_free, ready) + box.processor
            ready = self.processor_free
        self.at(ready, lambda then: self.enter(then, request))

    def enter(self, now: float, request: Request) -> None:
        box = self.box
        if box.slice:
            at = max(int(now / box.slice), self.slice_number)
            self.used = self.used + 1 if at == self.slice_number else 1
            if self.used > max(box.tokens_per_s * box.slice, 1.0):
                at, self.used = at + 1, 1
            self.slice_number = at
            self.at(max(now, at * box.slice), lambda then: self.admit(then, request))
            return
        ready = now
        if box.tokens_per_s:
            ready = max(ready, now + self.ops.wait(now, 1))
        if box.token_bytes_per_s:
            ready = max(ready, now + self.bytes.wait(now, self.load.size))
        self.at(ready, lambda then: self.admit(then, request))

    def admit(self, now: float, request: Request) -> None:
        if self.box.most_inside and self.inside >= self.box.most_inside:
            self.waiting.append(request)
            return
        self.inside += 1
        if self.cache.most and request.is_write:
            if self.cache.held >= self.cache.most:
                self.cache.waiting.append(request)
                return
            self.hold(now, request)
            return
        self.with_bits(now, request)

    def with_bits(self, now: float, request: Request) -> None:
        """Begin a request, a write when its bits are set.

        While the bitmap is written all writes wait, and what waits then is taken at once (`bitmap_unplug` of md).
        """
        needs = bool(self.box.bits) and request.is_write
        if not (needs and (self.is_writing_bits or self.draw.random() < self.box.bits)):
            self.phase(now, request)
            return
        self.needs_bits.append(request)
        if not self.is_writing_bits:
            self.write_bits(now)

    def write_bits(self, now: float) -> None:
        taken, self.needs_bits, self.is_writing_bits = self.needs_bits, [], True

        def then(done: float) -> None:
            self.is_writing_bits = False
            for one in taken:
                self.phase(done, one)
            if self.needs_bits:
                self.write_bits(done)

        self.phase(now, Request(-2, now, self.shares.bitmap(), is_write=True, then=then))

    def hold(self, now: float, request: Request) -> None:
        """Answer a write out of the controller's cache, and write it to its disks behind that."""
        self.cache.held += 1
        behind = Request(-1, now, request.phases, is_write=True)
        request.phases = iter(())
        self.at(now + 60e-6 + self.load.size / 1.5e9, lambda then: self.phase(then, request))
        self.phase(now, behind)

    def phase(self, now: float, request: Request) -> None:
        shares = next(request.phases, None)
        if shares is None:
            if request.then is not None:
                request.then(now)
                return
            if request.client < 0:
                self.cache.held -= 1
                if self.cache.waiting:
                    self.hold(now, self.cache.waiting.pop(0))
                return
            self.inside -= 1
            if self.waiting:
                self.admit(now, self.waiting.pop(0))
            ends = now
            if self.box.bytes_per_s:
                self.wire_free = max(self.wire_free, now) + self.load.size / self.box.bytes_per_s
                ends = self.wire_free
            self.at(ends, lambda then: self.end(then, request))
            return
        request.left = len(shares)
        if not shares:
            self.phase(now, request)
            return
        for one in shares:
            self.box.members[one.member].pending += one.n
            self.give(now, Part(request, one, now))

    def give(self, now: float, part: Part) -> None:
        """Hand a part to its member; a write may end in the member's buffer."""
        member = self.box.members[part.share.member]
        if isinstance(member, Disk) and member.buffers(part):
            if member.has_place:
                self.buffer(now, member, part)
            else:
                member.held.append(part)
            return
        member.add(part, self.draw)
        self.serve(now, member)

    def buffer(self, now: float, member: Disk, part: Part) -> None:
        member.n_buffered += 1
        member.add(Part(None, part.share, now, is_buffered=True), self.draw)
        self.at(now + 1e-4 + part.share.size / 250e6, lambda then: self.finish(then, part))
        self.serve(now, member)

    def finish(self, now: float, part: Part) -> None:
        if part.request is None:
            return
        member = self.box.members[part.share.member]
        member.pending -= part.share.n
        member.head = ends_at(part.share)
        part.request.left -= 1
        if not part.request.left:
            self.phase(now, part.request)

    def serve(self, now: float, member: Disk | Flash) -> None:
        while member.queue and member.free > 0:
            end, part = member.take(now, self.draw)
            if isinstance(member, Disk):
                member.is_busy = True

            def over(then: float, part: Part = part) -> None:
                if isinstance(member, Disk):
                    member.is_busy = False
                    if part.is_buffered:
                        member.n_buffered -= 1
                        if member.held:
                            self.buffer(then, member, member.held.pop(0))
                self.finish(then, part)
                self.serve(then, member)
                if part.share.stream == _PASSING:
                    # what waits is served before the pass has looked at what it has read
                    self.passing[part.share.member] -= 1
                    self.go_on(then, part.share.member)

            if isinstance(member, Flash):
                self.at(end, lambda then, part=part, over=over: self.at(member.answered(then, part), over))  # type: ignore[misc]
            else:
                self.at(end, over)

    def end(self, now: float, request: Request) -> None:
        if request.client < 1_000:
            self.done.append((now, now - request.began, request.is_write))
        self.ask(now, request.client)


__all__ = ["Box", "Disk", "Flash", "Load", "Times", "run", "times_of"]
