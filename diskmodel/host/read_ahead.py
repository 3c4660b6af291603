"""Which pages are fetched for a buffered read (rule H2). Pure decisions; the caller fetches them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

#: Sequential readers that are tracked; a further one replaces the oldest. Linux tracks one for each open file, so the
#: limit only matters with more than 64 interleaved readers, which then lose their read-ahead.
N_READERS = 64


@dataclass
class Reader:
    """A sequential reader: where it continues, and what has been fetched for it.

    Attributes
    ----------
    expected : int
        Sector at which its next read begins.
    end : int
        Sector up to which fetches have been issued.
    marker : int
        A read of this sector or a later one triggers the next window.
    window : int
        Sectors of the last window; 0: none yet.
    """

    expected: int
    end: int
    marker: int = 0
    window: int = 0


class ReadAhead:
    """Read-ahead windows, which grow up to a limit.

    Parameters
    ----------
    limit : int
        Largest window, in sectors; 0: every read fetches its own pages only.
    page : int
        Sectors of a page.
    capacity : int
        Sectors of the device.

    References
    ----------
    Linux kernel 5.4, mm/readahead.c: `get_init_ra_size`, `get_next_ra_size`, `ondemand_readahead`.
    """

    def __init__(self, limit: int, page: int, capacity: int) -> None:
        self.limit = limit // page * page
        self.page = page
        self.capacity = capacity
        self.readers: deque[Reader] = deque(maxlen=N_READERS)

    def read(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges [first, end) to fetch now for a read of [start, end): what it needs, then read-ahead."""
        first, last = start // self.page * self.page, -(-end // self.page) * self.page
        reader = next((r for r in self.readers if r.expected == start), None)
        if reader is None:
            self.readers.append(Reader(end, last))
            return [(first, min(last, self.capacity))]
        reader.expected = end
        ranges: list[tuple[int, int]] = []
        if not self.limit:
            if last > reader.end:
                ranges.append((reader.end, last))
                reader.end = last
        elif not reader.window or last > reader.end:
            # the reader has caught up: a window from here, with its marker right after the current read
            begin = max(reader.end, first)
            reader.window = max(self._first_window(last - first), last - begin)
            reader.marker = last
            ranges.append((begin, begin + reader.window))
            reader.end = begin + reader.window
        if self.limit and end > reader.marker and reader.end < self.capacity:
            reader.window = self._next_window(reader.window)
            reader.marker = reader.end
            ranges.append((reader.end, reader.end + reader.window))
            reader.end += reader.window
        return [(a, min(b, self.capacity)) for a, b in ranges if a < min(b, self.capacity)]

    def _first_window(self, n: int) -> int:
        window = self.page * (1 << (-(-n // self.page) - 1).bit_length())
        if window <= self.limit // 32:
            return 4 * window
        return 2 * window if window <= self.limit // 4 else self.limit

    def _next_window(self, window: int) -> int:
        if window < self.limit // 16:
            return 4 * window
        return 2 * window if window <= self.limit // 2 else self.limit


def cut(first: int, end: int, longest: int) -> list[tuple[int, int]]:
    """Split [first, end) into requests of at most `longest` sectors."""
    return [(at, min(at + longest, end)) for at in range(first, end, longest)]
