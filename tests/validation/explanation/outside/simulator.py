"""A small queueing simulator of arrays, in a page: nothing of it is shared with the engines that explain.

Disks have an arm (a seek that grows with the root of its length), a platter (the angle of each request is drawn) and
choose the next command by the shortest positioning; flash drives have channels and a link. Requests of clients that
wait go through stages before the array (a processor, a bucket of tokens, a delay, a limit of those inside), are
divided among members, and end with their last part. Times are seconds.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass
class Disk:
    """A hard disk. Figures are those of a 3.5-inch disk of 7,200 rpm and 1 TB, at its outer edge."""

    turn: float = 60 / 7200
    shortest: float = 0.0009
    longest: float = 0.0148
    bytes_per_s: float = 120e6
    overhead: float = 0.0002
    is_ordering: bool = True
    slow: float = 1.0
    retries: float = 0.0
    is_cached: bool = False

    queue: list[tuple[float, float, Part]] = field(default_factory=list)
    place: float = 0.0
    is_busy: bool = False
    next_lba: float = -1.0

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        """Return when the next command ends, and the command."""

        def positioning(entry: tuple[float, float, Part]) -> float:
            place, angle, part = entry
            if part.is_sequential:
                return 0.0
            distance = abs(place - self.place)
            seek = self.shortest + (self.longest - self.shortest) * math.sqrt(distance)
            seek += 0.0005 if part.is_write else 0.0
            return seek + (angle - (now + seek) / self.turn) % 1.0 * self.turn

        at = min(range(min(len(self.queue), 32)), key=lambda k: positioning(self.queue[k])) if self.is_ordering else 0
        entry = self.queue.pop(at)
        time = positioning(entry) + self.overhead + entry[2].size / self.bytes_per_s
        if draw.random() < self.retries:
            time += draw.choice((1, 2, 4)) * 8 * self.turn
        self.place = entry[0]
        return now + time * self.slow, entry[2]

    def add(self, part: Part, draw: random.Random) -> None:
        self.queue.append((draw.random(), draw.random(), part))

    @property
    def free(self) -> int:
        return 0 if self.is_busy else 1


@dataclass
class Flash:
    """A flash drive: channels that read or program, one link that all data go through, and cleaning behind writes.

    The figures are those of the sheet of a drive with SATA: 98,000 reads of 4 KiB a second, 30,000 writes, 550 MB/s.
    """

    read: float = 90e-6
    program: float = 25e-6
    channels: int = 9
    bytes_per_s: float = 545e6
    program_bytes_per_s: float = 480e6
    random_bytes_per_s: float = 123e6
    slow: float = 1.0

    queue: list[Part] = field(default_factory=list)
    inside: int = 0
    link_free: float = 0.0
    media_free: float = 0.0

    def add(self, part: Part, draw: random.Random) -> None:
        self.queue.append(part)

    @property
    def free(self) -> int:
        return self.channels - self.inside

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        part = self.queue.pop(0)
        base = self.program if part.is_write else self.read
        end = now + base * self.slow * draw.lognormvariate(-0.03, 0.25)
        self.link_free = max(self.link_free, end) + part.size / self.bytes_per_s * self.slow
        end = self.link_free
        if part.is_write:
            rate = self.program_bytes_per_s if part.is_sequential else self.random_bytes_per_s
            self.media_free = max(self.media_free, now) + part.size / rate * self.slow
            end = max(end, self.media_free)
        return end, part


@dataclass
class Part:
    """What one request needs of one member."""

    request: Request
    size: float
    is_write: bool
    is_sequential: bool


@dataclass
class Request:
    """What a client asked for: phases of parts, one after the other."""

    client: int
    began: float
    phases: list[list[tuple[int, float, bool]]]
    left: int = 0


@dataclass
class Load:
    """What is asked for."""

    size: float = 8192
    depth: int = 1
    is_write: bool = False
    is_sequential: bool = False


@dataclass
class Box:
    """An array, and what stands before it.

    `kind` is "stripe", "mirrors" (pairs) or "parity"; `layout` says how many parity strips there are.
    """

    members: list[Disk | Flash]
    kind: str = "stripe"
    n_parity: int = 0
    strip: float = 65536
    failed: tuple[int, ...] = ()
    hits: float = 0.0
    most_inside: int = 0
    delay: float = 0.0
    processor: float = 0.0
    tokens_per_s: float = 0.0
    burst: float = 0.0
    slice: float = 0.0
    bytes_per_s: float = 0.0
    others: int = 0
    pieces: float = 0.0


def run(box: Box, load: Load, n: int, seed: int) -> tuple[float, list[float]]:
    """Return requests per second and sorted times of the requests of clients that wait, after a third of the run."""
    return _Run(box, load, seed).times(n)


class _Run:
    def __init__(self, box: Box, load: Load, seed: int) -> None:
        self.box, self.load, self.draw = box, load, random.Random(seed)
        self.events: list[tuple[float, int, Callable[[float], None]]] = []
        self.serial = 0
        self.inside, self.waiting = 0, list[Request]()
        self.processor_free = self.wire_free = 0.0
        self.tokens, self.filled = box.burst, 0.0
        self.done: list[tuple[float, float]] = []
        self.next_strip = 0
        self.slice_number = self.used = 0

    def at(self, time: float, what: Callable[[float], None]) -> None:
        self.serial += 1
        heapq.heappush(self.events, (time, self.serial, what))

    def times(self, n: int) -> tuple[float, list[float]]:
        for client in range(self.load.depth + self.box.others):
            self.at(client * 1e-6, lambda now, client=client: self.ask(now, client))  # type: ignore[misc]
        while len(self.done) < n:
            now, _, what = heapq.heappop(self.events)
            what(now)
        own = self.done[n // 3 :]
        seconds = own[-1][0] - own[0][0]
        return (len(own) - 1) / seconds, sorted(time for _, time in own)

    def ask(self, now: float, client: int) -> None:
        request = Request(client, now, [])
        if self.box.hits and self.draw.random() < self.box.hits:
            self.at(now + 6e-6, lambda then: self.end(then, request))
            return
        request.phases = list(self.parts())
        ready = now + self.box.delay
        if self.box.processor:
            self.processor_free = max(self.processor_free, ready) + self.box.processor
            ready = self.processor_free
        self.at(ready, lambda then: self.enter(then, request))

    def enter(self, now: float, request: Request) -> None:
        box = self.box
        if box.slice:
            at = max(int(now / box.slice), self.slice_number)
            self.used = self.used + 1 if at == self.slice_number else 1
            if self.used > box.tokens_per_s * box.slice:
                at, self.used = at + 1, 1
            self.slice_number = at
            self.at(max(now, at * box.slice), lambda then: self.admit(then, request))
            return
        if box.tokens_per_s:
            self.tokens = min(self.tokens + (now - self.filled) * box.tokens_per_s, max(box.burst, 1.0))
            self.filled = now
            self.tokens -= 1
            if self.tokens < 0:
                self.at(now - self.tokens / box.tokens_per_s, lambda then: self.admit(then, request))
                return
        self.admit(now, request)

    def admit(self, now: float, request: Request) -> None:
        if self.box.most_inside and self.inside >= self.box.most_inside:
            self.waiting.append(request)
            return
        self.inside += 1
        self.phase(now, request)

    def phase(self, now: float, request: Request) -> None:
        if not request.phases:
            self.inside -= 1
            if self.waiting:
                self.admit(now, self.waiting.pop(0))
            ends = now
            if self.box.bytes_per_s:
                self.wire_free = max(self.wire_free, now) + self.load.size / self.box.bytes_per_s
                ends = self.wire_free
            self.at(ends, lambda then: self.end(then, request))
            return
        parts = request.phases.pop(0)
        request.left = len(parts)
        for member, size, is_write in parts:
            is_near = self.load.is_sequential and not (self.box.pieces and self.draw.random() < 1 / self.box.pieces)
            part = Part(request, size, is_write, is_near)
            self.box.members[member].add(part, self.draw)
            self.serve(now, member)

    def serve(self, now: float, at: int) -> None:
        member = self.box.members[at]
        while member.queue and member.free > 0:
            end, part = member.take(now, self.draw)
            if isinstance(member, Disk):
                member.is_busy = True
            else:
                member.inside += 1

            def over(then: float, part: Part = part) -> None:
                if isinstance(member, Disk):
                    member.is_busy = False
                else:
                    member.inside -= 1
                part.request.left -= 1
                if not part.request.left:
                    self.phase(then, part.request)
                self.serve(then, at)

            self.at(end, over)

    def end(self, now: float, request: Request) -> None:
        if request.client < self.load.depth:
            self.done.append((now, now - request.began))
        self.ask(now, request.client)

    def parts(self) -> Iterator[list[tuple[int, float, bool]]]:
        """Yield the phases of a request: which member, how much, and whether it writes."""
        box, load = self.box, self.load
        n = len(box.members)
        n_strips = max(math.ceil(load.size / box.strip), 1)
        size = min(load.size, box.strip)
        if load.is_sequential:
            first = self.next_strip
            self.next_strip += n_strips
        else:
            first = self.draw.randrange(n)
        whole: dict[int, float] = {}
        for k in range(n_strips):
            member = (first + k) % n
            if box.kind == "mirrors" and not load.is_write:
                # Linux goes on where it was, and takes either disk for what is elsewhere
                member = member // 2 * 2 + (0 if load.is_sequential else self.draw.randrange(2))
                member = member ^ 1 if member in box.failed else member
            whole[member] = whole.get(member, 0.0) + size
        if load.is_write and box.kind == "mirrors":
            pairs = {other for member in whole for other in (member // 2 * 2, member // 2 * 2 + 1)}
            yield [(member, whole.get(member, size), True) for member in sorted(pairs - set(box.failed))]
        elif load.is_write and box.kind == "parity":
            for k in range(box.n_parity):
                whole.setdefault((first + n_strips + k) % n, size)
            alive = [(member, amount) for member, amount in whole.items() if member not in box.failed]
            if n_strips < n - box.n_parity:
                yield [(member, amount, False) for member, amount in alive]
            yield [(member, amount, True) for member, amount in alive]
        else:
            parts = {}
            for member, amount in whole.items():
                others = [member] if member not in box.failed else [k for k in range(n) if k not in box.failed]
                for k in others:
                    parts[k] = parts.get(k, 0.0) + amount
            yield [(member, amount, load.is_write) for member, amount in parts.items()]
