"""What a trace shows of its load, gathered chunk by chunk in flat memory."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.folding import FoldingCounts
from diskmodel.formats.trace.columns import TraceChunk, far_record

#: A request is sequential when it starts where one of so many requests before it ended.
LOOK_BACK = 8

#: Sizes that are kept; rarer ones count as the nearest of these.
MAX_SIZES = 16

#: Width of a place: requests within it count as near each other.
_GRANULE_BYTES = 2**20
#: Distinct sizes that are counted before rare ones are merged, to bound the memory.
_MAX_DISTINCT = 1 << 16
#: Mean count per place below which places are merged. With fewer, random unevenness looks like a hot spot; with more,
#: small hot spots disappear.
_MIN_MEAN_COUNT = 100


class TraceFacts:
    """Sizes, places, order and rate of the requests of a trace.

    Attributes
    ----------
    n_requests, n_sequential : list of int
        By operation: 0 read, 1 write.
    rate : FoldingCounts
        Requests by time of issue, ns.
    places : FoldingCounts
        Requests by offset, bytes.
    end_bytes : int
        End of the farthest request.
    first_ns, last_ns : int, ns
        Time of the first request by the file's clock, and of the last one since then.
    tick_ns : int, ns
        Largest time that all times since the first request are multiples of: 10⁹ for a clock of whole seconds; 0 when
        all requests have one time.
    """

    def __init__(self, interval_ns: int) -> None:
        self.n_requests = [0, 0]
        self.n_sequential = [0, 0]
        self.rate = FoldingCounts(interval_ns)
        self.places = FoldingCounts(_GRANULE_BYTES)
        self.end_bytes = 0
        self.first_ns: int | None = None
        self.last_ns = 0
        self.tick_ns = 0
        self._edges: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._sizes: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self._ends = np.full(LOOK_BACK, -1, dtype=np.int64)

    def add(self, chunk: TraceChunk) -> None:
        """Take in the next requests."""
        if not len(chunk):
            return
        ends = chunk.offset_bytes + chunk.length_bytes
        before = np.concatenate([self._ends, ends])
        windows = np.lib.stride_tricks.sliding_window_view(before, LOOK_BACK)[: len(ends)]
        is_sequential = (windows == chunk.offset_bytes[:, None]).any(axis=1)
        self._ends = before[-LOOK_BACK:]
        for op in (0, 1):
            mask = chunk.op == op
            self.n_requests[op] += int(mask.sum())
            self.n_sequential[op] += int((is_sequential & mask).sum())
            found, counts = np.unique(chunk.length_bytes[mask], return_counts=True)
            self._sizes[op].update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
            if len(self._sizes[op]) > _MAX_DISTINCT:
                self._coarsen(op)
        # A file's clock may begin anywhere; the silence before its first request is not part of the load. Logs that are
        # written at completion may hold an earlier request later on.
        if self.first_ns is None:
            self.first_ns = int(chunk.time_ns.min())
        # the two first and the two last times show a record that lies far from all others
        ordered = np.sort(np.concatenate([self._edges, chunk.time_ns]))
        self._edges = ordered if len(ordered) <= 4 else np.concatenate([ordered[:2], ordered[-2:]])
        since_start = np.maximum(chunk.time_ns - self.first_ns, 0)
        self.tick_ns = int(np.gcd(self.tick_ns, np.gcd.reduce(since_start)))
        self.rate.add(since_start)
        self.places.add(chunk.offset_bytes)
        self.end_bytes = max(self.end_bytes, int(ends.max()))
        self.last_ns = max(self.last_ns, int(since_start.max()))

    @property
    def far_record(self) -> str | None:
        """What to say of a first or last request that lies far from all others."""
        return far_record(self._edges)

    def sizes(self, op: int) -> dict[int, int]:
        """Size in whole sectors of 512 bytes → count, the commonest ones, in order of size."""
        whole: Counter[int] = Counter()
        for size, count in self._sizes[op].items():
            whole[-(-size // 512) * 512] += count
        kept = np.array(sorted(size for size, _ in whole.most_common(MAX_SIZES)), dtype=np.int64)
        if not len(kept):
            return {}
        nearest: Counter[int] = Counter()
        for size, count in whole.items():
            nearest[int(kept[np.abs(kept - size).argmin()])] += count
        return dict(sorted(nearest.items()))

    def sequential_ratio(self, op: int) -> float:
        """Share of the operation's requests that go on where an earlier one ended."""
        return self.n_sequential[op] / self.n_requests[op] if self.n_requests[op] else 0.0

    def hot_share(self, space_ratio: float) -> float:
        """Share of the requests that go to the busiest `space_ratio` of the span.

        Counted in bins of at least a hundred requests on average, as random requests fill small bins unevenly.
        """
        counts = self.places.counts()
        while counts.sum() < _MIN_MEAN_COUNT * len(counts) and len(counts) > 1:
            even = np.pad(counts, (0, len(counts) % 2))
            counts = even[0::2] + even[1::2]
        n_hot = space_ratio * len(counts)
        if n_hot < 1:
            return space_ratio
        ordered = np.sort(counts)[::-1]
        cumulative = np.concatenate([[0], ordered.cumsum()])
        return float(np.interp(n_hot, np.arange(len(counts) + 1), cumulative) / counts.sum())

    def rates_per_s(self) -> NDArray[np.float64]:
        """Requests per second in each whole interval; the last one, cut by the end of the trace, is left out.

        A trace within one interval has one rate, of the gaps between its requests. A trace whose requests all have one
        time has none.
        """
        counts = self.rate.counts()
        if len(counts) > 1:
            return counts[:-1] / (self.rate.width / 1e9)
        return np.array([(counts.sum() - 1) / (self.last_ns / 1e9)]) if self.last_ns else np.zeros(0)

    def _coarsen(self, op: int) -> None:
        coarse: Counter[int] = Counter()
        for size, count in self._sizes[op].items():
            step = 1 << max(size.bit_length() - 6, 9)
            coarse[-(-size // step) * step] += count
        self._sizes = (coarse, self._sizes[1]) if op == 0 else (self._sizes[0], coarse)
