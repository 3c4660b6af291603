"""What the cache of a controller holds after a long time of a workload (rules Z3, Z4, Z10)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from diskmodel.engine.ledger import current
from diskmodel.engine.steady.levels import bytes_per_line, n_lines_of
from diskmodel.engine.steady.past.blocks import (
    ROUNDS,
    filling_uses,
    lines_apart,
    n_blocks_of,
    recent_blocks,
    regions_of,
    uneven_round,
    waiting_blocks,
)
from diskmodel.engine.steady.past.history import MAX_USES
from diskmodel.engine.steady.start import EMPTY, Level, Levels, Start
from diskmodel.engine.steady.station import DRAWN_S, Station
from diskmodel.records import Int64

#: Computing time of a block that waits, seconds, by counts. They are drawn twice as often, sorted, and looked through
#: for rounds that are uneven: two million took 0.5 s.
_DIRTY_S = 0.25e-6


class ControllerCache(Station):
    """Blocks that wait to be written, and those that were read last."""

    @property
    def has_level(self) -> bool:
        caches = self.scenario.caches
        return bool(caches and caches.dirty_lines)

    @property
    def marks(self) -> tuple[int, int]:
        caches = self.scenario.caches
        if caches is None:
            return 0, 0
        line = self._bytes_per_line
        return int(caches.high_lines * line), int(caches.dirty_lines * line)

    def bytes_apart(self, start: Start) -> int:
        """Dirty data in lines that a start does not list, on average."""
        return int(start.dirty_apart * self._bytes_per_line) if start.dirty_apart else 0

    def waiting_bytes(self, start: Start) -> int:
        """Dirty data of a start."""
        return len(start.dirty) * self._block_bytes + self.bytes_apart(start) if self.has_level else 0

    @property
    def rows_waiting(self) -> int:
        caches = self.scenario.caches
        if caches is None:
            return 0
        return self.history.rows_of_uses(ROUNDS * caches.dirty_blocks, self._block_bytes, only_writes=True)

    def settle(self, levels: Levels) -> Mapping[str, Any]:
        dirty, round_requests = self.once("dirty", self._n_waiting(levels), lambda: self._dirty(levels), _DIRTY_S)
        return {
            "dirty": dirty,
            "dirty_apart": self.once("apart", self._n_waiting(levels), lambda: self._apart(levels, dirty), 0.0),
            "round_requests": round_requests,
            # whose work is entered once for all that share it
            "cached": self.once("cached", None, self._cached, 0.0),
            "cached_regions": self.once("regions", None, self._cached_regions),
        }

    @property
    def _block_bytes(self) -> int:
        caches = self.scenario.caches
        assert caches is not None
        return caches.block_sectors * self.sector_bytes

    def _n_waiting(self, levels: Levels) -> int:
        """Lines that wait at these levels."""
        caches = self.scenario.caches
        if caches is None:
            return 0
        room = caches.dirty_lines - caches.high_lines if levels.controller is Level.FULL else 0
        return caches.high_lines + round(levels.filled_ratio * room)

    @cached_property
    def _bytes_per_line(self) -> float:
        """Dirty data in a line, on average (rule Z3)."""
        caches = self.scenario.caches
        assert caches is not None
        if caches.line_blocks == 1 or not self.writes_anything:
            return float(caches.line_blocks * self._block_bytes)
        n = max(caches.high_lines, 1)
        waiting, _ = waiting_blocks(self.history, n, self._block_bytes, caches.lanes, caches.line_blocks)
        return bytes_per_line(waiting, caches, self.sector_bytes)

    def _dirty(self, levels: Levels) -> tuple[Int64, int]:
        """Blocks that wait (rule Z4), and the requests of a round that is uneven, else 0 (rule Z10)."""
        caches = self.scenario.caches
        if caches is None or not caches.dirty_lines:
            return EMPTY.dirty, 0
        if not caches.is_protected and self.history.workload.has_syncs:
            return EMPTY.dirty, 0  # each flush empties it (rule K15)
        n = self._n_waiting(levels)
        history, block_bytes = self.history, self._block_bytes
        line_blocks = caches.line_blocks
        waiting, _ = waiting_blocks(history, n, block_bytes, caches.lanes, line_blocks)
        if len(waiting) < n or n_lines_of(waiting, line_blocks) < n:
            return waiting, 0
        has_arms = self.scenario.drive.has_arms
        return waiting, uneven_round(history, len(waiting), block_bytes, caches.lanes, has_arms=has_arms)

    def _apart(self, levels: Levels, dirty: Int64) -> int:
        """Lines that wait beside those which are listed: the past is drawn only so far back."""
        caches = self.scenario.caches
        if caches is None or not len(dirty):
            return 0
        n_listed, line_bytes = n_lines_of(dirty, caches.line_blocks), caches.line_blocks * self._block_bytes
        return lines_apart(self.history, self._n_waiting(levels), n_listed, line_bytes)

    def _cached(self) -> Int64:
        """Blocks in the read cache, in the order in which they were used (rule Z4)."""
        caches = self.scenario.caches
        if caches is None or not caches.read_blocks:
            return EMPTY.cached
        draw = recent_blocks if caches.policy == "lru" else filling_uses
        found = draw(self.history, caches.read_blocks, self._block_bytes)
        what = (draw.__name__, self.history.shared.placed, caches.read_blocks, self._block_bytes)
        current().enter_once(what, DRAWN_S * len(found))
        return found

    def _cached_regions(self) -> Int64:
        """Regions that lie in the read cache as a whole, where they have too many blocks to list (rule Z4)."""
        caches = self.scenario.caches
        if caches is None or not caches.read_blocks or caches.policy != "lru" or not self.scenario.layout.has_strips:
            return EMPTY.cached_regions
        regions = regions_of(self.history, self._block_bytes)
        return regions if MAX_USES < n_blocks_of(regions) <= caches.read_blocks else EMPTY.cached_regions
