"""Dirty blocks of a write-back cache, and which of them are written next (rules K7 to K9)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sortedcontainers import SortedSet

from diskmodel.records import Int64

#: A block, or an array of blocks, each on its own.
_Blocks = TypeVar("_Blocks", int, Int64)


@dataclass(frozen=True)
class Lanes:
    """How an array is divided for destaging (rules K8 and K9).

    A lane is a set of disks that are written together: a disk, the disks of a strip's copies, or a parity group.

    Attributes
    ----------
    n : int
    block_sectors : int
    stripe_sectors : int
        Sectors that one destage writes at most: a row of the array with parity, else a strip.
    lane_sectors, lane_step : int
        Sector `s` belongs to lane `s // lane_sectors * lane_step mod n`.
    strip_sectors : int
    strip_cost, stripe_cost : int
        Strips that are written for each strip of data (its copies), and for each stripe (its parity).
    next_sectors : int
        From a stripe to the one that follows on it on the disks of its lane.
    budget : int
        Strips in flight at once in one lane: a lane with fewer takes another destage.
    most : int
        The same where it follows on the last one: the two are one destage.
    """

    n: int
    block_sectors: int
    stripe_sectors: int
    lane_sectors: int
    lane_step: int
    strip_sectors: int
    strip_cost: int
    stripe_cost: int
    next_sectors: int
    budget: int
    most: int

    @property
    def as_places(self) -> Lanes:
        """The same lanes, whatever is in flight at once: what waits in them does not depend on it."""
        return replace(self, budget=1, most=1)

    def lane_of(self, block: _Blocks) -> _Blocks:
        """The lane in which a block's first sector lies."""
        return block * self.block_sectors // self.lane_sectors * self.lane_step % self.n

    def stripe_of(self, block: _Blocks) -> _Blocks:
        """The stripe in which a block's first sector lies."""
        return block * self.block_sectors // self.stripe_sectors

    def next_of(self, end: int) -> int:
        """The block that follows on the disks of a lane on a run before block `end`."""
        stripe = self.stripe_of(end - 1)
        if self.stripe_of(end) == stripe:
            return end
        return -(-(stripe * self.stripe_sectors + self.next_sectors) // self.block_sectors)

    def cost(self, first: int, end: int) -> int:
        """Strips that are written when blocks [first, end) are."""
        last = (end * self.block_sectors - 1) // self.strip_sectors
        n_strips = last - first * self.block_sectors // self.strip_sectors + 1
        return n_strips * self.strip_cost + self.stripe_cost


class DirtyBlocks:
    """Blocks that were accepted and are not yet on the disks.

    Parameters
    ----------
    capacity : int
        Lines.
    high, low : int
        Destaging starts when more than `high` lines wait and stops at `low`.
    lanes : Lanes
    line_blocks : int
        Blocks of a line: a line takes room as a whole, whatever part of it is dirty.
    """

    def __init__(self, capacity: int, high: int, low: int, lanes: Lanes, line_blocks: int = 1) -> None:
        self.capacity = capacity
        self.high = high
        self.low = low
        self.lanes = lanes
        self.line_blocks = line_blocks
        self.waiting = [_Lane() for _ in range(lanes.n)]
        self.n_waiting = 0
        self.in_flight: set[int] = set()
        self.waiting_lines = 0
        self.flight_lines = 0
        self.next_lane = 0
        self.is_destaging = False

    @property
    def n_blocks(self) -> int:
        """Blocks that are not on the disks."""
        return self.n_waiting + len(self.in_flight)

    @property
    def used(self) -> int:
        """Lines that take room: those of which a block waits, and those of which one is in flight."""
        return self.waiting_lines + self.flight_lines

    def _lines(self, first: int, end: int) -> range:
        """The lines that blocks [first, end) touch."""
        return range(first // self.line_blocks, (end - 1) // self.line_blocks + 1)

    def _blocks(self, line: int) -> tuple[int, int]:
        """The first block of a line, and the one behind the last."""
        return line * self.line_blocks, (line + 1) * self.line_blocks

    def _n_lines_of(self, blocks: Container[int], first: int, end: int) -> int:
        """How many of the lines that blocks [first, end) touch have any of some blocks."""
        size = self.line_blocks
        return sum(
            any(block in blocks for block in range(line * size, (line + 1) * size)) for line in self._lines(first, end)
        )

    def fits(self, first: int, end: int) -> bool:
        """Whether blocks [first, end) fit into an empty cache."""
        if 2 * len(self._lines(first, end)) <= self.capacity:
            return True
        # a line that lies in two lanes takes room for both
        return (
            len({(self.lanes.lane_of(block), block // self.line_blocks) for block in range(first, end)})
            <= self.capacity
        )

    def __contains__(self, block: int) -> bool:
        return self._waits(block) or block in self.in_flight

    def _waits(self, block: int) -> bool:
        return block in self.waiting[self.lanes.lane_of(block)].blocks

    def load(self, blocks: Iterable[int]) -> None:
        """Blocks that wait when the run begins (rule Z4)."""
        of_lane: dict[int, list[int]] = {}
        for block in blocks:
            of_lane.setdefault(self.lanes.lane_of(block), []).append(block)
        for lane, own in of_lane.items():
            self.waiting[lane].blocks.update(own)
            self.n_waiting += len(own)
            self.waiting_lines += len({block // self.line_blocks for block in own})

    def accept(self, first: int, end: int) -> bool:
        """Take blocks [first, end) if there is room; a line in which a block waits takes no more (rule K7)."""
        new = [block for block in range(first, end) if not self._waits(block)]
        of_lane = {(self.lanes.lane_of(block), block // self.line_blocks) for block in new}
        new_lines = sum(not self._n_lines_of(self.waiting[lane].blocks, *self._blocks(line)) for lane, line in of_lane)
        if self.used + new_lines > self.capacity:
            return False
        self.waiting_lines += new_lines
        for block in new:
            self.waiting[self.lanes.lane_of(block)].blocks.add(block)
        self.n_waiting += len(new)
        return True

    def next_run(self, *, is_pressed: bool) -> tuple[int, int] | None:
        """Adjacent dirty blocks to write next (rules K8, K9); None when nothing may be written now.

        `is_pressed` means that a write is waiting for room, so that the low mark is ignored.
        """
        if self.waiting_lines > self.high:
            self.is_destaging = True
        elif self.waiting_lines <= self.low:
            self.is_destaging = False
        if not (self.is_destaging or is_pressed):
            return None
        n = len(self.waiting)
        turns = ((self.next_lane + i) % n for i in range(n))
        at = next((i for i in turns if self.waiting[i].may_write(self.lanes)), None)
        if at is None:
            return None
        self.next_lane = (at + 1) % n
        lane = self.waiting[at]
        first, end = lane.take(self.lanes)
        lane.under_way += self.lanes.cost(first, end)
        self.n_waiting -= end - first
        self.waiting_lines -= len(self._lines(first, end)) - self._n_lines_of(lane.blocks, first, end)
        self.flight_lines -= self._n_lines_of(self.in_flight, first, end)
        self.in_flight.update(range(first, end))
        self.flight_lines += self._n_lines_of(self.in_flight, first, end)
        return first, end

    def written(self, first: int, end: int) -> None:
        """Blocks [first, end) have reached the disks."""
        self.waiting[self.lanes.lane_of(first)].under_way -= self.lanes.cost(first, end)
        self.flight_lines -= self._n_lines_of(self.in_flight, first, end)
        self.in_flight.difference_update(range(first, end))
        self.flight_lines += self._n_lines_of(self.in_flight, first, end)


@dataclass
class _Lane:
    """Blocks that wait for the disks of one lane, where its sweep is, and strips that are in flight."""

    blocks: SortedSet = field(default_factory=SortedSet)
    sweep: int = 0
    follows: int = -1
    under_way: int = 0

    @property
    def first(self) -> int:
        """The block with which the next run begins: upwards from the last ones and round again."""
        at = self.blocks.bisect_left(self.sweep)
        found: int = self.blocks[at if at < len(self.blocks) else 0]
        return found

    def may_write(self, lanes: Lanes) -> bool:
        """Whether another run may begin: a new destage, or one that follows on the last one (rule K9)."""
        if not self.blocks:
            return False
        return self.under_way < lanes.budget or (self.under_way < lanes.most and self.first == self.follows)

    def take(self, lanes: Lanes) -> tuple[int, int]:
        """Adjacent blocks of one stripe."""
        first = self.first
        stripe, end = lanes.stripe_of(first), first + 1
        while end in self.blocks and lanes.stripe_of(end) == stripe:
            end += 1
        self.blocks.difference_update(range(first, end))
        self.sweep = end
        self.follows = lanes.next_of(end)
        return first, end
