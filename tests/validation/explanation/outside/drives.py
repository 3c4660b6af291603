"""Drives of the small simulator: disks with an arm and a platter, and flash drives. Times are seconds."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

#: Places that one drive orders commands by, at most; and the same of what its own buffer holds.
_QUEUE, _BUFFER = 32, 48
#: Bytes that a disk reads ahead at most, and bytes per second of its link.
_AHEAD, _LINK = 2e6, 550e6


@dataclass
class Request:
    """What a client asked for: phases of parts, one after the other."""

    client: int
    began: float
    phases: list[list[Share]]
    is_write: bool = False
    left: int = 0


@dataclass
class Share:
    """What a phase needs of one member; `is_near`: at the place where the member's last one ended."""

    member: int
    size: float
    is_write: bool
    is_near: bool = False
    #: Makes what is in the member's buffer safe instead.
    is_flush: bool = False


@dataclass
class Part:
    """A share as a member has it; one of nobody's request is the drive's own, or a pass over the array."""

    request: Request | None
    size: float
    is_write: bool
    is_sequential: bool
    is_flush: bool = False
    is_buffered: bool = False


@dataclass
class Disk:
    """A hard disk. Figures are those of a 3.5-inch disk of 7,200 rpm and 1 TB, at its outer edge.

    Its faults: `slow` stretches each access; of a part `retries` of them come `turns` more, each a revolution;
    `turns_of_writes` are those of writes to parts of sectors, `band` the time of rewriting what is shingled.
    """

    turn: float = 60 / 7200
    shortest: float = 0.0009
    longest: float = 0.0148
    bytes_per_s: float = 120e6
    overhead: float = 0.0002
    is_ordering: bool = True
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

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        """Return when the next command ends, and the command."""
        is_full = self.n_buffered >= _BUFFER

        def positioning(entry: tuple[float, float, Part]) -> float:
            place, angle, part = entry
            if part.is_sequential:
                return 0.0 if part.is_write or self.reads_ahead else 0.9 * self.turn
            distance = abs(place - self.place)
            seek = self.shortest + (self.longest - self.shortest) * math.sqrt(distance)
            seek += 0.0005 if part.is_write else 0.0
            return seek + (angle - (now + seek) / self.turn) % 1.0 * self.turn

        def cost(at: int) -> float:
            entry = self.queue[at]
            # what is in the buffer can wait, until the buffer is full
            return positioning(entry) + (0.0 if is_full or not entry[2].is_buffered else self.turn)

        n = min(len(self.queue), _QUEUE + _BUFFER if self.is_cached else _QUEUE)
        at = min(range(n), key=cost) if self.is_ordering else 0
        entry = self.queue.pop(at)
        part = entry[2]
        if part.is_flush:
            return now + self.overhead, part
        transfer = part.size / self.bytes_per_s
        if part.is_sequential and not part.is_write and self.reads_ahead:
            # the disk has read on while nobody asked, into its buffer
            ahead = min((now - self.ended) * self.bytes_per_s, _AHEAD)
            transfer = max(part.size - ahead, 0.0) / self.bytes_per_s + min(part.size, ahead) / _LINK
        time = positioning(entry) + self.overhead + transfer
        if part.is_write:
            time += self.turns_of_writes * self.turn + (0.0 if part.is_sequential else self.band)
        if draw.random() < self.retries:
            time += draw.choice(self.turns) * self.turn
        self.place = entry[0]
        self.ended = now + time * self.slow
        return self.ended, part

    def add(self, part: Part, draw: random.Random) -> None:
        self.queue.append((draw.random(), draw.random(), part))

    @property
    def free(self) -> int:
        return 0 if self.is_busy else 1

    def buffers(self, part: Part) -> bool:
        """Whether a write ends in the drive's own buffer, now or as soon as there is a place."""
        return self.is_cached and part.is_write and not part.is_flush

    @property
    def has_place(self) -> bool:
        return self.n_buffered < _BUFFER


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
    flush: float = 20e-6

    queue: list[Part] = field(default_factory=list)
    inside: int = 0
    link_free: float = 0.0
    media_free: float = 0.0

    def add(self, part: Part, draw: random.Random) -> None:
        self.queue.append(part)

    def buffers(self, part: Part) -> bool:
        return False

    @property
    def free(self) -> int:
        return self.channels - self.inside

    def take(self, now: float, draw: random.Random) -> tuple[float, Part]:
        part = self.queue.pop(0)
        base = self.flush if part.is_flush else self.program if part.is_write else self.read
        end = now + base * self.slow * draw.lognormvariate(-0.03, 0.25)
        if part.is_flush:
            self.media_free = max(self.media_free, end)
            return max(end, self.media_free), part
        self.link_free = max(self.link_free, end) + part.size / self.bytes_per_s * self.slow
        end = self.link_free
        if part.is_write:
            rate = self.program_bytes_per_s if part.is_sequential else self.random_bytes_per_s
            self.media_free = max(self.media_free, now) + part.size / rate * self.slow
            end = max(end, self.media_free)
        return end, part


Member = Disk | Flash
