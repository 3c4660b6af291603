"""The drive's own cache: read segments and dirty data, as plain state (rules C1, C2, C6 to C10)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Segment:
    """Blocks [start, end) cached after a read."""

    start: int
    end: int


@dataclass
class Segments:
    """Read segments, the least recently used first.

    Attributes
    ----------
    n_segments : int
        0: no read cache.
    sectors : int
        Sectors of one segment.
    """

    n_segments: int
    sectors: int
    held: list[Segment] = field(default_factory=list)

    def covers(self, lba: int, n: int) -> Segment | None:
        """Return the most recently used segment that contains a whole range."""
        return next((s for s in reversed(self.held) if s.start <= lba and lba + n <= s.end), None)

    def touch(self, segment: Segment) -> None:
        """Make a segment the most recently used."""
        # by identity: two segments can contain the same range
        self.held = [s for s in self.held if s is not segment] + [segment]

    def insert(self, start: int, end: int) -> Segment | None:
        """Insert a segment with the last `sectors` blocks of [start, end); evict the least recently used one."""
        if not self.n_segments:
            return None
        segment = Segment(max(start, end - self.sectors), end)
        self.held.append(segment)
        if len(self.held) > self.n_segments:
            del self.held[0]
        return segment

    def extend(self, segment: Segment, end: int) -> None:
        """Extend a segment up to `end`, dropping its oldest blocks if necessary."""
        segment.end = max(segment.end, end)
        segment.start = max(segment.start, segment.end - self.sectors)

    def go_on(self, segment: Segment, end: int) -> Segment | None:
        """Extend the segment of a stream that a read up to `end` stayed on, as the most recently used one (rule C1).

        One that was dropped meanwhile begins anew where it did.
        """
        if not any(s is segment for s in self.held):
            return self.insert(segment.start, end)
        self.extend(segment, end)
        self.touch(segment)
        return segment

    def reach_back(self, segment: Segment, start: int) -> None:
        """Let a segment begin at `start`, if that is earlier and there is room."""
        segment.start = min(segment.start, max(start, segment.end - self.sectors))

    def clear(self) -> None:
        """Remove every segment."""
        self.held = []

    def drop(self, lba: int, n: int) -> None:
        """Remove every segment that overlaps a written range."""
        self.held = [s for s in self.held if s.end <= lba or lba + n <= s.start]


@dataclass(eq=False)
class Dirty:
    """Written data that waits for the media, as a scheduler sees it; two of them can be alike.

    `room` is what it takes of the buffer, in sectors.
    """

    seq: int
    lba: int
    n_sectors: int
    arrived_ns: int
    op: int = 1
    #: Part of a run that does not go to the media cache (rule G2).
    in_place: bool = False
    room: int = 0
    #: In order of acceptance, from 1 on.
    number: int = 0


@dataclass
class DirtyBuffer:
    """Dirty data of a write-back drive, in order of arrival.

    Attributes
    ----------
    capacity : int
        Sectors; 0: write-through.
    longest : int
        Largest number of sectors of merged writes; 0: each is written by itself.
    border : int
        Blocks of one actuator: writes of different arms are not merged.
    least : int
        Least room of a write, in sectors.
    used : int
        Room of what is accepted and not yet on the media.
    n_numbered : int
        Writes that have a number: entries, and writes that pass the buffer.
    n_in_flight, n_passing : int
        Entries that are being written to the media, and writes that pass the buffer and are not on the media.
    """

    capacity: int
    longest: int
    border: int
    least: int = 0
    used: int = 0
    n_numbered: int = 0
    n_in_flight: int = 0
    n_passing: int = 0
    waiting: list[Dirty] = field(default_factory=list)

    def accept(self, seq: int, lba: int, n: int, now_ns: int, in_place: bool = False) -> bool:
        """Accept a write if there is room (rule C7): it replaces, extends or follows the waiting ones."""
        if not self.capacity:
            return False
        for entry in self.waiting if self.longest else ():
            if entry.lba <= lba and lba + n <= entry.lba + entry.n_sectors:
                return True
        room = max(n, self.least)
        if self.used + room > self.capacity:
            return False
        self.used += room
        for entry in self.waiting:
            is_behind = entry.lba + entry.n_sectors == lba and entry.in_place == in_place
            if is_behind and entry.n_sectors + n <= self.longest and lba % self.border:
                entry.n_sectors += n
                entry.room += room
                return True
        self.n_numbered += 1
        self.waiting.append(Dirty(seq, lba, n, now_ns, in_place=in_place, room=room, number=self.n_numbered))
        return True

    def pass_by(self) -> int:
        """A write passes the buffer; return its number."""
        self.n_numbered += 1
        self.n_passing += 1
        return self.n_numbered

    def take(self, entry: Dirty) -> None:
        """An entry begins to be written to the media."""
        self.waiting.remove(entry)
        self.n_in_flight += 1

    def written(self, entry: Dirty) -> None:
        """An entry is on the media: its room is free."""
        self.used -= entry.room
        self.n_in_flight -= 1

    @property
    def n_unwritten(self) -> int:
        """Writes with a number that are not on the media."""
        return len(self.waiting) + self.n_in_flight + self.n_passing

    def load(self, entries: list[Dirty]) -> None:
        """Writes that wait when the run begins, in order of arrival (rule Z5)."""
        self.waiting = list(entries)
        self.n_numbered = len(entries)
        for number, entry in enumerate(entries, start=1):
            entry.number = number
        self.used = sum(entry.room for entry in entries)

    def covers(self, lba: int, n: int) -> bool:
        """Return whether one waiting write contains a whole range."""
        return any(entry.lba <= lba and lba + n <= entry.lba + entry.n_sectors for entry in self.waiting)

    @property
    def is_pressing(self) -> bool:
        """Whether it is more than half full, so that destaging competes with commands instead of waiting (rule C8)."""
        return 2 * self.used > self.capacity
