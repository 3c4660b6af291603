"""What waits to be written, as an engine records it, in bytes (rule Z7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from diskmodel.controller import CacheTables
from diskmodel.host import HostTables
from diskmodel.records import Int64

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario


def level_units(scenario: Scenario) -> tuple[int, int, int]:
    """Bytes of a block of the controller's cache, of a sector and of a host's page: the units of the levels."""
    sector = scenario.drive.sector_bytes
    write = scenario.controller.write_cache
    block = max(write.block_bytes // sector, 1) * sector if write else sector
    return block, sector, HostTables.of(scenario.host, sector).page_sectors * sector


def in_bytes(scenario: Scenario, rows: Sequence[Sequence[int]]) -> Int64:
    """Levels that an engine recorded in these units, in bytes; int64, shape (n, 5)."""
    return np.array(rows, np.int64).reshape(-1, 5) * np.array([1, *level_units(scenario), 1], np.int64)


def level_marks(scenario: Scenario) -> tuple[int, int, int]:
    """Marks of the three levels in bytes (rule Z3)."""
    tables, write, memory = scenario.drive, scenario.controller.write_cache, scenario.host.page_cache
    controller = _mark_within(scenario, _line_bytes(scenario)) if write else 0
    drives = 0
    if tables.buffer_sectors:
        n_disks = scenario.layout.n_disks - len(scenario.layout.failed)
        mark = tables.buffer_sectors * tables.sector_bytes // 2
        drives = max(mark - scenario.start.buffers_apart * tables.sector_bytes, 0) * n_disks
    if tables.media_cache is not None:
        # what a full one holds does not rise; an empty one may
        logged = int(scenario.start.logged[:, 1].sum())
        room = tables.media_cache.log_sectors * tables.arms
        drives += (logged or room) * tables.sector_bytes * scenario.layout.n_disks
    *_, page_bytes = level_units(scenario)
    apart = scenario.start.pages_apart * page_bytes
    pages = max(int(memory.memory_bytes * memory.dirty_background_ratio) - apart, 0) if memory else 0
    return controller, drives, pages


def overload_marks(scenario: Scenario, marks: tuple[int, int, int]) -> tuple[int, int, int]:
    """These marks (`level_marks`) with lines of the controller's cache full of data, as writes in order leave them."""
    caches, write = scenario.caches, scenario.controller.write_cache
    if caches is None or write is None:
        return marks
    line = caches.line_blocks * caches.block_sectors * scenario.drive.sector_bytes
    return _mark_within(scenario, line), *marks[1:]


def _mark_within(scenario: Scenario, line_bytes: float) -> int:
    """Mark of the controller's cache in bytes, of what is left beside lines that stay, which hold so much each."""
    caches, write = scenario.caches, scenario.controller.write_cache
    if caches is None or write is None:
        return 0
    apart = scenario.start.dirty_apart
    room = int((caches.dirty_lines + apart) * line_bytes)
    return max(int(room * write.high_ratio) - int(apart * line_bytes), 0)


def cache_room(scenario: Scenario) -> int:
    """Room of the controller's write-back cache in bytes of this load's data; 0: there is none (rule Z3)."""
    caches = scenario.caches
    return 0 if caches is None else int(caches.dirty_lines * _line_bytes(scenario))


def _line_bytes(scenario: Scenario) -> float:
    """Data of this load in a line of the controller's cache; 0 without one."""
    caches = scenario.caches
    return 0.0 if caches is None else bytes_per_line(scenario.start.dirty, caches, scenario.drive.sector_bytes)


def bytes_per_line(waiting: Int64, caches: CacheTables, sector_bytes: int) -> float:
    """Dirty data in a line of the controller's cache, on average over the blocks that wait; all of it where none does.

    Lines hold little of writes that are small and random.
    """
    block_bytes = caches.block_sectors * sector_bytes
    if caches.line_blocks == 1 or not len(waiting):
        return float(caches.line_blocks * block_bytes)
    return len(waiting) / n_lines_of(waiting, caches.line_blocks) * block_bytes


def n_lines_of(blocks: Int64, line_blocks: int) -> int:
    """How many lines ascending blocks lie in."""
    return int(np.count_nonzero(np.diff(blocks // line_blocks))) + 1 if len(blocks) else 0


def low_mark(scenario: Scenario) -> int:
    """Level in bytes at which the controller stops to write, where it is below its mark; else 0 (rule K8)."""
    write = scenario.controller.write_cache
    if write is None or write.low_ratio is None or write.low_ratio >= write.high_ratio:
        return 0
    return max(int(cache_room(scenario) * write.low_ratio), 1)
