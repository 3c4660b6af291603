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
from diskmodel.engine.steady.levels import n_lines_of
from diskmodel.engine.steady.past.history import MAX_USES, History, distinct, most_recent, ranges, waiting_in_round
from diskmodel.engine.steady.past.keeping import kept
from diskmodel.engine.steady.past.rounds import UNEVEN, UNEVEN_WAYS, Arms, swept_round, unevenness
from diskmodel.records import Int64
from diskmodel.workload import Sequential, Stream, Strided

#: Uses of blocks for each block that a cache has room for: 2Q and ARC reach their shares of lists, LRU its last block.
_USES_PER_BLOCK = 4
#: Writes of blocks for each block that waits: what a sweep leaves was written within its last two rounds.
ROUNDS = 2
#: How much longer than the writes that were looked at a round may be. Random writes without popular places take two for
#: each block that waits, sometimes a little more; at 1.5, what a sixth of a round left would be missing.
_NEARLY = 1.1
#: Writes of blocks, for each that waits and in all, through which a sweep is followed to measure its rounds. Beside a
#: log a round takes about five for each: half would see a single one. A million take a second and a half.
_SWEEP, _MAX_SWEEP = 16, 1 << 20
#: Part of the lines that wait from which on those that are listed count as all of them: random writes leave a few less.
#: At 0.8, caches that are far larger than what is drawn of the past begin with a fifth of their room above the mark.
_NEARLY_ALL = 0.9
#: Writes of blocks from which the dirty blocks of a line are estimated.
_SAMPLE_USES = 1 << 12
#: Lists of blocks of each kind that are kept. A list takes 8 bytes a block, 2 MB for 1 GiB of blocks of 4 KiB; that of
#: the blocks used last takes twice as much, at most 130 MB with what fits of a region into 32 GiB. With one of each,
#: two searches at the same time forget each other's.
_WAITING_KEPT, RECENT_KEPT = 8, 2


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


def lines_apart(history: History, n: int, n_listed: int, line_bytes: int) -> int:
    """Return how many of `n` lines that wait are beside those that are listed: the past is drawn only so far back."""
    if not n_listed or n_listed >= _NEARLY_ALL * n:
        return 0
    # where fewer are ever written, all of them wait
    return n - n_listed if n <= n_blocks_of(regions_of(history, line_bytes, only_writes=True)) else 0


def filling_uses(history: History, n: int, block_bytes: int) -> Int64:
    """Uses that fill a cache of `n` blocks; where the whole region fits, all of it before anything else."""
    return np.concatenate([region_blocks(history, n, block_bytes), history.uses(_USES_PER_BLOCK * n, block_bytes)])


def recent_blocks(history: History, n: int, block_bytes: int) -> Int64:
    """The `n` blocks that were used last, the least recently used first; the same for about these shares of streams."""
    return _recent(history.shared.placed.rounded, n, block_bytes)


@kept(RECENT_KEPT)
def _recent(history: History, n: int, block_bytes: int) -> Int64:
    return most_recent(filling_uses(history, n, block_bytes), n)


def regions_of(history: History, block_bytes: int, *, only_writes: bool = False) -> Int64:
    """Return first block and end of the streams' regions, ascending, where they overlap as one; int64, shape (n, 2).

    Of all streams, or of those that write.
    """
    streams = [stream for stream in history.workload.streams if stream.write_ratio or not only_writes]
    spaces = [history.workload.space(stream, history.capacity_bytes) for stream in streams]
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


def region_blocks(history: History, n: int, block_bytes: int) -> Int64:
    """All blocks of the streams' regions, if they are at most `n`."""
    regions = regions_of(history, block_bytes)
    if n_blocks_of(regions) > min(n, MAX_USES):
        return np.empty(0, np.int64)
    return ranges(regions[:, 0], regions[:, 1] - regions[:, 0])
