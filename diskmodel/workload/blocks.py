"""Requests of a workload in blocks, drawn when a run asks for them: the same rows as all at once, in flat memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64, StreamRule
from diskmodel.workload.draws import Kind, RunningDraws
from diskmodel.workload.generate import check, rows_before, rules_of
from diskmodel.workload.stream import Stream

#: Rows that are drawn at once: a few MB. Fewer cost more calls; more cost memory for nothing.
ROWS_PER_BLOCK = 1 << 16


class Block(NamedTuple):
    """Rows of one stream, in order; columns as in `records.Requests`, and the number of each row in the workload."""

    row: Int64
    when_ns: Int64
    op: NDArray[np.uint8]
    offset: Int64
    length: Int64
    cache_draw: NDArray[np.float64]


class Blocks:
    """The first `n` requests of a workload, stream by stream.

    Parameters
    ----------
    streams, default_span_bytes, capacity_bytes, n, seed, n_before
        As in `generate`, whose rows these are.
    rows_per_block : int
        About.

    Raises
    ------
    DescriptionError
        As `generate`.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        default_span_bytes: int | None,
        capacity_bytes: int,
        n: int,
        seed: int,
        rows_per_block: int = ROWS_PER_BLOCK,
        n_before: int = 0,
    ) -> None:
        check(streams, default_span_bytes, capacity_bytes, n, seed)
        self.streams = tuple(streams)
        self.n = n
        self._rows_per_block = rows_per_block
        self._spaces = [stream.space(capacity_bytes, default_span_bytes) for stream in streams]
        self.rules: tuple[StreamRule, ...] = rules_of(streams, self._spaces, capacity_bytes)
        self._draws = [
            RunningDraws(seed, index, stream.excerpts, before)
            for index, (stream, before) in enumerate(zip(streams, rows_before(streams, n_before), strict=True))
        ]
        weights = np.array([stream.row_weight for stream in streams], dtype=np.float64)
        self._share = weights / np.sum(weights)

    def next(self, index: int) -> Block:
        """The next rows of stream `index`; none at its end."""
        stream, draws, space = self.streams[index], self._draws[index], self._spaces[index]
        period = _period(stream)
        most = max(self._rows_per_block // period, 1) * period
        row = self._rows(index, draws.first_row, most)
        row = row[: int(np.searchsorted(row, self.n))]
        n = len(row)
        lengths = stream.draw_lengths(n, draws)
        block = Block(
            row=row,
            when_ns=stream.arrival.when(n, draws),
            op=stream.draw_ops(n, draws),
            offset=stream.draw_offsets(lengths, space, draws),
            length=lengths,
            cache_draw=draws.uniform(Kind.CACHE, n),
        )
        draws.first_row += n
        return block

    def _rows(self, index: int, first: int, n: int) -> Int64:
        """Numbers in the workload of a stream's rows `first` to `first + n`, as `interleave` deals them out."""
        turn = first + np.arange(n, dtype=np.float64)
        key = (turn + 0.5) / self._share[index]
        row = first + np.arange(n, dtype=np.int64)
        for other, share in enumerate(self._share):
            if other != index:
                row += _n_before(key, share, ties_count=other < index)
        return row


def _n_before(key: NDArray[np.float64], share: float, *, ties_count: bool) -> Int64:
    """Turns of another stream that come before `key`, or at it where ties count."""
    n = np.maximum(np.floor(key * share - 0.5).astype(np.int64) + 2, 0)
    # the guess is at most a few too high; compare exactly as the sort in `interleave` does
    for _ in range(5):
        last = (n - 1 + 0.5) / share
        too_many = (n > 0) & ((last > key) if ties_count else (last >= key))
        n -= too_many
    return n


def _period(stream: Stream) -> int:
    """Rows that belong together: blocks end at multiples of it."""
    return stream.addresses.n_together
