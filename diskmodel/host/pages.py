"""Which pages are in memory, and which of them wait to be written (rules P1 to P7). Plain state and decisions."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Dirty:
    """A page that differs from the array: since when, and by which request."""

    since_ns: int
    row: int


@dataclass
class Pages:
    """Pages in memory, by number.

    Attributes
    ----------
    capacity : int
        Pages that memory holds.
    background, limit : int
        Dirty pages above which the flusher writes; dirty pages that writers may make.
    clean : ordered, the least recently used first
    dirty : in order of the time at which they became dirty
    writing : set of int
        On their way to the array; one that is written to meanwhile is dirty as well.
    """

    capacity: int
    background: int
    limit: int
    clean: OrderedDict[int, None] = field(default_factory=OrderedDict)
    dirty: dict[int, Dirty] = field(default_factory=dict)
    writing: set[int] = field(default_factory=set)

    @property
    def n_dirty(self) -> int:
        """Pages that count against the thresholds (rule P5): dirty ones and those on their way."""
        return len(self.dirty) + len(self.writing)

    @property
    def oldest_ns(self) -> int | None:
        """Since when the page is dirty that has been so for longest; None: no page is dirty."""
        return next(iter(self.dirty.values())).since_ns if self.dirty else None

    def load(self, clean: Iterable[int], dirty: Iterable[tuple[int, int]]) -> None:
        """Pages that are in memory when the run begins, dirty ones with the time since when (rule Z6)."""
        self.dirty = {page: Dirty(since_ns, 0) for page, since_ns in dirty}
        self.add(clean)

    def holds(self, page: int) -> bool:
        """Whether a page is in memory."""
        return page in self.clean or page in self.dirty or page in self.writing

    def use(self, pages: Iterable[int]) -> None:
        """Pages were read: the clean ones among them are the most recently used."""
        for page in pages:
            if page in self.clean:
                self.clean.move_to_end(page)

    def add(self, pages: Iterable[int]) -> None:
        """Pages have come from the array; the least recently used clean ones make room (rule P2)."""
        for page in pages:
            if page not in self.dirty and page not in self.writing:
                self.clean[page] = None
                self.clean.move_to_end(page)
        while self.clean and len(self.clean) + self.n_dirty > self.capacity:
            self.clean.popitem(last=False)

    def write(self, pages: Iterable[int], now_ns: int, row: int) -> None:
        """Pages have been written to: they are dirty from the first time on (rule P3)."""
        for page in pages:
            self.clean.pop(page, None)
            self.dirty.setdefault(page, Dirty(now_ns, row))
        self.add(())

    def may_write(self, pages: Iterable[int]) -> bool:
        """Whether a writer need not wait (rule P6)."""
        fresh = sum(page not in self.dirty for page in pages)
        return not self.n_dirty or self.n_dirty + fresh <= self.limit

    def waiting_since(self, latest_ns: int) -> list[int]:
        """Pages that have been dirty since `latest_ns` or longer and are not on their way."""
        found = []
        for page, state in self.dirty.items():
            if state.since_ns > latest_ns:
                break
            if page not in self.writing:
                found.append(page)
        return found

    def start(self, pages: Iterable[int]) -> None:
        """Pages go to the array."""
        for page in pages:
            del self.dirty[page]
            self.writing.add(page)

    def finish(self, pages: Iterable[int]) -> None:
        """Pages are on the array."""
        self.writing.difference_update(pages)
        self.add(pages)


def runs(pages: list[int], position: int, longest: int) -> list[list[int]]:
    """Pages in the order of their places, from `position` on and round, joined up to `longest` pages (rule P4)."""
    ordered = sorted(pages)
    split = bisect_left(ordered, position)
    found: list[list[int]] = []
    for page in ordered[split:] + ordered[:split]:
        if found and found[-1][-1] + 1 == page and len(found[-1]) < longest:
            found[-1].append(page)
        else:
            found.append([page])
    return found
