"""What the memory of a host holds after a long time of a workload (rule Z6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from diskmodel.engine.steady.past.blocks import ROUNDS, lines_apart, recent_blocks, waiting_pages
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.start import EMPTY, Level, Levels
from diskmodel.engine.steady.station import Station
from diskmodel.host import HostTables
from diskmodel.records import Int64

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario


class HostMemory(Station):
    """Pages that are dirty, and those that were used last."""

    def __init__(self, scenario: Scenario, history: History) -> None:
        super().__init__(scenario, history)
        host = HostTables.of(scenario.host, self.sector_bytes)
        self.page_bytes = host.page_sectors * self.sector_bytes
        self.pages = host.page_cache

    @property
    def has_level(self) -> bool:
        return self.pages is not None

    @property
    def marks(self) -> tuple[int, int]:
        pages = self.pages
        return (pages.background_pages * self.page_bytes, pages.limit_pages * self.page_bytes) if pages else (0, 0)

    @property
    def keeps_dirty_pages(self) -> bool:
        """Whether the memory has a level: fsync leaves none of its pages dirty for long (rules P7, P9)."""
        return self.pages is not None and not self.pages.is_synchronous and not self.pages.sync_every

    @property
    def rows_waiting(self) -> int:
        if self.pages is None or not self.keeps_dirty_pages:
            return 0
        return self.history.rows_of_uses(ROUNDS * self.pages.limit_pages, self.page_bytes, only_writes=True)

    def settle(self, levels: Levels) -> Mapping[str, Any]:
        return {
            "pages_dirty": (dirty := self.once("pages", levels.pages, lambda: self._dirty(levels.pages))),
            "pages_apart": self._apart(levels.pages, len(dirty)),
            "pages_clean": self._clean(),
        }

    def waiting(self, n: int) -> Int64:
        """Return so many dirty pages, as a sweep over their places leaves them."""
        return waiting_pages(self.history, n, self.page_bytes) if n else EMPTY.pages_dirty

    def _dirty(self, level: Level) -> Int64:
        return self.waiting(self._n_waiting(level))

    def _n_waiting(self, level: Level) -> int:
        """Dirty pages at a level."""
        pages = self.pages
        if pages is None or not self.keeps_dirty_pages or not self.writes_anything or level is Level.LOW:
            return 0
        return pages.limit_pages if level is Level.FULL else pages.background_pages

    def _apart(self, level: Level, n_listed: int) -> int:
        """Dirty pages beside those that are listed: the past is drawn only so far back."""
        return lines_apart(self.history, self._n_waiting(level), n_listed, self.page_bytes)

    def _clean(self) -> Int64:
        """Pages used last, as many as memory has. Those that are dirty take room of the oldest of these."""
        if self.pages is None:
            return EMPTY.pages_clean
        return recent_blocks(self.history, self.pages.memory_pages, self.page_bytes)
