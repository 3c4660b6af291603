"""Block caches: LRU and 2Q, and the policies by their names (rules K6 and K16). Pure state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from diskmodel.controller.arc import Arc, ZfsArc


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


#: A pool's is always the last one.
POLICIES: dict[str, Callable[[int], BlockCache]] = {"lru": Lru, "2q": TwoQueue, "arc": Arc, "zfs-arc": ZfsArc}
