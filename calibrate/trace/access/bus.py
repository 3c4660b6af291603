"""Which requests of a trace reached the platter, and how long a block takes on the bus.

A read that hits the drive's cache takes a fixed overhead and the time of its blocks on the bus. A request that takes
more than `MEDIA_MARGIN_MS` beyond that waited for the platter. A drive whose median write is done at once writes back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags
from calibrate.evidence import RequestTrace

#: A response this much (ms) beyond overhead and bus waited for the platter. At half, hits delayed by the host count as
#: reads from the platter; at double, short waits count as hits.
MEDIA_MARGIN_MS = 1.2
#: A drive whose median write takes less than the read overhead plus this (ms) writes back. Half a turn of the fastest
#: drive: a write that waits for the platter takes longer at the median.
WRITE_BACK_BELOW_MS = 2.0
#: Time of a block on the bus, ms, where hits cannot determine it: 10 MB/s, fast SCSI.
DEFAULT_BUS_MS = 0.05
#: Hits needed to fit the time of a block. With half of them the slope over size is decided by a few late ones.
MIN_HITS = 30


@dataclass(frozen=True)
class Bus:
    """Overhead of a cache hit and time a block takes on the interface, both in ms; whether writes are written back."""

    read_overhead_ms: float
    write_overhead_ms: float
    block_ms: float
    is_write_back: bool
    n_hits: int


def is_sequential(trace: RequestTrace) -> Flags:
    """Return whether each request starts where the one before it ended, (n,) bool."""
    return np.concatenate([[False], trace.lba[1:] == trace.end[:-1]])


def fit_bus(trace: RequestTrace) -> Bus:
    """Return the bus, from the fast requests: the lower edge of response time against size."""
    hits = is_sequential(trace) & ~trace.is_write
    block_ms, n_hits = _edge_slope(trace, hits)
    read = trace.response_ms - trace.n_blocks * block_ms
    reads, writes = read[~trace.is_write], read[trace.is_write]
    read_overhead = float(np.quantile(reads, 0.03)) if len(reads) else 0.5
    write_overhead = float(np.quantile(writes, 0.03)) if len(writes) else read_overhead
    write_back = len(writes) > 0 and float(np.median(writes)) < read_overhead + WRITE_BACK_BELOW_MS
    return Bus(read_overhead, write_overhead, block_ms, write_back, n_hits)


def _edge_slope(trace: RequestTrace, chosen: Flags) -> tuple[float, int]:
    sizes = trace.n_blocks[chosen]
    points = []
    for size in np.unique(sizes):
        same = trace.response_ms[chosen][sizes == size]
        if len(same) >= 8:
            points.append((float(size), float(np.quantile(same, 0.1)), np.sqrt(len(same))))
    if len(points) < 3 or len(sizes) < MIN_HITS:
        return DEFAULT_BUS_MS, len(sizes)
    size, edge, weight = np.array(points).T
    i, j = np.triu_indices(len(size), 1)
    slopes = (edge[j] - edge[i]) / (size[j] - size[i])
    pair = weight[i] * weight[j]
    order = np.argsort(slopes)
    middle = np.searchsorted(np.cumsum(pair[order]), pair.sum() / 2)
    return float(max(slopes[order][middle], 0.0)), len(sizes)


def reached_platter(trace: RequestTrace, bus: Bus) -> Flags:
    """Whether each request waited for the platter, judged by its measured response, (n,) bool."""
    excess = trace.response_ms - trace.n_blocks * bus.block_ms
    media = excess > bus.read_overhead_ms + MEDIA_MARGIN_MS
    return media & ~trace.is_write if bus.is_write_back else media
