"""Drives of the small simulator: disks with an arm and a platter, and flash drives. Times are seconds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: Places that one drive orders commands by, at most; and the same of what its own buffer holds.
_QUEUE, _BUFFER = 32, 48
#: Seconds after which a read comes before all that are nearer: about what the longest random reads of 32 at a time
#: take; and beside what is in order, which is always nearest and would let all others starve.
_PATIENCE, _BESIDE_STREAM = 2.0, 0.1
#: Bytes that a disk reads ahead at most, how many streams it does so of, and bytes per second of its link.
_AHEAD, _SEGMENTS, _LINK = 2e6, 16, 550e6
#: Bytes that a die of a flash drive reads at once, of all its planes; more lies on several.
_PLANES = 65536
#: Spread of the time of a read, and of a write, as logarithms: of single reads of three drives of data centers p99 is
#: 1.1 to 1.6 of the mean (BU-DiSC, SSD-Benchmark at 3e6881d, 4 and 8 KiB).
_OF_READS, _OF_WRITES = 0.15, 0.25


@dataclass
class Request:
    """What a client asked for: phases of shares, one after the other, each divided when it begins."""

    client: int
    began: float
    phases: Iterator[list[Share]]
    is_write: bool = False
    left: int = 0
    #: What happens when it is done, of one that no client asked for.
    then: Callable[[float], None] | None = None


@dataclass
class Share:
    """What a phase needs of one member.

    `place` is the part of the way over the platter where it lies, None: anywhere. One of a stream (0: none) begins at
    `offset` of it, in bytes of this member, and goes over `span` of them, of which `size` are asked for.
    """

    member: int
    size: float
    is_write: bool
    place: float | None = None
    stream: int = 0
    offset: float = 0.0
    span: float = 0.0
    #: Makes what is in the member's buffer safe instead; a write that passes the buffer by.
    is_flush: bool = False
    is_safe: bool = False
    #: Of a disk: the angle at which it begins, as a part of a turn; None: drawn when the disk is given it.
    angle: float | None = None
    #: How many commands it was before they were made one.
    n: int = 1

    @property
    def ends(self) -> float:
        """Where it ends in its stream."""
        return self.offset + max(self.span, self.size)


@dataclass
class Part:
    """A share as a member has it; one of nobody's request is the drive's own, or a pass over the array."""

    request: Request | None
    share: Share
    came: float
    is_buffered: bool = False


@dataclass(kw_only=True)
class Member:
    """What all drives have, as md sees it: requests that it was given and has not answered, and where it is."""

    pending: int = 0
    #: Place where the last command that was answered ended; stream and offset behind the last read that was chosen.
    head: float = 0.0
    next_read: tuple[int, float] = (0, 0.0)


@dataclass
class _Segment:
    """What a disk's buffer holds of a stream: its bytes from `first` to `end`, asked for up to `asked`."""

    first: float
    end: float
    asked: float

    def goes_to(self, offset: float) -> bool:
        """Whether a place is in the buffer, or so near behind it that it is read through."""
        return self.first <= offset <= self.end + _AHEAD

    def read_on(self, n_bytes: float) -> None:
        """Go on reading, as far as a disk reads ahead."""
        self.end = max(self.end, min(self.end + n_bytes, self.asked + _AHEAD))


@dataclass
class Disk(Member):
    """A hard disk. Figures are those of a 3.5-inch disk of 7,200 rpm and 1 TB, at its outer edge.

    A disk that has read goes on reading what lies behind it into its buffer, until the next command needs the arm; also
    while that command is handed over.

    It is given `most` commands at once, in the order in which they came.

    Its faults: `slow` stretches each access; of a part `retries` of them come `turns` more, each a revolution;
    `turns_of_writes` are those of writes to parts of sectors, `band` the time of rewriting what is shingled.
    """

    turn: float = 60 / 7200
    shortest: float = 0.0009
    longest: float = 0.0148
    bytes_per_s: float = 120e6
    overhead: float = 0.0002
    is_ordering: bool = True
    most: int = _QUEUE
    slow: float = 1.0
    retries: float = 0.0
    turns: tuple[int, ...] = (8, 16, 32)
    is_cached: bool = False
    turns_of_writes: float = 0.0
    band: float = 0.0
    reads_ahead: bool = True

    queue: list[tuple[float, float, Part]] = field(default_factory=list)
    place: float = 0.0
    is_busy: bool = False
    n_buffered: int = 0
    ended: float = 0.0
    held: list[Part] = field(default_factory=list)
    #: The stream that the arm is on, where its last command ended, and what the buffer has of streams.
    stream: int = 0
    behind: float = 0.0
    segments: dict[int, _Segment] = field(default_factory=dict)

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        """Return when the next command ends, and the command."""
        flush = next((part for _, _, part in self.queue if part.share.is_flush), None)
        is_full = self.n_buffered >= _BUFFER or flush is not None
        if self.stream in self.segments:
            self.segments[self.stream].read_on((now - self.ended) * self.bytes_per_s / self.slow)

        patience = _BESIDE_STREAM if self._goes_on else _PATIENCE

        def cost(at: int) -> float:
            entry = self.queue[at]
            part = entry[2]
            if part.share.is_flush:
                # what the buffer had when it came is written first
                is_early = any(one.is_buffered and one.came <= part.came for _, _, one in self.queue)
                return math.inf if is_early else -2.0
            if not part.is_buffered and not part.share.is_write and now - part.came > patience:
                return -1.0
            # what is in the buffer can wait, until the buffer is full
            return self._positioning(entry, now) + (0.0 if is_full or not part.is_buffered else self.turn)

        n = min(len(self.queue), self.most + _BUFFER if self.is_cached else self.most)
        at = min(range(n), key=cost) if self.is_ordering else 0
        entry = self.queue.pop(at)
        share = entry[2].share
        if share.is_flush:
            return now + self.overhead, entry[2]
        if share.is_write or not (self.reads_ahead and share.stream):
            time = self._positioning(entry, now) + self.overhead + (share.ends - share.offset) / self.bytes_per_s
            self.segments.pop(share.stream, None)
            self.stream = share.stream
        else:
            time = self._of_stream(entry, now)
        self.behind = share.ends
        if share.is_write:
            time += self.turns_of_writes * self.turn + (0.0 if share.stream else self.band)
        if draw.random() < self.retries:
            time += draw.choice(self.turns) * self.turn
        self.place = entry[0]
        self.ended = now + time * self.slow
        return self.ended, entry[2]

    @property
    def _goes_on(self) -> bool:
        """Whether the arm is on a stream that is longer than a few records."""
        segment = self.segments.get(self.stream)
        return bool(self.stream) and (segment is None or segment.asked - segment.first > _AHEAD)

    def _moving(self, entry: tuple[float, float, Part], now: float) -> float:
        """Return the time of a seek, and until the platter has turned to where a command begins."""
        place, angle, part = entry
        seek = self.shortest + (self.longest - self.shortest) * math.sqrt(abs(place - self.place))
        seek += 0.0005 if part.share.is_write else 0.0
        return seek + (angle - (now + seek) / self.turn) % 1.0 * self.turn

    def _positioning(self, entry: tuple[float, float, Part], now: float) -> float:
        """Return the time until the arm and the platter are where a command begins, or its data in the buffer."""
        share = entry[2].share
        if share.stream and not share.is_write and self.reads_ahead:
            if self._has(share):
                return 0.0
            segment = self.segments.get(share.stream)
            if share.stream == self.stream and segment is not None and segment.goes_to(share.offset):
                return max(share.offset - segment.end, 0.0) / self.bytes_per_s
        elif share.stream and share.stream == self.stream and 0 <= share.offset - self.behind <= _AHEAD:
            if share.is_write:
                return 0.0
            # what lies behind passes by while nobody asks for it, and comes again
            idle = 0.0 if entry[2].came < self.ended else now - self.ended + self.overhead
            return ((share.offset - self.behind) / self.bytes_per_s - idle) % self.turn
        return self._moving(entry, now)

    def _has(self, share: Share) -> bool:
        """Whether the buffer has all of what is asked for."""
        segment = self.segments.get(share.stream)
        return segment is not None and segment.first <= share.offset and share.ends <= segment.end

    def _of_stream(self, entry: tuple[float, float, Part], now: float) -> float:
        """Return the time of a read of a stream, and read on meanwhile."""
        share = entry[2].share
        segment = self.segments.pop(share.stream, None)
        if segment is None or not segment.goes_to(share.offset):
            segment, is_there = _Segment(share.offset, share.offset, share.offset), False
        else:
            is_there = share.stream == self.stream
        self.segments[share.stream] = segment
        while len(self.segments) > _SEGMENTS:
            del self.segments[next(iter(self.segments))]
        missing = max(share.ends - segment.end, 0.0) / self.bytes_per_s
        segment.asked = max(segment.asked, share.ends)
        if missing and not is_there:
            time = self._moving(entry, now) + self.overhead + missing
            self.stream, segment.end = share.stream, share.ends
            return time
        time = max(self.overhead + share.size / _LINK, missing)
        if self.stream in self.segments:
            self.segments[self.stream].read_on(time * self.bytes_per_s)
        return time

    def add(self, part: Part, draw: random.Random) -> None:
        share = part.share
        place = draw.random() if share.place is None else share.place
        if share.angle is None:
            share.angle = draw.random()
        self.queue.append((place, share.angle, part))

    @property
    def free(self) -> int:
        return 0 if self.is_busy else 1

    def buffers(self, part: Part) -> bool:
        """Whether a write ends in the drive's own buffer, now or as soon as there is a place."""
        return self.is_cached and part.share.is_write and not (part.share.is_flush or part.share.is_safe)

    @property
    def has_place(self) -> bool:
        return self.n_buffered < _BUFFER


@dataclass
class Flash(Member):
    """A flash drive: dies that read, one link that all data go through, and cleaning behind writes.

    A random read waits for those that its die has, what is in order is read from any of them, and a write ends in the
    drive's memory unless cleaning is behind. Answers go through the link as they are ready; each takes `command` of it.
    Of three drives of data centers with 8 to 10 outstanding p95 is 1.2 to 1.7 and p99 1.5 to 2.2 of the mean
    (BU-DiSC, SSD-Benchmark, 4 and 8 KiB); of these 1.3 to 1.4 and 1.7 to 1.9.

    The figures are those of the sheet of a drive with SATA: 98,000 reads of 4 KiB a second, 30,000 writes, 550 MB/s.
    """

    read: float = 90e-6
    program: float = 25e-6
    dies: int = 64
    bytes_per_s: float = 545e6
    program_bytes_per_s: float = 480e6
    random_bytes_per_s: float = 123e6
    command: float = 2.7e-6
    slow: float = 1.0
    flush: float = 20e-6

    queue: list[Part] = field(default_factory=list)
    busy: dict[int, float] = field(default_factory=dict)
    link_free: float = 0.0
    media_free: float = 0.0

    def add(self, part: Part, draw: random.Random) -> None:
        self.queue.append(part)

    def buffers(self, part: Part) -> bool:
        return False

    @property
    def free(self) -> int:
        return len(self.queue)

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        """Return when the next command has been read or taken, and the command."""
        part = self.queue.pop(0)
        share = part.share
        base = self.flush if share.is_flush else self.program if share.is_write else self.read
        spread = _OF_WRITES if share.is_write else _OF_READS
        time = base * self.slow * draw.lognormvariate(-(spread**2) / 2, spread)
        if share.is_flush:
            self.media_free = max(self.media_free, now + time)
            return self.media_free, part
        if share.is_write:
            rate = self.program_bytes_per_s if share.stream else self.random_bytes_per_s
            self.media_free = max(self.media_free, now) + share.size / rate * self.slow
            return max(now + time, self.media_free), part
        if share.stream or share.size > _PLANES:
            return now + time, part
        die = draw.randrange(self.dies)
        self.busy[die] = max(self.busy.get(die, 0.0), now) + time
        return self.busy[die], part

    def answered(self, now: float, part: Part) -> float:
        """Return when what is ready has gone through the link."""
        if part.share.is_flush:
            return now
        self.link_free = max(self.link_free, now) + (self.command + part.share.size / self.bytes_per_s) * self.slow
        return self.link_free
