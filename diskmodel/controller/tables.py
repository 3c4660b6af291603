"""Integer tables of a controller's real caches, which both engines read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from diskmodel.controller.description import Controller
from diskmodel.layout.tables import LayoutTables


@dataclass(frozen=True)
class CacheTables:
    """Sizes of the caches in blocks, and when dirty blocks are written (rules K6 to K12).

    Attributes
    ----------
    block_sectors : int
    policy : str
        Eviction policy of the read cache.
    read_blocks : int
        Size of the read cache; 0: none.
    dirty_blocks, high_blocks, low_blocks : int
        Size of the write cache, and its marks; size 0: no write cache.
    destage_blocks : int
        Largest number of blocks in one destage request: a row of the array, or a strip without parity.
    destage_depth : int
    read_ahead_sectors : int
    read_ahead_piece_sectors : int
        Length of the requests into which read-ahead is split.
    """

    block_sectors: int
    policy: str
    read_blocks: int
    dirty_blocks: int
    high_blocks: int
    low_blocks: int
    destage_blocks: int
    destage_depth: int
    read_ahead_sectors: int
    read_ahead_piece_sectors: int

    @classmethod
    def of(cls, controller: Controller, layout: LayoutTables, sector_bytes: int) -> Self:
        """Return the tables of a controller with real caches, above an array with sectors of `sector_bytes`."""
        read, write = controller.read_cache, controller.write_cache
        block_bytes = write.block_bytes if write else read.block_bytes if read else sector_bytes
        block_sectors = max(block_bytes // sector_bytes, 1)
        has_read_cache = read is not None and read.size_bytes is not None
        capacity = max(write.size_bytes // write.block_bytes, 1) if write else 0
        row_sectors = max(layout.n_data, 1) * layout.strip
        ahead = controller.read_ahead_bytes // sector_bytes
        return cls(
            block_sectors=block_sectors,
            policy=read.policy if read else "lru",
            read_blocks=max((read.size_bytes or 0) // block_bytes, 1) if read and has_read_cache else 0,
            dirty_blocks=capacity,
            high_blocks=int(capacity * write.high_ratio) if write else 0,
            low_blocks=int(capacity * write.low_ratio) if write else 0,
            destage_blocks=max(row_sectors // block_sectors, 1),
            destage_depth=write.destage_depth if write else 0,
            read_ahead_sectors=ahead,
            read_ahead_piece_sectors=max(min(row_sectors, ahead // 4) // block_sectors, 1) * block_sectors,
        )
