"""The drive's cache as a trace shows it: which reads are hits, and how long hits and written-back writes take.

A read is judged by where it starts, counted from the end of the request before it (or of the nearest of the last
few), by the operation of that one and by its own size. The model is how often such reads were hits; the response beyond
overhead and bus is kept as quantiles by size and pause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags, Floats, Ints
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import Bus, is_sequential

#: Edges of the classes of offset, in blocks, from the end of the request before: finest around 0, where read-ahead
#: ends.
OFFSETS = np.array([-1024, -512, -256, -128, -64, -32, -12, 0, 1, 12, 32, 64, 128, 192, 256, 384, 512, 1024])
#: Edges of the classes of size, in blocks: 2, 4, 8 and 16 KiB and a block.
SIZES = np.array([5, 9, 17, 33])
#: Edges of the classes of pause, ms: about one to three turns at 7,200 rpm, during which a drive reads ahead.
PAUSES_MS = np.array([8.0, 14.0, 24.0])
#: Ranks at which response times are kept: 48 give steps of 2 % of the requests.
QUANTILES = (np.arange(48) + 0.5) / 48
#: Reads of what was just written needed to know whether written data stays in the cache: where one near read in five is
#: a hit anyway, three are so in one drive of 125. With double, few traces have enough.
MIN_COVERED = 3
#: Weight of all sizes together in a class of offset, in requests. Without it a class of one request predicts all hits
#: or none; at double, a class of three leans on the others as much as on itself.
PRIOR_WEIGHT = 1.5


def situation(trace: RequestTrace) -> tuple[Ints, Ints]:
    """Return each request's class of offset from the request before and its operation, and its class of size."""
    offset = np.concatenate([[10**9], trace.lba[1:] - trace.end[:-1]])
    after_write = np.concatenate([[False], trace.is_write[:-1]])
    cell = np.searchsorted(OFFSETS, offset, side="right") + (len(OFFSETS) + 1) * after_write
    return cell.astype(np.int64), np.searchsorted(SIZES, trace.n_blocks, side="right").astype(np.int64)


def hit_ratios(trace: RequestTrace, is_hit: Flags) -> Floats:
    """Return the ratio of hits among reads by class, (cells, sizes); cells with few reads lean on all sizes, then on
    0."""
    cell, size = situation(trace)
    n_cells, n_sizes = 2 * (len(OFFSETS) + 1), len(SIZES) + 1
    reads = ~trace.is_write
    hits = np.zeros((n_cells, n_sizes))
    count = np.zeros((n_cells, n_sizes))
    np.add.at(count, (cell[reads], size[reads]), 1.0)
    np.add.at(hits, (cell[reads], size[reads]), is_hit[reads].astype(np.float64))
    whole = hits.sum(axis=1) / (count.sum(axis=1) + PRIOR_WEIGHT)
    return np.asarray((hits + PRIOR_WEIGHT * whole[:, None]) / (count + PRIOR_WEIGHT))


def is_streaming(trace: RequestTrace) -> Flags:
    """Return whether each request is a read that starts where the read before it ended, (n,) bool."""
    after_read = np.concatenate([[False], ~trace.is_write[:-1]])
    return np.asarray(is_sequential(trace) & after_read & ~trace.is_write)


def keeps_writes(trace: RequestTrace, hits: Flags) -> bool:
    """Return whether reads of what the request before wrote are mostly hits; False where there are too few."""
    before, write_end = trace.lba[:-1], trace.end[:-1]
    covered = trace.is_write[:-1] & ~trace.is_write[1:] & (before <= trace.lba[1:]) & (trace.end[1:] <= write_end)
    again = hits[1:][covered]
    return len(again) >= MIN_COVERED and float(again.mean()) > 0.5


@dataclass(frozen=True)
class StreamMisses:
    """Ratio of streaming reads that wait for the platter: those on the track of the read before, and those that go on
    to another track. Drives differ in whether read-ahead continues beyond the end of a track."""

    within: float = 0.0
    across: float = 0.0

    def of(self, goes_across: Flags) -> Floats:
        """Return the ratio that applies to each request, (n,)."""
        return np.where(goes_across, self.across, self.within)


def stream_misses(chosen: Flags, is_miss: Flags, goes_across: Flags) -> StreamMisses:
    """Return the ratios among the chosen requests."""
    ratios = []
    for side in (~goes_across, goes_across):
        mine = chosen & side
        ratios.append(float((mine & is_miss).sum()) / (float(mine.sum()) + PRIOR_WEIGHT))
    return StreamMisses(*ratios)


@dataclass(frozen=True)
class FastTimes:
    """Response beyond the bus time of requests that do not wait for the platter: quantiles by size and pause, ms."""

    table: Floats

    def of(self, trace: RequestTrace, bus: Bus, pause_ms: Floats) -> Floats:
        """Return equally likely responses of each request, (n, quantiles) ms."""
        size, pause = _classes(trace, pause_ms)
        return np.asarray(self.table[size, pause] + (trace.n_blocks * bus.block_ms)[:, None])


def fast_times(trace: RequestTrace, bus: Bus, chosen: Flags, pause_ms: Floats) -> FastTimes:
    """Return quantiles of the excess of the chosen requests; cells with few use those of their size, then of all."""
    excess = trace.response_ms - trace.n_blocks * bus.block_ms
    size, pause = _classes(trace, pause_ms)
    table = np.empty((len(SIZES) + 1, len(PAUSES_MS) + 1, len(QUANTILES)))
    everything = excess[chosen] if chosen.any() else np.array([bus.read_overhead_ms])
    for i in range(len(SIZES) + 1):
        of_size = excess[chosen & (size == i)]
        for j in range(len(PAUSES_MS) + 1):
            here = excess[chosen & (size == i) & (pause == j)]
            sample = here if len(here) >= 25 else of_size if len(of_size) >= 25 else everything
            table[i, j] = np.quantile(sample, QUANTILES)
    return FastTimes(table)


def _classes(trace: RequestTrace, pause_ms: Floats) -> tuple[Ints, Ints]:
    size = np.searchsorted(SIZES, trace.n_blocks, side="right")
    return size.astype(np.int64), np.searchsorted(PAUSES_MS, pause_ms).astype(np.int64)
