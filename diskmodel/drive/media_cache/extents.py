"""Which blocks of an arm lie in the log, as plain state (rule G4)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from heapq import heappop, heappush

#: `Extent.at` of blocks that were written in place, in a band of which other blocks have to be written anew (rule G5).
IN_PLACE = -1


@dataclass(frozen=True, slots=True)
class Extent:
    """Blocks that were written together.

    Attributes
    ----------
    start, n : int
    at : int
        Sector of the log, or `IN_PLACE`.
    turn : int
        Number of the write.
    """

    start: int
    n: int
    at: int
    turn: int

    @property
    def end(self) -> int:
        """Block behind the last."""
        return self.start + self.n

    def part(self, start: int, end: int) -> Extent:
        """Return the part of it with blocks [start, end)."""
        at = self.at if self.at == IN_PLACE else self.at + start - self.start
        return Extent(start, end - start, at, self.turn)


class ExtentMap:
    """Extents by place and by age; none overlaps another.

    Attributes
    ----------
    used : int
        Sectors of the log that are in use.
    """

    def __init__(self) -> None:
        self.used = 0
        self._starts: list[int] = []
        self._held: dict[int, Extent] = {}
        #: By age, with some that are gone.
        self._aged: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._starts)

    def put(self, extent: Extent) -> None:
        """Add an extent whose blocks no other one has."""
        insort(self._starts, extent.start)
        self._held[extent.start] = extent
        heappush(self._aged, (extent.turn, extent.start))
        self.used += extent.n if extent.at != IN_PLACE else 0

    def remove(self, extent: Extent) -> None:
        """Forget an extent."""
        del self._starts[bisect_left(self._starts, extent.start)]
        del self._held[extent.start]
        self.used -= extent.n if extent.at != IN_PLACE else 0

    def within(self, start: int, end: int) -> list[Extent]:
        """Return the extents with a block in [start, end), in order."""
        i = bisect_right(self._starts, start) - 1
        i += i < 0 or self._held[self._starts[i]].end <= start
        found = []
        while i < len(self._starts) and self._starts[i] < end:
            found.append(self._held[self._starts[i]])
            i += 1
        return found

    def cut(self, start: int, end: int) -> None:
        """Forget blocks [start, end); what remains of an extent on either side keeps its age."""
        for extent in self.within(start, end):
            self.remove(extent)
            if extent.start < start:
                self.put(extent.part(extent.start, start))
            if end < extent.end:
                self.put(extent.part(end, extent.end))

    def find(self, turn: int, start: int) -> Extent | None:
        """Return the extent of write `turn` that begins at `start`."""
        extent = self._held.get(start)
        return extent if extent is not None and extent.turn == turn else None

    def oldest(self, most: int = 1) -> list[Extent]:
        """Return the oldest extents, at most so many."""
        found: list[Extent] = []
        while self._aged and len(found) < most:
            extent = self.find(*heappop(self._aged))
            if extent is not None and (not found or extent != found[-1]):
                found.append(extent)
        for extent in found:
            heappush(self._aged, (extent.turn, extent.start))
        return found
