"""Dirty blocks of a write-back cache, and which of them are written next (rules K7 to K9)."""

from __future__ import annotations

from dataclasses import dataclass, field

from sortedcontainers import SortedSet


@dataclass
class DirtyBlocks:
    """Blocks that were accepted and are not yet on the disks.

    Attributes
    ----------
    capacity : int
        Blocks.
    high, low : int
        Destaging starts when more than `high` are dirty and stops at `low`.
    longest : int
        Largest number of blocks in one destage request.
    """

    capacity: int
    high: int
    low: int
    longest: int
    waiting: SortedSet = field(default_factory=SortedSet)
    in_flight: set[int] = field(default_factory=set)
    sweep: int = 0
    is_destaging: bool = False

    @property
    def used(self) -> int:
        """Blocks that occupy the cache."""
        return len(self.waiting) + len(self.in_flight)

    def __contains__(self, block: int) -> bool:
        return block in self.waiting or block in self.in_flight

    def accept(self, first: int, end: int) -> bool:
        """Accept blocks [first, end) if there is room; a block that is already waiting needs none (rule K7)."""
        new = sum(1 for block in range(first, end) if block not in self.waiting)
        if self.used + new > self.capacity:
            return False
        self.waiting.update(range(first, end))
        return True

    def next_run(self, *, is_pressed: bool) -> tuple[int, int] | None:
        """Return the adjacent dirty blocks to write next, upward from the last ones and round again (rule K8).

        `is_pressed` means that a write is waiting for room, so that the low mark is ignored.
        """
        if self.used > self.high:
            self.is_destaging = True
        elif len(self.waiting) <= self.low:
            self.is_destaging = False
        if not self.waiting or not (self.is_destaging or is_pressed):
            return None
        at = self.waiting.bisect_left(self.sweep)
        first = self.waiting[at if at < len(self.waiting) else 0]
        end = first
        while end - first < self.longest and end in self.waiting:
            end += 1
        self.waiting.difference_update(range(first, end))
        self.in_flight.update(range(first, end))
        self.sweep = end
        return first, end

    def written(self, first: int, end: int) -> None:
        """Remove blocks [first, end), which are on the disks now."""
        self.in_flight.difference_update(range(first, end))
