"""What a workload leaves in caches: blocks that wait to be written, and those that were used last (rules Z4, Z6, Z10).

None of it depends on the drives, and little on how many there are. So the last results are kept: drives that are drawn
from one profile share them, and so do runs of other lengths; the blocks that were used last are shared by arrays of all
sizes on which the data lie in the same region.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from diskmodel.controller import Lanes
from diskmodel.engine.steady.keeping import kept
from diskmodel.engine.steady.levels import n_lines_of
from diskmodel.engine.steady.recent import MAX_USES, History, distinct, most_recent, ranges, waiting_in_round
from diskmodel.engine.steady.rounds import UNEVEN, UNEVEN_WAYS, Arms, swept_round, unevenness
from diskmodel.engine.steady.start import Spread
from diskmodel.layout import VolumeTables
from diskmodel.layout.written import written
from diskmodel.records import Int64
from diskmodel.workload import Sequential, SortedBatches, Stream, Strided

#: Uses of blocks for each block that a cache has room for: 2Q and ARC reach their shares of lists, LRU its last block.
_USES_PER_BLOCK = 4
#: Uses of records for each that a pool's ARC has room for: its balance is slow. With Zipf's popularity (theta 1, an ARC
#: of 11,000 of 5.6 million records) reads hit 46.7 % after 4, 49.1 % after 20, 52.1 % after 70 and 52.9 % after 150.
_USES_PER_RECORD = 64
#: Records at most that are listed beside those of the past, where a cache device takes what an ARC evicts: 128 GiB of
#: records of 16 KiB. At half, ARCs of large servers begin half full; at double, a question takes more than 1 GB.
MAX_BESIDE = 1 << 23
#: Writes of blocks for each block that waits: what a sweep leaves was written within its last two rounds.
ROUNDS = 2
#: How much longer than the writes that were looked at a round may be. Random writes without popular places take two for
#: each block that waits, sometimes a little more; at 1.5, what a sixth of a round left would be missing.
_NEARLY = 1.1
#: Writes of blocks, for each that waits and in all, through which a sweep is followed to measure its rounds. Beside a
#: log a round takes about five for each: half would see a single one. A million take a second and a half.
_SWEEP, _MAX_SWEEP = 16, 1 << 20
#: Writes of blocks from which the dirty blocks of a line are estimated.
_SAMPLE_USES = 1 << 12
#: Lists of blocks of each kind that are kept. A list takes 8 bytes a block, 2 MB for 1 GiB of blocks of 4 KiB; that of
#: the blocks used last takes twice as much, at most 130 MB with what fits of a region into 32 GiB. With one of each,
#: two searches at the same time forget each other's.
#: What ages flash is half of a model's units, and draws of one drive have the same.
_WAITING_KEPT, _RECENT_KEPT, _AGED_KEPT = 8, 2, 2


def waiting_blocks(history: History, n: int, block_bytes: int, lanes: Lanes, line_blocks: int = 1) -> tuple[Int64, int]:
    """The blocks that wait in `n` lines of a write-back cache, or in fewer where no more are written; their writes."""
    return _waiting_in_cache(history.placed, n, block_bytes, lanes.as_places, line_blocks)


@kept(_WAITING_KEPT)
def _waiting_in_cache(history: History, n: int, block_bytes: int, lanes: Lanes, line_blocks: int) -> tuple[Int64, int]:
    return _waiting(history, n, block_bytes, lanes, line_blocks)


def _waiting(
    history: History, n: int, block_bytes: int, lanes: Lanes | None, line_blocks: int = 1
) -> tuple[Int64, int]:
    n_uses = ROUNDS * n
    if line_blocks > 1:
        some = history.uses(_SAMPLE_USES, block_bytes, only_writes=True)
        n_uses = n_uses * len(some) // max(len(distinct(some // line_blocks)), 1)
    while True:
        uses = history.uses(n_uses, block_bytes, only_writes=True)
        waiting, round_uses = waiting_in_round(uses, n, lanes.lane_of(uses) if lanes else None, line_blocks)
        # popular blocks are written again and again, so that a round takes more writes for as many blocks
        n_lines = n_lines_of(waiting, line_blocks)
        is_whole = n_lines >= n and round_uses <= _NEARLY * n_uses
        rows = [history.rows_of_uses(times * n_uses, block_bytes, only_writes=True) for times in (1, 2)]
        if is_whole or rows[0] == rows[1]:  # no more are drawn
            return waiting, n_uses
        n_uses *= 2


def uneven_round(history: History, n: int, block_bytes: int, lanes: Lanes, *, has_arms: bool) -> int:
    """Requests of a round that leaves so many blocks waiting, where it is uneven; else 0 (rule Z10)."""
    return _uneven_round(_from_the_middle(history).placed, n, block_bytes, lanes.as_places, has_arms)


@lru_cache
def _uneven_round(history: History, n: int, block_bytes: int, lanes: Lanes, has_arms: bool) -> int:
    waiting, n_uses = waiting_blocks(history, n, block_bytes, lanes)
    uses = history.uses(n_uses, block_bytes, only_writes=True)
    if not len(uses):
        return 0  # nothing waits, or nothing has been written
    n_requests = history.rows_of_uses(len(uses), block_bytes, only_writes=True)
    reads_per_use = n_requests * history.read_ratio / len(uses)
    is_even = unevenness(uses, lanes, reads_per_use=reads_per_use) <= UNEVEN
    if is_even and has_arms:
        arms = Arms(history.reads() / block_bytes, history.capacity_bytes // block_bytes)
        is_even = unevenness(uses, lanes, reads_per_use=reads_per_use, arms=arms) <= UNEVEN_WAYS
    if is_even:
        return 0
    uses = history.uses(min(_SWEEP * len(waiting), _MAX_SWEEP), block_bytes, only_writes=True)
    return history.requests_of_uses(round(swept_round(uses, waiting, len(waiting), lanes)), block_bytes)


def _from_the_middle(history: History) -> History:
    """The history with streams that begin somewhere in their regions in the middle of these.

    Where a log is makes no difference to the length of a round, and runs of all lengths share its estimate.
    """

    def moved(stream: Stream) -> Stream:
        addresses = stream.addresses
        if not isinstance(addresses, Sequential | Strided) or addresses.begin_ratio is None:
            return stream
        return stream.model_copy(update={"addresses": addresses.model_copy(update={"begin_ratio": 0.5})})

    workload = history.workload
    streams = tuple(moved(stream) for stream in workload.streams)
    return replace(history, workload=workload.model_copy(update={"streams": streams}))


@kept(_WAITING_KEPT)
def waiting_pages(history: History, n: int, page_bytes: int) -> Int64:
    """So many dirty pages of a host, as a sweep over their places leaves them."""
    return _waiting(history, n, page_bytes, None)[0]


@kept(_AGED_KEPT)
def aged_units(history: History, layout: VolumeTables, n_units: int, unit_bytes: int, sector_bytes: int) -> Int64:
    """The last `n_units` units that a drive of an array was written in, those of a write together; none where a write
    is not longer than a unit.

    Drives are alike: as if one had got all data. Copies and parity of them lie at the same places, and are left out.
    """
    offset, length = history.writes(n_units * unit_bytes)
    sector, per_unit = offset // sector_bytes, unit_bytes // sector_bytes
    pieces = written(replace(layout, failed=()), sector, -(-(offset + length) // sector_bytes) - sector)
    lba, n = (column[:: layout.pieces_of_each] for column in (pieces.lba, pieces.n))
    first = lba // per_unit
    count = (lba + n - 1) // per_unit - first + 1
    if not len(count) or count.max() == 1:
        return np.empty(0, np.int64)
    return ranges(first, count)[-n_units:]


def filling_uses(history: History, n: int, block_bytes: int) -> Int64:
    """Uses that fill a cache of `n` blocks; where the whole region fits, all of it before anything else."""
    return np.concatenate([_region(history, n, block_bytes), history.uses(_USES_PER_BLOCK * n, block_bytes)])


def uses_to_fill_arc(n: int, n_more: int) -> int:
    """Uses that fill a pool's ARC of `n` records, and so many more."""
    return _USES_PER_RECORD * n + n_more


@kept(_RECENT_KEPT)
def arc_uses(history: History, n: int, record_bytes: int, n_more: int = 0) -> tuple[Int64, Int64]:
    """Uses that fill a pool's ARC of `n` records, and `n_more`; and the numbers of those that wrote, ascending.

    The past's requests may be too few for it (rule Z4): what is left then holds records of the streams with random
    places, at equal distances over their regions, so many of each as it has requests. What is popular is in the past.
    """
    past, are_written = history.marked_uses(uses_to_fill_arc(n, n_more), record_bytes)
    before = _beside(past, history, n, record_bytes)
    return np.concatenate([before, past]), len(before) + np.flatnonzero(are_written)


def _beside(past: Int64, history: History, n: int, record_bytes: int) -> Int64:
    """Records that an ARC of `n` has beside those of the past: all of them, if they fit."""
    region = _region(history, n, record_bytes)
    if len(region):
        return region
    used = distinct(past)
    rows = _spread_rows(used, history, min(n - len(used), MAX_BESIDE), record_bytes)
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(in_row(row, np.arange(row[1])) for row in rows)])


def _spread_rows(used: Int64, history: History, left: int, record_bytes: int) -> Int64:
    """Rows of about `left` records beside those that the past has used, as those of `Spread`."""
    streams = [s for s in history.workload.streams if not isinstance(s.addresses, Sequential | Strided | SortedBatches)]
    total = sum(stream.row_weight for stream in history.workload.streams)
    held: dict[tuple[int, int], int] = {}
    for stream in streams if left > 0 and total else ():
        space = history.workload.space(stream, history.capacity_bytes)
        first, n_records = space.first_byte // record_bytes, max(space.span_bytes // record_bytes, 1)
        # those that fall on records of the past are no others: so many more are taken
        n_used = int(np.count_nonzero((used >= first) & (used < first + n_records)))
        n_own = round(left * stream.row_weight / total / max(1 - n_used / n_records, 0.01))
        # streams with the same region share what is held of it
        held[first, n_records] = min(held.get((first, n_records), 0) + n_own, n_records)
    return np.array([(first, n, of) for (first, of), n in held.items() if n], np.int64).reshape(-1, 3)


def in_row(row: Int64, numbers: Int64) -> Int64:
    """Return the records with these numbers, from 0 on, of a row of a `Spread`."""
    first, held, of = row.tolist()
    found: Int64 = first + numbers * of // held
    return found


def numbers_in_row(row: Int64, records: Int64) -> Int64:
    """Return the numbers of those of the records that a row of a `Spread` has."""
    first, held, of = row.tolist()
    place = records[(records >= first) & (records < first + of)] - first
    number = -(-place * held // of)
    is_held = (number < held) & (number * of // held == place)
    found: Int64 = number[is_held]
    return found


@kept(_RECENT_KEPT)
def _arc_start(history: History, n: int, record_bytes: int) -> tuple[Int64, Int64, Int64, tuple[Int64, ...]]:
    """What `arc_start` returns, its `Spread` in parts."""
    past, are_written = history.marked_uses(uses_to_fill_arc(n, 0), record_bytes)
    used = distinct(past)
    regions = regions_of(history, record_bytes)
    if n_blocks_of(regions) <= n:
        rows = np.stack([regions[:, 0], regions[:, 1] - regions[:, 0], regions[:, 1] - regions[:, 0]], axis=1)
    else:
        rows = _spread_rows(used, history, n - len(used), record_bytes)
    in_order = rows[np.argsort(rows[:, 0], kind="stable")]
    if (in_order[1:, 0] < in_order[:-1, 0] + in_order[:-1, 2]).any():  # a record would be in two of them
        cached, written = arc_uses(history, n, record_bytes)
        return cached, written, np.empty((0, 3), np.int64), ()
    while True:
        again = tuple(numbers_in_row(row, used) for row in rows)
        n_again = sum(map(len, again))
        n_over = int(rows[:, 1].sum()) + len(used) - n_again - n
        if n_over <= 0 or not len(rows):
            cached = np.concatenate([*(in_row(row, of) for row, of in zip(rows, again, strict=True)), past])
            return cached, n_again + np.flatnonzero(are_written), rows, again
        most = int(np.argmax(rows[:, 1]))
        rows[most, 1] = max(rows[most, 1] - n_over, 0)
        rows = rows[rows[:, 1] > 0]


def arc_start(history: History, n: int, record_bytes: int) -> tuple[Int64, Int64, Spread | None]:
    """Uses that fill a pool's ARC of `n` records, the numbers of those that wrote, and what it holds before these.

    As `arc_uses`, without a list of what no run reaches. Records of the `Spread` that the past uses again are the first
    of the uses.
    """
    cached, written, rows, again = _arc_start(history, n, record_bytes)
    return cached, written, Spread(rows, again) if len(rows) else None


def recent_blocks(history: History, n: int, block_bytes: int) -> Int64:
    """The `n` blocks that were used last, the least recently used first; the same at every rate of a single stream."""
    return _recent(history.shared.placed, n, block_bytes)


@kept(_RECENT_KEPT)
def _recent(history: History, n: int, block_bytes: int) -> Int64:
    return most_recent(filling_uses(history, n, block_bytes), n)


def regions_of(history: History, block_bytes: int) -> Int64:
    """Return first block and end of the streams' regions, ascending, where they overlap as one; int64, shape (n, 2)."""
    spaces = [history.workload.space(stream, history.capacity_bytes) for stream in history.workload.streams]
    found: list[list[int]] = []
    for space in sorted(spaces, key=lambda space: space.first_byte):
        first, end = space.first_byte // block_bytes, -(-(space.first_byte + space.span_bytes) // block_bytes)
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([first, end])
    return np.array(found, np.int64).reshape(-1, 2)


def n_blocks_of(regions: Int64) -> int:
    """Return how many blocks lie in regions."""
    return int((regions[:, 1] - regions[:, 0]).sum())


def _region(history: History, n: int, block_bytes: int) -> Int64:
    """All blocks of the streams' regions, if they are at most `n`."""
    regions = regions_of(history, block_bytes)
    if n_blocks_of(regions) > min(n, MAX_USES):
        return np.empty(0, np.int64)
    return ranges(regions[:, 0], regions[:, 1] - regions[:, 0])
