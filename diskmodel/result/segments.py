"""Latencies from segments of a run: sums and histograms of completions in a row instead of the completions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from diskmodel.records import Int64, Op
from diskmodel.result.latency import Latency
from diskmodel.result.statistics.batches import BATCH_COUNTS, Interval, adjusted_ends, lag1_correlation, mean_interval
from diskmodel.result.statistics.histogram import LatencyHistogram
from diskmodel.result.statistics.quantiles import batches_with_enough
from diskmodel.result.statistics.registry import PERCENTILES


class Segment(NamedTuple):
    """Completions in a row, summed up.

    Attributes
    ----------
    n, n_hits, n_bytes : int
    end_ns : int
        Time of the last of them.
    longest_queue_ns, min_ns, max_ns : int
    parts_ns : sequence of int
        Sum of each of `records.PARTS`.
    response_ns, counts : sequence by `records.Op`
        Sum of responses and buckets of their histogram, of reads, of writes and of flushes.
    streams : sequence of (sum of responses, buckets)
        Of each stream, where there are several.
    """

    n: int
    end_ns: int
    n_hits: int
    n_bytes: int
    longest_queue_ns: int
    min_ns: int
    max_ns: int
    parts_ns: Sequence[int]
    response_ns: Sequence[int]
    counts: Sequence[Int64]
    streams: Sequence[tuple[int, Int64]]


class Responses(NamedTuple):
    """Responses of all requests of some segments, or of those of one operation or stream.

    Attributes
    ----------
    segments : sequence of Segment
    bits : int
        Precision of the histograms.
    sums_ns : list of int
        Sum of the responses in each segment.
    buckets : list of int64 arrays
        Their histogram in each segment.
    """

    segments: Sequence[Segment]
    bits: int
    sums_ns: list[int]
    buckets: list[Int64]

    @classmethod
    def of_all(cls, segments: Sequence[Segment], bits: int) -> Responses:
        """Of every request."""
        return cls(segments, bits, [sum(s.response_ns) for s in segments], [_added(s.counts) for s in segments])

    @classmethod
    def of_op(cls, segments: Sequence[Segment], bits: int, op: Op) -> Responses:
        """Of the reads, the writes or the flushes."""
        return cls.of_ops(segments, bits, (op,))

    @classmethod
    def of_ops(cls, segments: Sequence[Segment], bits: int, ops: Sequence[Op]) -> Responses:
        """Of some operations together."""
        sums = [sum(s.response_ns[op] for op in ops) for s in segments]
        return cls(segments, bits, sums, [_added([s.counts[op] for op in ops]) for s in segments])

    @classmethod
    def of_stream(cls, segments: Sequence[Segment], bits: int, index: int) -> Responses:
        """Of one of several streams."""
        return cls(segments, bits, [s.streams[index][0] for s in segments], [s.streams[index][1] for s in segments])

    @property
    def n(self) -> int:
        """How many they are."""
        return sum(int(buckets.sum()) for buckets in self.buckets)

    def histogram(self) -> LatencyHistogram:
        """All of them in one histogram."""
        return _histogram(self.buckets, self.segments, self.bits, sum(self.sums_ns))

    def latency(self, confidence: float, interval: Interval | None = None) -> Latency:
        """Mean and percentiles with intervals; `interval` is that of the mean, by default from the segments' means."""
        whole = self.histogram()
        if whole.n == 0:
            return Latency.unknown(0)
        about = interval if interval is not None else self._interval(confidence)
        return Latency(
            n=whole.n,
            run_mean_ns=about.about(sum(self.sums_ns) / whole.n),
            quantiles_ns={name: whole.quantile_ns(level) for name, level in PERCENTILES.items()},
            run_ends_ns={name: self._quantile_ends(whole, level, confidence) for name, level in PERCENTILES.items()},
            max_ns=float(whole.max_ns),
        )

    def _interval(self, confidence: float) -> Interval:
        """Interval of the mean from the means of the segments."""
        numbers = [int(buckets.sum()) for buckets in self.buckets]
        means = [total / n for total, n in zip(self.sums_ns, numbers, strict=True) if n]
        return mean_interval(means, confidence=confidence)

    def _quantile_ends(self, whole: LatencyHistogram, level: float, confidence: float) -> tuple[float, float]:
        """Sectioning and the share beyond as in `quantile_interval`, over groups of segments."""
        beyond = whole.n * min(level, 1 - level)
        counts = [count for count in BATCH_COUNTS if len(self.segments) >= count]
        n_groups = batches_with_enough(counts, whole.n, beyond) if counts else 0
        if n_groups == 0:
            return math.nan, math.nan
        size = len(self.segments) // n_groups
        first = len(self.segments) - size * n_groups
        groups = [slice(at, at + size) for at in range(first, len(self.segments), size)]
        parts = [_histogram(self.buckets[group], self.segments[group], self.bits) for group in groups]
        each = np.array([part.quantile_ns(level) for part in parts])
        if np.isnan(each).any():
            return math.nan, math.nan
        low, high = adjusted_ends(whole.quantile_ns(level), each, lag1_correlation(each), confidence, least=0.0)
        beyond_bucket = int(np.searchsorted(np.cumsum(whole.counts), math.ceil(level * whole.n))) + 1
        shares = np.array([part.counts[beyond_bucket:].sum() / part.n for part in parts])
        share = float(whole.counts[beyond_bucket:].sum() / whole.n)
        ends = adjusted_ends(share, shares, lag1_correlation(shares), confidence, least=0.0)
        return min(low, whole.quantile_ns(max(1 - ends[1], 0.0))), max(high, whole.quantile_ns(min(1 - ends[0], 1.0)))


def _added(counts: Sequence[Int64]) -> Int64:
    longest = max((len(each) for each in counts), default=0)
    total: Int64 = np.zeros(longest, np.int64)
    for each in counts:
        total[: len(each)] += each
    return total


def _histogram(buckets: Sequence[Int64], segments: Sequence[Segment], bits: int, total_ns: int = 0) -> LatencyHistogram:
    histogram = LatencyHistogram(bits)
    histogram.total_ns = total_ns
    counts = _added(buckets)
    histogram.counts[: len(counts)] = counts
    histogram.n = int(counts.sum())
    used = np.flatnonzero(counts)
    if len(used):
        low, width = histogram.edges(used)
        histogram.min_ns = max(int(low[0]), min(segment.min_ns for segment in segments))
        histogram.max_ns = min(int(low[-1] + width[-1] - 1), max(segment.max_ns for segment in segments))
    return histogram
