"""What of an array takes long to reach its stationary state, and that state as data (rules Z2 to Z6, F18)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from diskmodel.engine.ledger import current
from diskmodel.engine.steady.buffered import LastWrites
from diskmodel.engine.steady.contents import (
    ROUNDS,
    filling_uses,
    n_blocks_of,
    recent_blocks,
    regions_of,
    uneven_round,
    waiting_blocks,
    waiting_pages,
)
from diskmodel.engine.steady.drives import drive_state
from diskmodel.engine.steady.levels import bytes_per_line, n_lines_of
from diskmodel.engine.steady.logged import Caches
from diskmodel.engine.steady.recent import MAX_ROWS, MAX_USES, History
from diskmodel.engine.steady.start import EMPTY, Level, Levels, Start
from diskmodel.host import HostTables
from diskmodel.records import Int64
from diskmodel.result.statistics import UNKNOWN_CYCLE
from diskmodel.workload import Sequential

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Computing time of a block, page or write that is drawn for a start, seconds, by counts: it is drawn, placed on disks
#: and sorted. At half, a plan that begins with full caches takes longer than its account says; at double, its runs are
#: shorter than need be. Blocks of a write cache are sorted in several ways: two million took 1.0 s.
_DRAWN_S, _DIRTY_S = 0.3e-6, 0.5e-6

#: What is drawn of a part.
Drawn = TypeVar("Drawn")


def cached_blocks(scenario: Scenario, history: History) -> Int64:
    """Return the blocks in the read cache, in the order in which they were used (rule Z4)."""
    caches = scenario.caches
    if caches is None or not caches.read_blocks:
        return EMPTY.cached
    block_bytes = caches.block_sectors * scenario.drive.sector_bytes
    draw = recent_blocks if caches.policy == "lru" else filling_uses
    found = draw(history, caches.read_blocks, block_bytes)
    what = (draw.__name__, history.shared.placed, caches.read_blocks, block_bytes)
    current().enter_once(what, _DRAWN_S * len(found))
    return found


def cached_regions(scenario: Scenario, history: History) -> Int64:
    """Return the regions that lie in the read cache as a whole, where they have too many blocks to list (rule Z4)."""
    caches = scenario.caches
    if caches is None or not caches.read_blocks or caches.policy != "lru" or scenario.layout.pool is not None:
        return EMPTY.cached_regions
    regions = regions_of(history, caches.block_sectors * scenario.drive.sector_bytes)
    return regions if MAX_USES < n_blocks_of(regions) <= caches.read_blocks else EMPTY.cached_regions


def _rows(drawn: object) -> int:
    """Return how many rows were drawn of a part."""
    parts = drawn if isinstance(drawn, tuple) else (getattr(drawn, "writes", drawn),)
    return max((len(part) for part in parts if isinstance(part, np.ndarray)), default=0)


class Parts:
    """What of a scenario has a state that takes long to reach."""

    def __init__(self, scenario: Scenario, history: History) -> None:
        self.scenario = scenario
        self.history = history
        # levels that the trial confirms are not drawn again. A cache of bound methods would refer to these parts, and
        # keep the drive's tables, megabytes each, until the next collection of garbage
        self._drawn: dict[tuple[str, Level | int | None], Any] = {}
        tables = scenario.drive
        self.sector_bytes = tables.sector_bytes
        self.caches = scenario.caches
        host = HostTables.of(scenario.host, self.sector_bytes)
        self.page_bytes = host.page_sectors * self.sector_bytes
        self.pages = host.page_cache
        #: Sectors of a drive's buffer; 0: writes go to the media.
        self.buffer = tables.buffer_sectors
        self.media = tables.media_cache
        #: What such a drive holds.
        self.drive = drive_state(tables)
        self.history = replace(history, n_before=self._rows_waiting())

    @property
    def has_levels(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self.buffer or self.media or self.pages or (self.caches and self.caches.dirty_lines))

    @property
    def first_levels(self) -> Levels:
        """Where the trial begins. Nothing holds a flash drive's buffer at a mark: it is programmed at once."""
        return Levels() if self.scenario.drive.keeps_level else Levels(drives=Level.LOW)

    @property
    def keeps_dirty_pages(self) -> bool:
        """Whether the host's memory has a level: fsync leaves none of its pages dirty for long (rules P7, P9)."""
        return self.pages is not None and not self.pages.is_synchronous and not self.pages.sync_every

    @property
    def writes_anything(self) -> bool:
        return self.history.workload.has_writes

    @property
    def knows_cleanings(self) -> bool:
        """Whether it is known how often full media caches clean; those without bands never have to."""
        is_shingled = self.media is not None and self.media.band_sectors > 0
        return not is_shingled or self.logged(Level.FULL).cleaning_requests > 0

    def ends(self) -> tuple[tuple[int, int], ...]:
        """Mark and room of each level, in bytes."""
        layout, caches, pages = self.scenario.layout, self.caches, self.pages
        drives = self.buffer * (layout.n_disks - len(layout.failed)) * self.sector_bytes
        line = self._bytes_per_line if caches else 0
        return (
            (int(caches.high_lines * line), int(caches.dirty_lines * line)) if caches else (0, 0),
            (drives // 2, drives),
            (pages.background_pages * self.page_bytes, pages.limit_pages * self.page_bytes) if pages else (0, 0),
        )

    def _rows_waiting(self) -> int:
        """Requests that fill everything that can wait to be written (rule Z2)."""
        rows = 0
        if self.caches is not None:
            block = self.caches.block_sectors * self.sector_bytes
            rows = self.history.rows_of_uses(ROUNDS * self.caches.dirty_blocks, block, only_writes=True)
        if self.buffer or self.drive.programmed:
            rows = max(rows, self.history.rows_of_writes(self._buffered_bytes(self.buffer + self.drive.programmed)))
        if self.media is not None:
            rows = max(rows, self._rows_of_runs(self.media.run_sectors))
        if self.pages is not None and self.keeps_dirty_pages:
            n = ROUNDS * self.pages.limit_pages
            rows = max(rows, self.history.rows_of_uses(n, self.page_bytes, only_writes=True))
        return rows

    def _rows_of_runs(self, run_sectors: int) -> int:
        """Requests in which each stream that writes in order writes a run on every disk (rule G9)."""
        streams = self.history.workload.streams
        total = sum(stream.row_weight for stream in streams)
        rates = [
            stream.row_weight / total * stream.write_ratio * stream.mean_size_bytes
            for stream in streams
            if isinstance(stream.addresses, Sequential) and stream.write_ratio
        ]
        run_bytes = run_sectors * self.sector_bytes * self.scenario.layout.n_disks
        # a quarter more, as strips may begin anywhere
        return min(int(run_bytes * 5 / (4 * min(rates))), MAX_ROWS) if rates else 0

    def _buffered_bytes(self, room: int) -> int:
        """Bytes of writes that leave `room` sectors in the buffer of each disk, of no more strips than `MAX_ROWS`."""
        layout = self.scenario.layout
        # a disk gets its part of the writes whether or not others work; a quarter more than fits on average, so that
        # few disks get less than they have room for
        n_bytes = room * layout.n_disks * self.sector_bytes * 5 // (4 * layout.pieces_of_each)
        if not layout.has_strips:
            return n_bytes
        # strips of one sector (RAID 3) would be 40 million of 64 disks, and small writes as many of 2,000
        piece_bytes = min(layout.strip * self.sector_bytes, self.history.workload.mean_size_bytes)
        return min(n_bytes, int(MAX_ROWS * piece_bytes) // layout.pieces_of_each)

    def logged(self, level: Level) -> Caches:
        """What the media caches hold (rule G9)."""
        return self._once("logged", level, lambda: self._draw_logged(level))

    # ------------------------------------------------------------------ as data
    def start(self, levels: Levels) -> Start:
        """The state at these levels."""
        once = self._once
        dirty, round_requests = once("dirty", self.n_waiting(levels), lambda: self._draw_dirty(levels))
        pages = once("pages", levels.pages, lambda: self._draw_dirty_pages(levels.pages))
        programmed, buffered, buffered_room = once(
            "buffered", levels.drives, lambda: self._draw_buffered(levels.drives)
        )
        caches = self.logged(levels.media)
        return Start(
            dirty=dirty,
            cached=once("cached", None, lambda: cached_blocks(self.scenario, self.history)),
            cached_regions=once("regions", None, lambda: cached_regions(self.scenario, self.history)),
            aged=once("aged", None, lambda: self.drive.aged(self)),
            piece_units=self.drive.piece_units(self),
            shifts=self.drive.shifts(self),
            programmed=programmed,
            buffered=buffered,
            buffered_room=buffered_room,
            logged=caches.writes,
            runs=once("runs", None, lambda: self.drive.runs(self)),
            pages_dirty=pages,
            pages_clean=self._clean_pages(),
            n_before=self.history.n_before,
            round_requests=round_requests,
            cleaning_requests=caches.cleaning_requests,
            levels=levels,
        )

    def n_waiting(self, levels: Levels) -> int:
        """Lines that wait in the controller's cache at these levels."""
        caches = self.caches
        if caches is None:
            return 0
        room = caches.dirty_lines - caches.high_lines if levels.controller is Level.FULL else 0
        return caches.high_lines + round(levels.filled_ratio * room)

    @cached_property
    def _bytes_per_line(self) -> float:
        """Dirty data in a line of the controller's cache, on average (rule Z3)."""
        caches = self.caches
        assert caches is not None
        block_bytes = caches.block_sectors * self.sector_bytes
        if caches.line_blocks == 1 or not self.writes_anything:
            return float(caches.line_blocks * block_bytes)
        n = max(caches.high_lines, 1)
        waiting, _ = waiting_blocks(self.history, n, block_bytes, caches.lanes, caches.line_blocks)
        return bytes_per_line(waiting, caches, self.sector_bytes)

    def _once(self, part: str, level: Level | int | None, draw: Callable[[], Drawn]) -> Drawn:
        """Return what was drawn of a part at a level; drawn the first time."""
        if (part, level) not in self._drawn:
            drawn = self._drawn[part, level] = draw()
            if part == "buffered":  # kept for a question
                of_all = self.last_writes(self.buffer + self.drive.programmed)
                current().enter_once((part, level, of_all), _DRAWN_S * _rows(drawn))
            elif part != "cached":  # which enters it
                current().enter((_DIRTY_S if part == "dirty" else _DRAWN_S) * _rows(drawn))
        found: Drawn = self._drawn[part, level]
        return found

    def _draw_dirty(self, levels: Levels) -> tuple[Int64, int]:
        """Blocks in the write-back cache (rule Z4), and the requests of a round that is uneven, else 0 (rule Z10)."""
        caches = self.caches
        if caches is None or not caches.dirty_lines:
            return EMPTY.dirty, 0
        if not caches.is_protected and self.history.workload.has_syncs:
            return EMPTY.dirty, 0  # each flush empties it (rule K15)
        n = self.n_waiting(levels)
        history, block_bytes = self.history, caches.block_sectors * self.sector_bytes
        line_blocks = caches.line_blocks
        waiting, _ = waiting_blocks(history, n, block_bytes, caches.lanes, line_blocks)
        if len(waiting) < n or n_lines_of(waiting, line_blocks) < n:
            return waiting, 0
        has_arms = self.scenario.drive.has_arms
        return waiting, uneven_round(history, len(waiting), block_bytes, caches.lanes, has_arms=has_arms)

    def _draw_buffered(self, level: Level) -> tuple[Int64, Int64, Int64]:
        """Writes that flash drives have programmed last, those in drives' buffers, and their room (rules Z5, F18)."""
        room = {Level.LOW: 0, Level.MARK: self.buffer // 2, Level.FULL: self.buffer}[level]
        return self.drive.buffered(self, room)

    def _draw_logged(self, level: Level) -> Caches:
        """What the media caches hold (rule G9)."""
        if self.media is None or level is Level.LOW or not self.writes_anything:
            return Caches.empty()
        found = self.drive.full_caches(self)
        return found if level is Level.FULL else replace(found, cleaning_requests=UNKNOWN_CYCLE)

    def last_writes(self, room: int) -> LastWrites:
        """The past's last writes to disks, enough for `room` sectors on each."""
        return LastWrites(self.history.placed, self.scenario.layout, self.sector_bytes, self._buffered_bytes(room))

    def _draw_dirty_pages(self, level: Level) -> Int64:
        """Dirty pages of the host (rule Z6)."""
        pages = self.pages
        if pages is None or not self.keeps_dirty_pages or not self.writes_anything or level is Level.LOW:
            return EMPTY.pages_dirty
        return self.waiting_pages(pages.limit_pages if level is Level.FULL else pages.background_pages)

    def waiting_pages(self, n: int) -> Int64:
        """So many dirty pages of the host, as a sweep over their places leaves them."""
        return waiting_pages(self.history, n, self.page_bytes) if n else EMPTY.pages_dirty

    def _clean_pages(self) -> Int64:
        """Pages used last, as many as memory has (rule Z6). Those that are dirty take room of the oldest of these."""
        if self.pages is None:
            return EMPTY.pages_clean
        return recent_blocks(self.history, self.pages.memory_pages, self.page_bytes)
