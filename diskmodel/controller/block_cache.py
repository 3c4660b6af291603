"""Block caches: LRU, 2Q and ARC, one class for each policy (rules K6 and K16). Pure state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from diskmodel.controller.zfs_arc import ZfsArc


class BlockCache(Protocol):
    """A cache of block numbers."""

    def __contains__(self, block: int) -> bool: ...

    def touch(self, block: int) -> None:
        """Record the use of a block that is in the cache."""

    def insert(self, block: int) -> int | None:
        """Insert a block, or use one that is already cached; return the block that is evicted for it, if one is."""

    def write(self, block: int) -> int | None:
        """As `insert`, of a block that was written."""


class Lru:
    """Evicts the least recently used block.

    Parameters
    ----------
    capacity : int
        Blocks, at least 1.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, block: int) -> bool:
        return block in self.held

    def touch(self, block: int) -> None:
        self.held.move_to_end(block)

    def insert(self, block: int) -> int | None:
        self.held[block] = None
        self.held.move_to_end(block)
        return self.held.popitem(last=False)[0] if len(self.held) > self.capacity else None

    write = insert


class TwoQueue:
    """2Q: a block enters the main queue only when it is requested again after leaving a short FIFO queue.

    Parameters
    ----------
    capacity : int
        Blocks, at least 1. A quarter of them is the FIFO queue; half as many numbers of evicted blocks are remembered.

    References
    ----------
    Johnson, Shasha, *2Q: a low overhead high performance buffer management replacement algorithm*, VLDB 1994 (full
    version, Kin = 25 %, Kout = 50 %).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.n_new = max(capacity // 4, 1)
        self.n_remembered = max(capacity // 2, 1)
        self.new: OrderedDict[int, None] = OrderedDict()
        self.remembered: OrderedDict[int, None] = OrderedDict()
        self.lasting: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, block: int) -> bool:
        return block in self.new or block in self.lasting

    def touch(self, block: int) -> None:
        if block in self.lasting:
            self.lasting.move_to_end(block)

    def insert(self, block: int) -> int | None:
        if block in self:
            self.touch(block)
            return None
        if block in self.remembered:
            del self.remembered[block]
            self.lasting[block] = None
        else:
            self.new[block] = None
        if len(self.new) + len(self.lasting) <= self.capacity:
            return None
        if len(self.new) > self.n_new or not self.lasting:
            gone, _ = self.new.popitem(last=False)
            self.remembered[gone] = None
            if len(self.remembered) > self.n_remembered:
                self.remembered.popitem(last=False)
        else:
            gone, _ = self.lasting.popitem(last=False)
        return gone

    write = insert


class Arc:
    """ARC: divides the cache between recency and frequency, and adapts the division to misses of evicted blocks.

    Parameters
    ----------
    capacity : int
        Blocks, at least 1.

    References
    ----------
    Megiddo, Modha, *ARC: a self-tuning, low overhead replacement cache*, USENIX FAST 2003, figure 4.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.target = 0
        self.recent: OrderedDict[int, None] = OrderedDict()
        self.frequent: OrderedDict[int, None] = OrderedDict()
        self.was_recent: OrderedDict[int, None] = OrderedDict()
        self.was_frequent: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, block: int) -> bool:
        return block in self.recent or block in self.frequent

    def touch(self, block: int) -> None:
        self.recent.pop(block, None)
        self.frequent[block] = None
        self.frequent.move_to_end(block)

    def insert(self, block: int) -> int | None:
        gone = None
        if block in self:
            self.touch(block)
        elif block in self.was_recent:
            self.target = min(self.capacity, self.target + max(len(self.was_frequent) // len(self.was_recent), 1))
            gone = self._replace(is_was_frequent=False)
            del self.was_recent[block]
            self.frequent[block] = None
        elif block in self.was_frequent:
            self.target = max(0, self.target - max(len(self.was_recent) // len(self.was_frequent), 1))
            gone = self._replace(is_was_frequent=True)
            del self.was_frequent[block]
            self.frequent[block] = None
        else:
            gone = self._make_room()
            self.recent[block] = None
        return gone

    write = insert

    def _make_room(self) -> int | None:
        held = len(self.recent) + len(self.frequent)
        if len(self.recent) + len(self.was_recent) == self.capacity:
            if len(self.recent) < self.capacity:
                self.was_recent.popitem(last=False)
                return self._replace(is_was_frequent=False)
            return self.recent.popitem(last=False)[0]
        if held + len(self.was_recent) + len(self.was_frequent) >= self.capacity:
            if held + len(self.was_recent) + len(self.was_frequent) == 2 * self.capacity:
                self.was_frequent.popitem(last=False)
            return self._replace(is_was_frequent=False)
        return None

    def _replace(self, *, is_was_frequent: bool) -> int | None:
        """Evict one block and remember its number, if the cache is full; return it."""
        if len(self.recent) + len(self.frequent) < self.capacity:
            return None
        over = len(self.recent) > self.target or (is_was_frequent and len(self.recent) == self.target)
        if self.recent and (over or not self.frequent):
            gone, _ = self.recent.popitem(last=False)
            self.was_recent[gone] = None
        else:
            gone, _ = self.frequent.popitem(last=False)
            self.was_frequent[gone] = None
        return gone


#: A pool's is always the last one.
POLICIES: dict[str, Callable[[int], BlockCache]] = {"lru": Lru, "2q": TwoQueue, "arc": Arc, "zfs-arc": ZfsArc}
