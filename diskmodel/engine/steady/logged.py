"""What the media caches of hard disks hold after a long time of a workload (rule G9)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from diskmodel.drive.media_cache.tables import MediaCacheTables
from diskmodel.drive.tables import HddTables
from diskmodel.engine.steady.recent import MAX_ROWS, History
from diskmodel.errors import CoverageError, Fault
from diskmodel.layout.tables import LayoutTables
from diskmodel.layout.written import Written, written
from diskmodel.records import Int64

#: Times that the map is filled before the run. Once leaves bands that are cleaned for the first time, with a fifth less
#: in each than in the long run; after three times it is a fiftieth.
ROUNDS = 3
#: Requests from which the pieces of one are estimated.
_SAMPLE_ROWS = 1 << 10
#: Extents that the disks of an array hold together. In the kernel each takes about 100 bytes.
MAX_EXTENTS = 1 << 23
#: Requests for each cleaning, where too little of the past is drawn to fill the cache: no run sees enough of them.
_UNKNOWN = 1 << 40


@dataclass(frozen=True)
class Logged:
    """The state of the media cache of one drive.

    Attributes
    ----------
    lba, n : int64, shape (n_writes,)
        Writes that it holds, the oldest first.
    n_cleanings : int
        Bands that were cleaned by the last writes, as many as the map holds.
    n_recent : int
        Those writes.
    is_full : bool
    """

    lba: Int64
    n: Int64
    n_cleanings: int
    n_recent: int
    is_full: bool


def full_caches(history: History, layout: LayoutTables, drive: HddTables) -> tuple[Int64, int]:
    """Return what full media caches hold, and how many requests come for each band that is cleaned then.

    Returns
    -------
    writes : int64, shape (n, 3)
        Disk, first block, sectors; the oldest first.
    cleaning_requests : int
        0 where no cache becomes full.

    Raises
    ------
    CoverageError
        When there are so many disks that their maps do not fit into memory.
    """
    cache = drive.media_cache
    assert cache is not None
    n_map = cache.max_extents * drive.actuators
    if n_map * layout.n_disks > MAX_EXTENTS:
        raise CoverageError(
            Fault(
                "layout.disks",
                layout.n_disks,
                f"their media caches hold more than {MAX_EXTENTS:,} extents together",
                f"use at most {MAX_EXTENTS // n_map:,} disks, or begin with empty caches (start=empty)",
            )
        )
    # drives are alike: as if one had got all data. Copies and parity of them lie at the same places
    whole = replace(layout, failed=())
    n_each = (layout.copies if layout.family == "copies" else 1) + layout.n_parity

    def pieces(n_rows: int) -> Written:
        offset, length = history.last_writes(n_rows)
        first = offset // drive.sector_bytes
        found = written(whole, first, -(-(offset + length) // drive.sector_bytes) - first)
        arm = drive.n_sectors_per_actuator
        is_on_one = found.lba // arm == (found.lba + found.n - 1) // arm
        return Written(*(column[::n_each][is_on_one[::n_each]] for column in found))

    per_row = len(pieces(_SAMPLE_ROWS).lba) / _SAMPLE_ROWS
    if not per_row:
        return np.empty((0, 3), np.int64), 0
    n_rows = min(int(ROUNDS * n_map / per_row) + 1, MAX_ROWS)
    held = long_written(pieces(n_rows), cache, drive.n_sectors_per_actuator)
    disks = np.setdiff1d(np.arange(layout.n_disks), layout.failed)
    rows = np.stack([np.repeat(disks, len(held.lba)), np.tile(held.lba, len(disks)), np.tile(held.n, len(disks))], 1)
    if not cache.band_sectors:
        return rows, 0
    if held.n_cleanings:
        return rows, max(round(held.n_recent / held.n_cleanings / (per_row * n_each)), 1)
    return rows, _UNKNOWN if n_rows == MAX_ROWS else 0


def long_written(writes: Written, tables: MediaCacheTables, arm_sectors: int) -> Logged:
    """Return what one drive holds that got all of these writes, of which none is on two arms; the latest come last."""
    arm = writes.lba // arm_sectors
    parts = [
        _of_arm(Written(*(column[arm == one] for column in writes)), tables, arm_sectors)
        for one in range(int(arm.max(initial=0)) + 1)
    ]
    return Logged(
        np.concatenate([part.lba for part in parts]),
        np.concatenate([part.n for part in parts]),
        sum(part.n_cleanings for part in parts),
        sum(part.n_recent for part in parts),
        all(part.is_full for part in parts),
    )


def _of_arm(writes: Written, tables: MediaCacheTables, arm_sectors: int) -> Logged:
    is_run = _in_runs(writes, tables.run_sectors)
    lba, n = writes.lba[~is_run], writes.n[~is_run]
    band = (lba % arm_sectors) // (tables.band_sectors or arm_sectors)
    held: dict[int, int] = {}
    of_band: dict[int, list[int]] = {}
    order: deque[int] = deque()
    used, cleaned_at = 0, []
    is_full = False
    starts, lengths, bands = lba.tolist(), n.tolist(), band.tolist()
    for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        is_full = len(held) >= tables.max_extents or used >= tables.log_sectors
        if is_full and not tables.band_sectors:
            break
        if is_full:
            while held.get(starts[order[0]]) != order[0]:
                order.popleft()
            for gone in of_band.pop(bands[order[0]]):
                used -= lengths[held.pop(gone)]
            cleaned_at.append(i)
        if start in held:
            used -= lengths[held[start]]
        else:
            of_band.setdefault(bands[i], []).append(start)
        held[start] = i
        order.append(i)
        used += length
    kept = np.array(sorted(held.values()), np.int64)
    n_recent = min(tables.max_extents, len(starts))
    n_cleanings = sum(at >= len(starts) - n_recent for at in cleaned_at)
    return Logged(lba[kept], n[kept], n_cleanings, n_recent, is_full)


def _in_runs(writes: Written, run_sectors: int) -> Int64:
    """Whether each write goes in place because it belongs to a run (rule G2), however many there are."""
    disk, lba, n = writes
    end = lba + n
    is_run = n >= run_sectors
    if not np.isin(lba, end).any():
        return is_run
    begins: dict[tuple[int, int], int] = {}
    for i, (on, first, last) in enumerate(zip(disk.tolist(), lba.tolist(), end.tolist(), strict=True)):
        begin = begins.pop((on, first), first)
        begins[on, last] = begin
        is_run[i] = last - begin >= run_sectors
    return is_run
