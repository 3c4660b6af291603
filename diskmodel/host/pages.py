"""Which pages are in memory, and which of them are dirty (rules P1 to P7). Plain state and decisions."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Dirty:
    """A dirty page: when it became dirty, and by which request."""

    since_ns: int
    row: int


@dataclass
class Pages:
    """Pages in memory, by number.

    Attributes
    ----------
    capacity : int
        Pages that fit in memory.
    background, limit : int
        Number of dirty pages above which the flusher writes; largest number before writers wait.
    clean : ordered, the least recently used first
    dirty : in order of the time at which they became dirty
    writing : set of int
        Pages in flight to the array; one that is written to meanwhile is dirty as well.
    """

    capacity: int
    background: int
    limit: int
    clean: OrderedDict[int, None] = field(default_factory=OrderedDict)
    dirty: dict[int, Dirty] = field(default_factory=dict)
    writing: set[int] = field(default_factory=set)

    @property
    def n_dirty(self) -> int:
        """Pages that count toward the thresholds (rule P5): dirty ones and those in flight to the array."""
        return len(self.dirty) + len(self.writing)

    @property
    def oldest_ns(self) -> int | None:
        """Time at which the oldest dirty page became dirty; None: no page is dirty."""
        return next(iter(self.dirty.values())).since_ns if self.dirty else None

    def load(self, clean: Iterable[int], dirty: Iterable[tuple[int, int]]) -> None:
        """Pages that are in memory when the run begins, dirty ones with the time since when (rule Z6)."""
        self.dirty = {page: Dirty(since_ns, 0) for page, since_ns in dirty}
        self.add(clean)

    def holds(self, page: int) -> bool:
        """Return whether a page is in memory."""
        return page in self.clean or page in self.dirty or page in self.writing

    def use(self, pages: Iterable[int]) -> None:
        """Mark pages as most recently used, because they were read."""
        for page in pages:
            if page in self.clean:
                self.clean.move_to_end(page)

    def add(self, pages: Iterable[int]) -> None:
        """Insert pages read from the array; evict the least recently used clean ones (rule P2)."""
        for page in pages:
            if page not in self.dirty and page not in self.writing:
                self.clean[page] = None
                self.clean.move_to_end(page)
        while self.clean and len(self.clean) + self.n_dirty > self.capacity:
            self.clean.popitem(last=False)

    def write(self, pages: Iterable[int], now_ns: int, row: int) -> None:
        """Mark pages as dirty since their first write (rule P3)."""
        for page in pages:
            self.clean.pop(page, None)
            self.dirty.setdefault(page, Dirty(now_ns, row))
        self.add(())

    def may_write(self, pages: Iterable[int]) -> bool:
        """Return whether a writer may continue without waiting (rule P6)."""
        fresh = sum(page not in self.dirty for page in pages)
        return not self.n_dirty or self.n_dirty + fresh <= self.limit

    def waiting_since(self, latest_ns: int) -> list[int]:
        """Return the pages that became dirty at `latest_ns` or earlier and are not in flight to the array."""
        found = []
        for page, state in self.dirty.items():
            if state.since_ns > latest_ns:
                break
            if page not in self.writing:
                found.append(page)
        return found

    def start(self, pages: Iterable[int]) -> None:
        """Start writing pages to the array."""
        for page in pages:
            del self.dirty[page]
            self.writing.add(page)

    def finish(self, pages: Iterable[int]) -> None:
        """Mark pages as written to the array."""
        self.writing.difference_update(pages)
        self.add(pages)


def runs(pages: list[int], position: int, longest: int) -> list[list[int]]:
    """Return runs of adjacent pages in ascending order from `position` on and round, up to `longest` each (rule P4)."""
    ordered = sorted(pages)
    split = bisect_left(ordered, position)
    found: list[list[int]] = []
    for page in ordered[split:] + ordered[:split]:
        if found and found[-1][-1] + 1 == page and len(found[-1]) < longest:
            found[-1].append(page)
        else:
            found.append([page])
    return found
