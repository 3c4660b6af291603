"""What a workload's past leaves in a cache: which blocks were used, and which of them still wait to be written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskmodel.records import Int64, Op
from diskmodel.workload import Workload

#: Rows of the past that are drawn at most, whatever the size of a cache: about 0.3 s. At half of it a 16 GiB cache of
#: 4 KiB blocks begins half full under 8 KiB requests; at double, every run with a large cache begins later.
MAX_ROWS = 1 << 21
#: Rows from which the blocks of a request are estimated.
_SAMPLE_ROWS = 1 << 10


@dataclass(frozen=True)
class History:
    """A workload's past on one array, drawn as far back as it is asked for."""

    workload: Workload
    capacity_bytes: int
    seed: int

    def uses(self, n: int, block_bytes: int, *, only_writes: bool = False) -> Int64:
        """About the last `n` uses of blocks, or all of `MAX_ROWS` requests, the latest last; int64."""
        n_sample = len(self._blocks(_SAMPLE_ROWS, block_bytes, only_writes))
        if not n_sample:
            return np.empty(0, np.int64)
        n_rows = min(-(-n * _SAMPLE_ROWS // n_sample), MAX_ROWS)
        return self._blocks(n_rows, block_bytes, only_writes)[-n:]

    def writes(self, n_bytes: int) -> tuple[Int64, Int64]:
        """Offsets and lengths in bytes of the last writes that add up to about `n_bytes`, the latest last."""
        _, length = self._rows(_SAMPLE_ROWS, only_writes=True)
        if not len(length):
            return length, length
        n_rows = min(-(-n_bytes * _SAMPLE_ROWS // int(length.sum())), MAX_ROWS)
        return self._rows(n_rows, only_writes=True)

    def _rows(self, n_rows: int, *, only_writes: bool) -> tuple[Int64, Int64]:
        past = self.workload.past(capacity_bytes=self.capacity_bytes, n=n_rows, seed=self.seed)
        chosen = past.op == Op.WRITE if only_writes else slice(None)
        return past.offset[chosen], past.length[chosen]

    def _blocks(self, n_rows: int, block_bytes: int, only_writes: bool) -> Int64:
        offset, length = self._rows(n_rows, only_writes=only_writes)
        first = offset // block_bytes
        count = -(-(offset + length) // block_bytes) - first
        before = np.cumsum(count) - count
        blocks: Int64 = np.repeat(first - before, count) + np.arange(int(count.sum()))
        return blocks


def most_recent(uses: Int64, n: int) -> Int64:
    """The `n` different blocks that were used last, the least recently used first."""
    different, back = np.unique(uses[::-1], return_index=True)
    return different[np.argsort(back)][:n][::-1]


def still_waiting(uses: Int64, n: int, lane: Int64 | None = None) -> Int64:
    """The `n` different blocks that wait when a sweep that goes round takes as many as come; ascending.

    Parameters
    ----------
    uses : int64, shape (n_uses,)
        Blocks that were written, the latest last.
    n : int
    lane : int64, shape (n_uses,), optional
        Lane of each; every lane has a sweep of its own.

    Notes
    -----
    The sweep is about to begin at the lowest block. It last passed the share `x` of a lane's writes (in order of place)
    a share `1 - x` of a whole round ago, so a write waits if its age is less than `1 - x` of a round. The length of a
    round is the one that leaves `n` blocks.
    """
    if not len(uses):
        return uses
    at = uses if lane is None else lane * (int(uses.max()) + 1) + uses
    order = np.argsort(at, kind="stable")
    in_order = np.zeros(len(uses), np.int64) if lane is None else lane[order]
    first = np.flatnonzero(np.diff(in_order, prepend=-1))
    size = np.diff(first, append=len(uses))
    # what of its lane lies at a place or beyond it, in whole numbers: sequential writes must not scatter by rounding
    beyond = np.empty(len(uses), np.int64)
    beyond[order] = np.repeat(first + size, size) - np.arange(len(uses))
    in_lane = np.empty(len(uses), np.int64)
    in_lane[order] = np.repeat(size, size)
    age = np.arange(len(uses), 0, -1)
    # among equals the latest first: they are turned round, and the sort is stable
    by_round = np.argsort((age * in_lane // beyond)[::-1], kind="stable")
    different, turn = np.unique(uses[::-1][by_round], return_index=True)
    return different if len(different) <= n else different[turn <= np.partition(turn, n - 1)[n - 1]]
