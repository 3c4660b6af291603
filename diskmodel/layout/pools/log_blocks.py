"""How long the blocks of a pool's intent log are (rule X10): OpenZFS allocates the next one before it is needed."""

from __future__ import annotations

from diskmodel.layout.pools.writes import WriteTables

#: Blocks of the log have so many bytes, or a multiple (`ZIL_MIN_BLKSZ`).
LEAST_BYTES = 4096
#: A burst of more than so many of the longest blocks is written in these.
MANY_BLOCKS = 8


class Lengths:
    """Lengths of blocks by what the last bursts took."""

    def __init__(self, tables: WriteTables) -> None:
        self.header, self.longest = tables.log_header, tables.log_block
        #: Bytes that the longest block has room for, and of these with one header; less room than `waste` is not used
        #: for a part of an entry.
        self.room = self.longest - self.header
        self.data = self.room - self.header
        self.waste = self.data // 16
        #: Of the last bursts: the length of block that is best for each, and the least first one that does as well.
        self.best = [self.room] * tables.log_bursts
        self.least = [0] * tables.log_bursts
        self.turn = 0
        #: Bytes of this burst, and those of them that have no place yet.
        self.size = self.left = 0
        self.next = self.longest

    def come(self, n_bytes: int) -> None:
        """Begin, or go on with a burst."""
        self.size += n_bytes
        self.left += n_bytes

    def is_full(self, room: int, left: int) -> bool:
        """Return whether an entry with so many bytes of data left begins in the next block."""
        if room < self.header:
            return True
        end = left % self.data
        return room < self.header + left and room < self.waste and (not end or room < self.header + end)

    def within_burst(self, *, is_parallel: bool) -> None:
        """Choose the next length within a burst: for what is left, and where commits overlap for others beside it."""
        best, _ = self._plan(self.left)
        if is_parallel:
            best = max(best, self._plan(self.left + self._expected())[0])
        self.next = min(self.rounded(best + self.header), self.longest)

    def burst_ended(self) -> None:
        """Remember this burst, and choose the next length by the last ones."""
        self.turn = (self.turn + 1) % len(self.best)
        self.best[self.turn], self.least[self.turn] = self._plan(self.size)
        self.size = self.left = 0
        self.next = min(self.rounded(self._expected() + self.header), self.longest)

    def _plan(self, size: int) -> tuple[int, int]:
        """Return the best length of the blocks of a burst, and the least that the first one may have."""
        if size <= self.room:
            return size, size
        if size <= MANY_BLOCKS * self.room:
            n = -(-size // self.data)
            each = -(-size // n)
            if each <= self.room - self.waste:
                return each, max(size - (self.room - self.waste) * (n - 1), self.waste)
        return self.room, 0

    def _expected(self) -> int:
        """Return what is enough for seven of the last eight bursts, unless half of it is enough for six."""
        now_best, now_least = self._plan(self.size) if self.size else (self.longest, 0)
        best = min(now_best, *self.best)
        first, second = max(now_least, best), best
        for least in self.least:
            if least >= first:
                first, second = least, first
            elif least > second:
                second = least
        return first if first < 2 * second else second

    @staticmethod
    def rounded(n_bytes: int) -> int:
        """Return so many bytes as they are written."""
        return -(-n_bytes // LEAST_BYTES) * LEAST_BYTES
