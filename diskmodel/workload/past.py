"""What was asked before a run begins: more rows of the same streams, from draws of their own (rule Z2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64
from diskmodel.workload.addresses import Sequential
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.generate import interleave, rows_before
from diskmodel.workload.stream import Stream

#: Third number of a spawn key: keeps the draws of the past apart from those of the run, which have two numbers.
_PAST = 1


class Past(NamedTuple):
    """Requests before a run, the latest last.

    Attributes
    ----------
    op : uint8, shape (n,)
    offset, length : int64, shape (n,), bytes
    """

    op: NDArray[np.uint8]
    offset: Int64
    length: Int64


class PastDraws(Draws):
    """Generators of one stream for the time before the run."""

    def generator(self, kind: Kind) -> np.random.Generator:
        """A fresh generator for one kind of draw."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(self._stream, int(kind), _PAST))
        return np.random.Generator(np.random.PCG64(sequence))


def past(
    streams: Sequence[Stream], default_span_bytes: int | None, capacity_bytes: int, n: int, seed: int, n_before: int
) -> Past:
    """About `n` requests that may have come before the first row of `generate`.

    Random places are drawn anew; streams that go through their regions in order arrive at the places of their first
    rows after `n_before` requests.
    """
    owner = interleave([stream.row_weight for stream in streams], n)[::-1]
    op = np.empty(n, np.uint8)
    offset, length = np.empty(n, np.int64), np.empty(n, np.int64)
    before = rows_before(streams, n_before)
    for index, stream in enumerate(streams):
        rows = np.flatnonzero(owner == index)
        draws = PastDraws(seed, index, stream.excerpts, before[index])
        space = stream.space(capacity_bytes, default_span_bytes)
        addresses = stream.addresses
        n_readers = addresses.n_readers if isinstance(addresses, Sequential) else 1
        n_drawn = -(-len(rows) // n_readers) * n_readers
        draws.first_row = -n_drawn
        lengths = stream.draw_lengths(n_drawn, draws)
        if isinstance(addresses, Sequential) and addresses.mean_run is None:
            steps = -(-lengths // space.alignment_bytes) * space.alignment_bytes
            arrived = addresses.bytes_before(before[index], space)
            draws.memory[Kind.RUN] = arrived - steps.reshape(-1, n_readers).sum(axis=0)
        latest = slice(n_drawn - len(rows), None)
        op[rows] = stream.draw_ops(n_drawn, draws)[latest]
        offset[rows] = stream.draw_offsets(lengths, space, draws)[latest]
        length[rows] = lengths[latest]
    return Past(op, offset, length)
