"""Integer tables of a controller's real caches, which both engines read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Self

from diskmodel.controller.description import Controller
from diskmodel.controller.dirty_blocks import Lanes
from diskmodel.layout import VolumeTables
from diskmodel.loading import dataclass


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
    dirty_lines, high_lines, low_lines : int
        Room of the write cache, and its marks, in lines; 0 of room: no write cache.
    line_blocks : int
        Blocks of a line.
    is_protected : bool
        The write cache answers flushes at once (rule K13).
    lanes : Lanes
        How the array is divided for destaging.
    read_ahead_sectors : int
    read_ahead_piece_sectors : int
        Length of the requests into which read-ahead is split.
    """

    block_sectors: int
    policy: str
    read_blocks: int
    dirty_lines: int
    high_lines: int
    low_lines: int
    line_blocks: int
    is_protected: bool
    lanes: Lanes
    read_ahead_sectors: int
    read_ahead_piece_sectors: int

    @property
    def dirty_blocks(self) -> int:
        """Blocks that the write cache has room for where they fill whole lines."""
        return self.dirty_lines * self.line_blocks

    @classmethod
    def of(cls, controller: Controller, layout: VolumeTables, sector_bytes: int, drive_depth: int) -> Self:
        """Tables of a controller that has real caches, over an array of such sectors.

        A drive takes `drive_depth` commands at once.
        """
        read, write = controller.read_cache, controller.write_cache
        block_bytes = write.block_bytes if write else read.block_bytes if read else sector_bytes
        block_sectors = max(block_bytes // sector_bytes, 1)
        has_read_cache = read is not None and read.size_bytes is not None
        lanes = lanes_of(layout, block_sectors, write.destages(drive_depth) if write else drive_depth, drive_depth)
        line_blocks = 1
        if write:
            line_blocks = max(min(write.line_bytes, write.size_bytes) // block_bytes, 1)
        if layout.is_striped:
            # no line lies in two pieces of a lane
            whole = (n for n in range(line_blocks, 0, -1) if lanes.lane_sectors % (n * block_sectors) == 0)
            line_blocks = next(whole, 1)
        capacity = max(write.size_bytes // (line_blocks * block_bytes), 1) if write else 0
        low_ratio = 0.0
        if write:
            low_ratio = write.high_ratio if write.low_ratio is None else write.low_ratio
        row_sectors = max(layout.n_data, 1) * layout.strip
        ahead = controller.read_ahead_bytes // sector_bytes
        return cls(
            block_sectors=block_sectors,
            policy=read.policy if read else "lru",
            read_blocks=max((read.size_bytes or 0) // block_bytes, 1) if read and has_read_cache else 0,
            dirty_lines=capacity,
            high_lines=int(capacity * write.high_ratio) if write else 0,
            low_lines=int(capacity * low_ratio),
            line_blocks=line_blocks,
            is_protected=write is None or write.protected,
            lanes=lanes,
            read_ahead_sectors=ahead,
            read_ahead_piece_sectors=max(min(row_sectors, ahead // 4) // block_sectors, 1) * block_sectors,
        )

    def beside(self, n_blocks: int, n_lines: int) -> CacheTables:
        """Return the tables of what is left beside so many blocks that were read, and lines that wait, and stay."""
        if not n_blocks and not n_lines:
            return self
        return replace(
            self,
            read_blocks=self.read_blocks - n_blocks,
            dirty_lines=self.dirty_lines - n_lines,
            high_lines=max(self.high_lines - n_lines, 0),
            low_lines=max(self.low_lines - n_lines, 0),
        )


def lanes_of(layout: VolumeTables, block_sectors: int, depth: int, drive_depth: int) -> Lanes:
    """How an array is divided for destaging (rules K8, K9).

    There are `depth` destages on a disk at once, in at most `drive_depth` commands.
    """
    most = max(depth, drive_depth)
    if layout.has_rows:
        row = layout.n_data * layout.strip
        return Lanes(
            n=layout.n_groups,
            block_sectors=block_sectors,
            stripe_sectors=row,
            lane_sectors=row,
            lane_step=1,
            strip_sectors=layout.strip,
            strip_cost=1,
            stripe_cost=layout.n_parity,
            next_sectors=row * layout.n_groups,
            budget=depth * (layout.n_data + layout.n_parity),
            most=most * (layout.n_data + layout.n_parity),
        )
    copies = layout.copies
    step = 1 if layout.md is not None and layout.md.far else copies
    n_between = layout.n_disks // math.gcd(layout.n_disks, step) if layout.unit == layout.strip else 1
    return Lanes(
        n=layout.n_disks,
        block_sectors=block_sectors,
        stripe_sectors=layout.strip,
        lane_sectors=layout.unit,
        lane_step=step,
        strip_sectors=layout.strip,
        strip_cost=copies,
        stripe_cost=0,
        next_sectors=layout.strip * n_between,
        budget=depth * copies,
        most=most * copies,
    )
