"""Caches that divide their room between recency and frequency: the paper's ARC, and OpenZFS's (rules K6 and K16).

Pure state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

#: The share of OpenZFS's cache that recent blocks are to have is kept in 2^-32 (`arc_pd`); at first it is half.
ONE = 1 << 32
#: From this ratio of the greater share to the smaller one on, the smaller one shrinks more slowly (`arc_evict_adj`).
_UNEVEN = 4


class _Adaptive:
    """Blocks that were used once recently, those used more often, and numbers of blocks evicted from each.

    Parameters
    ----------
    capacity : int
        Blocks, at least 1.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
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

    @property
    def _is_full(self) -> bool:
        return len(self.recent) + len(self.frequent) >= self.capacity

    def _evict(self, *, is_over: bool) -> int | None:
        """Evict a block and remember its number; return it. A recent one where these are over their share."""
        if self.recent and (is_over or not self.frequent):
            gone, _ = self.recent.popitem(last=False)
            self.was_recent[gone] = None
        elif self.frequent:
            gone, _ = self.frequent.popitem(last=False)
            self.was_frequent[gone] = None
        else:
            return None
        return gone


class Arc(_Adaptive):
    """ARC: divides the cache between recency and frequency, and adapts the division to misses of evicted blocks.

    References
    ----------
    Megiddo, Modha, *ARC: a self-tuning, low overhead replacement cache*, USENIX FAST 2003, figure 4.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.target = 0

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
        if not self._is_full:
            return None
        is_over = len(self.recent) > self.target or (is_was_frequent and len(self.recent) == self.target)
        return self._evict(is_over=is_over)


class ZfsArc(_Adaptive):
    """ARC as in OpenZFS since 2.2: a share of the cache for recent blocks, which moves with uses of evicted ones.

    Against the paper's (`Arc`) fewer evicted blocks are remembered, a share that has become small shrinks ever more
    slowly, and what is written is new, whatever it was before.

    References
    ----------
    OpenZFS 2.2.8, module/zfs/arc.c: `arc_access`, `arc_evict`, `arc_evict_adj`, `arc_release`.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.share = ONE // 2
        self._apart: Sequence[int] = (0, 0, 0, 0)

    def begin_with(self, lists: Sequence[Iterable[int]], apart: Sequence[int], share: int) -> None:
        """Hold the blocks of each list, the oldest first, and more of which no use reaches any."""
        self.recent, self.frequent, self.was_recent, self.was_frequent = map(OrderedDict.fromkeys, lists)
        self._apart, self.share = apart, share

    @property
    def _n_recent(self) -> int:
        return len(self.recent) + self._apart[0]

    @property
    def _n_frequent(self) -> int:
        return len(self.frequent) + self._apart[1]

    @property
    def _is_full(self) -> bool:
        return self._n_recent + self._n_frequent >= self.capacity

    def n_beside(self, block: int) -> int:
        """How many blocks are in the same list as one that it holds."""
        return self._n_recent if block in self.recent else self._n_frequent

    def insert(self, block: int) -> int | None:
        if block in self:
            self.touch(block)
            return None
        is_remembered = self._remembers(block)
        gone = self._make_room()
        (self.frequent if is_remembered else self.recent)[block] = None
        return gone

    def write(self, block: int) -> int | None:
        for blocks in (self.recent, self.frequent, self.was_recent, self.was_frequent):
            blocks.pop(block, None)
        gone = self._make_room()
        self.recent[block] = None
        return gone

    def _remembers(self, block: int) -> bool:
        """Whether a block was evicted not long ago; then its list is to have more of the cache."""
        if block in self.was_recent:
            del self.was_recent[block]
            self.share += self._step(self.share, ONE - self.share)
        elif block in self.was_frequent:
            del self.was_frequent[block]
            self.share -= self._step(ONE - self.share, self.share)
        else:
            return False
        return True

    def _step(self, growing: int, shrinking: int) -> int:
        """By how much one share grows at the cost of the other: one block of those remembered, at most about a 32nd."""
        held = self._n_recent + self._n_frequent
        step = 2 * ONE // (held if held > 32 else held * (64 // held))
        if growing >= _UNEVEN * shrinking:
            step //= growing // (2 * shrinking + 1)
        return step

    def _make_room(self) -> int | None:
        """Evict a block and remember its number, if the cache is full; return it."""
        if not self._is_full:
            return None
        # the one that comes is of the recent ones until it is there
        gone = self._evict(is_over=self._n_recent + 1 > self.capacity * self.share // ONE)
        self._forget(self.was_recent, self._n_frequent // 2 - self._apart[2])
        self._forget(self.was_frequent, (self._n_recent + 1) // 2 - self._apart[3])
        return gone

    @staticmethod
    def _forget(evicted: OrderedDict[int, None], most: int) -> None:
        """Forget the oldest of the evicted blocks that are more than so many."""
        while evicted and len(evicted) > most:
            evicted.popitem(last=False)
