"""What the media caches of hard disks hold after a long time of a workload (rule G9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.drive import HddTables, MediaCacheTables
from diskmodel.engine.compiled import kernel as _kernel
from diskmodel.engine.steady.past.history import MAX_ROWS, History, write_weight
from diskmodel.layout import VolumeTables, Written
from diskmodel.layout.written import written
from diskmodel.loading import dataclass
from diskmodel.records import Int64
from diskmodel.result.statistics import UNKNOWN_CYCLE
from diskmodel.workload import Sequential, Stream

#: Times that the map is filled before the run. Once leaves bands that are cleaned for the first time, with a fifth less
#: in each than in the long run; after three times it is a fiftieth.
ROUNDS = 3
#: Writes from which the pieces of one are estimated.
_SAMPLE = 1 << 10
#: Pieces of all writes that are drawn at most. At half, caches under writes of 64 MiB in strips of 64 KiB begin with
#: fewer rounds behind them; at double, strips of 512 B take a gigabyte.
_MOST_PIECES = 1 << 22
#: Keeps the draws of what is in the logs apart from those of other runs, whose seeds are small.
_OLDER = 1 << 40
#: Factor by which more of the past is drawn where it leaves a cache that still fills.
_LONGER = 4
#: Remainders for each write in the table of which may be adjacent. At half, twice as many that are not adjacent
#: are sorted; at double, the table of 1.5 million writes takes 128 MiB.
_REMAINDERS = 16
#: Share of the extents by which a cache that has ended to fill may grow over half of the writes: small regions, of
#: which all is in the cache.
_HARDLY = 0.01
#: States of media caches that are kept, 4 MB each: two searches at the same time, each at two counts of disks.
_KEPT = 4


class Logged(NamedTuple):
    """The state of the media cache of one drive.

    Attributes
    ----------
    lba, n : int64, shape (n_writes,)
        Writes that it holds, the oldest first.
    n_cleanings : int
        Bands that were cleaned by the last writes, as many as the map holds.
    n_recent : int
        Those writes.
    still_fills : bool
        Neither is it full nor did it hardly grow over the last half of the writes.
    """

    lba: Int64
    n: Int64
    n_cleanings: int
    n_recent: int
    still_fills: bool


@dataclass(frozen=True)
class Caches:
    """The media caches of all disks.

    Attributes
    ----------
    writes : int64, shape (n, 2)
        First block and sectors on each disk; the oldest first.
    cleaning_requests : int
        Requests that come for each band that is cleaned; 0 where no cache becomes full.
    gap_sectors : int
        What a cleaning makes room for.
    """

    writes: Int64
    cleaning_requests: int = 0
    gap_sectors: int = 0

    @classmethod
    def empty(cls) -> Caches:
        """Return caches that hold nothing."""
        return cls(np.empty((0, 2), np.int64))


class _Arms(NamedTuple):
    """What of a drive decides what its media cache holds; named as in `HddTables`."""

    media_cache: MediaCacheTables
    sector_bytes: int
    n_sectors_per_actuator: int
    actuators: int


def full_caches(history: History, layout: VolumeTables, drive: HddTables) -> Caches:
    """Return what full media caches hold.

    The last results are kept: a failed disk, and a rebuild wherever it is, change nothing about the others.
    """
    assert drive.media_cache is not None
    arms = _Arms(drive.media_cache, drive.sector_bytes, drive.n_sectors_per_actuator, drive.actuators)
    return _full_caches(history.shared, _whole(layout), arms)


def _whole(layout: VolumeTables) -> VolumeTables:
    """Return the layout with all of its disks and nothing going on."""
    nothing: dict[str, Any] = {item.name: 0 for item in fields(layout) if item.name.startswith("rebuild_")}
    return replace(layout, failed=(), n_spares=0, sync_action="none", **nothing)


@lru_cache(maxsize=_KEPT)
def _full_caches(history: History, layout: VolumeTables, drive: _Arms) -> Caches:
    cache = drive.media_cache
    n_map = cache.max_extents * drive.actuators
    # drives are alike: as if one had got all data. Copies and parity of them lie at the same places
    n_each = layout.pieces_of_each
    streams = history.workload.streams
    # an endless sequential stream goes in place: without it, as many writes fill more of a cache
    chosen = [s for s in streams if s.write_ratio and not _is_endless(s)]
    if not chosen:
        return Caches.empty()
    share = sum(map(write_weight, chosen)) / sum(stream.row_weight for stream in streams)
    strips = max(stream.mean_size_bytes for stream in chosen) / (layout.unit * drive.sector_bytes)
    most_writes = min(max(int(_MOST_PIECES / max(strips * n_each, 1.0)), 1), MAX_ROWS)
    n_sample = min(_SAMPLE, most_writes)
    sample, request = _pieces(history, layout, drive, n_sample, chosen)
    per_write = len(_joined(Written(*(c[::n_each] for c in sample)), request[::n_each]).lba) / n_sample
    if not per_write:
        return Caches.empty()
    n_writes = min(int(ROUNDS * n_map / per_write) + 1, most_writes)
    # other draws than of what waits in the buffers: the same blocks in both would make room when they are written
    older = replace(history, seed=history.seed + _OLDER)
    while True:
        pieces, request = _pieces(older, layout, drive, n_writes, chosen)
        is_run, _ = _runs(pieces, cache.run_sectors)
        logged = ~is_run[::n_each]
        own = _joined(Written(*(column[::n_each][logged] for column in pieces)), request[::n_each][logged])
        held = long_written(own, cache, drive.n_sectors_per_actuator)
        # most of long runs goes in place, so that more of them is needed
        if not held.still_fills or n_writes == most_writes:
            break
        n_writes = min(_LONGER * n_writes, most_writes)
    rows = np.stack([held.lba, held.n], axis=1)
    if not held.n_cleanings:
        return Caches(rows, UNKNOWN_CYCLE if held.still_fills else 0)
    per_request = len(own.lba) / n_writes * n_each * share
    each = held.n_recent / held.n_cleanings
    gap = round(each * float(held.n.mean()))
    return Caches(rows, max(round(each / per_request), 1), gap)


def current_runs(history: History, layout: VolumeTables, drive: HddTables) -> Int64:
    """Return the runs of writes that go in place when a run begins: disk, first block, sectors; the latest last."""
    cache = drive.media_cache
    assert cache is not None
    streams = history.workload.streams
    if not any(_is_in_order(stream) for stream in streams):
        return np.empty((0, 3), np.int64)
    writing = [stream for stream in streams if stream.write_ratio]
    share = sum(map(write_weight, writing)) / sum(stream.row_weight for stream in streams)
    offset, length = _in_stretches(*history.last_writes(round(share * history.n_before), writing))
    pieces, _ = _pieces_of(offset, length, layout, drive)
    _, runs = _runs(pieces, cache.run_sectors)
    found = np.stack([runs[:, 0], runs[:, 1], runs[:, 2] - runs[:, 1]], axis=1)
    return found[(found[:, 2] >= cache.run_sectors) & ~np.isin(found[:, 0], layout.failed)]


def _is_in_order(stream: Stream) -> bool:
    return isinstance(stream.addresses, Sequential)


def _is_endless(stream: Stream) -> bool:
    return isinstance(stream.addresses, Sequential) and stream.addresses.mean_run is None


def _pieces(
    history: History, layout: VolumeTables, drive: HddTables | _Arms, n_writes: int, streams: Sequence[Stream]
) -> tuple[Written, Int64]:
    """What some streams wrote last, and the request of each piece.

    No disk is lost; what lies on two arms is left out.
    """
    return _pieces_of(*history.last_writes(n_writes, streams), layout, drive)


def _pieces_of(offset: Int64, length: Int64, layout: VolumeTables, drive: HddTables | _Arms) -> tuple[Written, Int64]:
    """The same of these writes."""
    first, end = offset // drive.sector_bytes, -(-(offset + length) // drive.sector_bytes)
    found = written(replace(layout, failed=()), first, end - first)
    unit = layout.unit
    n_each = layout.pieces_of_each
    request = np.repeat(np.arange(len(first)), ((end - 1) // unit - first // unit + 1) * n_each)
    arm = drive.n_sectors_per_actuator
    is_on_one = (found.lba // arm == (found.lba + found.n - 1) // arm).reshape(-1, n_each).all(axis=1)
    kept = np.repeat(is_on_one, n_each)
    return Written(*(column[kept] for column in found)), request[kept]


def _in_stretches(offset: Int64, length: Int64) -> tuple[Int64, Int64]:
    """Writes that follow one another in place and in time as one, where the last of them came.

    The small writes of a stream in order are hundreds of thousands for each run that is long enough to go in place.
    """
    if not len(offset):
        return offset, length
    order = np.argsort(offset, kind="stable")
    at, end = offset[order], (offset + length)[order]
    goes_on = (end[:-1] == at[1:]) & (order[:-1] < order[1:])
    heads = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    lasts = np.concatenate([heads[1:] - 1, [len(order) - 1]])
    in_time = np.argsort(order[lasts])
    begins = at[heads][in_time]
    return begins, end[lasts][in_time] - begins


def _joined(writes: Written, request: Int64) -> Written:
    """What one request writes to one disk without a gap as one piece (rule L2)."""
    if not len(request):
        return writes
    order = np.lexsort((writes.lba, writes.disk, request))
    (disk, lba, n), request = (column[order] for column in writes), request[order]
    goes_on = (request[1:] == request[:-1]) & (disk[1:] == disk[:-1]) & (lba[1:] == (lba + n)[:-1])
    heads = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    return Written(disk[heads], lba[heads], np.add.reduceat(n, heads))


def long_written(writes: Written, tables: MediaCacheTables, arm_sectors: int) -> Logged:
    """Return what one drive holds that got all of these writes, none in a run or on two arms; the latest come last."""
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
        any(part.still_fills for part in parts),
    )


def _of_arm(writes: Written, tables: MediaCacheTables, arm_sectors: int) -> Logged:
    lba, n = (np.ascontiguousarray(column) for column in (writes.lba, writes.n))
    # without bands the oldest makes room for the latest, so that it stays full
    band = (lba % arm_sectors) // tables.band_sectors if tables.band_sectors else None
    held, cleaned_at, is_full, n_at_half = _kernel.filled_media_cache(
        lba, n, band, tables.max_extents, tables.log_sectors
    )
    n_recent = min(tables.max_extents, len(lba))
    n_cleanings = int((cleaned_at >= len(lba) - n_recent).sum()) if tables.band_sectors else 0
    still_fills = not is_full and not len(cleaned_at) and len(held) - n_at_half > _HARDLY * len(held)
    return Logged(lba[held], n[held], n_cleanings, n_recent, still_fills)


def _runs(writes: Written, run_sectors: int) -> tuple[NDArray[np.bool_], Int64]:
    """Return whether each write goes in place (rule G2), and disk, begin and end of the last runs; shape (n, 3)."""
    disk, lba, n = writes
    end = lba + n
    is_run = n >= run_sectors
    beside = maybe_adjacent(lba, end)
    lengths, left = _kernel.runs_of_writes(disk[beside], lba[beside], end[beside])
    is_run[beside] = lengths >= run_sectors
    return is_run, left.reshape(-1, 3)


def maybe_adjacent(lba: Int64, end: Int64) -> Int64:
    """Return which writes may begin where another ends, or end where another begins, and all that do; ascending.

    Of random places hardly one does. A table of remainders leaves out most of the others.
    """
    size = 1 << (_REMAINDERS * len(lba)).bit_length()
    begins, ends = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    begins[lba & (size - 1)] = ends[end & (size - 1)] = True
    return np.flatnonzero(begins[end & (size - 1)] | ends[lba & (size - 1)])
