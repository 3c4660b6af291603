"""Which pages are in memory, and which of them are dirty (rules P1 to P7). Plain state and decisions."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Dirty:
    """A dirty page: when it became dirty (rule P9), and by which request."""

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
    waiting : list of int
        Dirty pages that are not in flight, in order of place.
    dirty_since_ns : int
        When the first page became dirty after none was (rule P5).
    """

    capacity: int
    background: int
    limit: int
    clean: OrderedDict[int, None] = field(default_factory=OrderedDict)
    dirty: dict[int, Dirty] = field(default_factory=dict)
    writing: set[int] = field(default_factory=set)
    waiting: list[int] = field(default_factory=list)
    dirty_since_ns: int = 0

    @property
    def n_dirty(self) -> int:
        """Pages that count toward the thresholds (rule P5): dirty ones and those in flight to the array."""
        return len(self.dirty) + len(self.writing)

    @property
    def oldest_ns(self) -> int | None:
        """Time at which the oldest dirty page became dirty; None: no page is dirty."""
        return next(iter(self.dirty.values())).since_ns if self.dirty else None

    def load(self, clean: Iterable[int], dirty: Iterable[int]) -> None:
        """Pages that are in memory when the run begins (rule Z6)."""
        self.dirty = {page: Dirty(0, 0) for page in dirty}
        self.waiting = sorted(self.dirty)
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
        if not self.dirty:
            self.dirty_since_ns = now_ns
        for page in pages:
            self.clean.pop(page, None)
            if page in self.dirty:
                continue
            self.dirty[page] = Dirty(now_ns, row)
            if page not in self.writing:
                insort(self.waiting, page)
        self.add(())

    def may_write(self, pages: Iterable[int]) -> bool:
        """Return whether a writer may continue without waiting (rule P6)."""
        fresh = sum(page not in self.dirty for page in pages)
        return not self.n_dirty or self.n_dirty + fresh <= self.limit

    def next_run(self, position: int, longest: int) -> list[int]:
        """Return the next pages to write from `position` on, or else from the first one: adjacent ones (rule P4)."""
        at = bisect_left(self.waiting, position) % max(len(self.waiting), 1)
        run: list[int] = []
        for page in self.waiting[at : at + longest]:
            if run and run[-1] + 1 != page:
                break
            run.append(page)
        return run

    def start(self, pages: Iterable[int]) -> None:
        """Start writing pages to the array."""
        for page in pages:
            del self.dirty[page]
            del self.waiting[bisect_left(self.waiting, page)]
            self.writing.add(page)

    def finish(self, pages: Iterable[int]) -> None:
        """Mark pages as written to the array."""
        self.writing.difference_update(pages)
        for page in pages:
            if page in self.dirty:
                insort(self.waiting, page)
        self.add(pages)
