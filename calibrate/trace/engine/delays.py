"""Delays between platter and completion, and between issue and a write's first block, as the engines define them.

The trace model counts angles from completions; the engines count from the platter. Which part of a delay lies before
the platter and which after it cannot be separated for reads and writes together: the smaller of the two tails is set to
0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from calibrate.arrays import Floats, Ints
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import is_sequential, reached_platter
from calibrate.trace.access.seek import OUTLIERS
from calibrate.trace.model import TraceModel, placement

#: Shares of a read in the buffer, when it begins to be sent, that are tried.
FULL_RATIOS = np.linspace(0.0, 1.0, 21)
#: Blocks of a write in the buffer, before the head may write, that are tried.
PREFILL_BLOCKS = (0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64)
#: Writes that continue the request before, needed to fit the prefill.
MIN_WRITES = 60
#: Log-likelihood that a prefill must gain over none; see `access.seek.MIN_GAIN`.
MIN_GAIN = 6.0


@dataclass(frozen=True)
class Delays:
    """Delays as the engines define them, ms.

    `earlier_ms` and `write_earlier_ms` are the times by which the engines see a block pass before the angle map does,
    of reads and of writes; `write_overhead_ms` is the time until a write without a seek may begin, without that of its
    data.
    """

    full_ratio: float = 0.0
    earlier_ms: float = 0.0
    write_earlier_ms: float = 0.0
    read_tail_ms: float = 0.0
    write_tail_ms: float = 0.0
    prefill_blocks: int = 0
    write_overhead_ms: float = 0.0


def fit_delays(model: TraceModel, trace: RequestTrace) -> Delays:
    """Return the delays of a located drive; all 0 where no angle is known."""
    angles = model.angles
    if angles is None:
        return Delays()
    ratio, sent_later = _sending(model, trace)
    shift = write_later = 0.0
    if not model.bus.is_write_back and trace.is_write.any():
        write_later = float(angles.write_handover.at(trace.n_blocks[trace.is_write].astype(np.float64)).mean())
        shift = angles.write_shift * model.rotation.period_ms
    write_tail = write_later + shift + sent_later
    read_tail = max(-write_tail, 0.0)
    if model.bus.is_write_back:
        read_tail = write_tail = 0.0
    earlier = sent_later + read_tail
    prefill, overhead = _prefill(model, trace)
    return Delays(
        ratio,
        earlier,
        earlier + shift,
        read_tail,
        max(write_tail, 0.0),
        prefill,
        overhead - earlier - shift,
    )


def write_ready(model: TraceModel, tracks: Floats | Ints) -> Floats:
    """Return the time until a write that moves the arm is ready, (n,) ms, without the effect of size."""
    return model.ready_write.at(np.asarray(tracks, dtype=np.float64))


def _sending(model: TraceModel, trace: RequestTrace) -> tuple[float, float]:
    """Return the share of a read in the buffer when it begins to be sent, and how much later (ms) than the trace the
    engines then send it."""
    angles = model.angles
    assert angles is not None
    some = trace.chosen(~trace.is_write)
    if not len(some):
        return 0.0, 0.0
    passing, bus = angles.media_ms(some), model.bus.block_ms
    block = angles.media_block_ms(some.lba.astype(np.float64))
    measured = angles.handover_ms(some, model.bus)
    best = (np.inf, 0.0, 0.0)
    for ratio in FULL_RATIOS:
        whole = block + ratio * np.maximum(passing - block, 0.0) + some.n_blocks * bus
        late = np.maximum(bus, whole - passing) - measured
        middle = float(np.median(late))
        best = min(best, (float(np.abs(late - middle).mean()), float(ratio), middle))
    return best[1], best[2]


def _prefill(model: TraceModel, trace: RequestTrace) -> tuple[int, float]:
    """Return the blocks of a write that must have arrived before the head may write, and the overhead before it (ms).

    They are the likeliest for writes that start where the request before ended."""
    curve, period = model.ready_write, model.rotation.period_ms
    overhead = float(curve.at(np.zeros(1))[0])
    chosen = trace.is_write & is_sequential(trace) & reached_platter(trace, model.bus)
    if model.bus.is_write_back or chosen.sum() < MIN_WRITES:
        return 0, overhead
    placed = placement(trace, model.bus, model.rotation, model.angles)
    start = (trace.response_ms - placed.transfer_ms)[chosen]
    size = trace.n_blocks[chosen]
    grid = np.arange(0.0, float(np.quantile(start, 0.5)), 0.05)
    best: list[tuple[float, int, float]] = []
    for prefill in PREFILL_BLOCKS:
        late = (start - np.minimum(size, prefill) * model.bus.block_ms)[None, :] - grid[:, None]
        inside = ndtr(late / curve.spread_ms) - ndtr((late - period) / curve.spread_ms)
        likely = np.log(OUTLIERS / 3 + (1 - OUTLIERS) * inside).sum(axis=1)
        good = np.exp(likely - likely.max())
        best.append((float(likely.max()), prefill, float((grid * good).sum() / good.sum())))
    none, most = best[0], max(best)
    return (most[1], most[2]) if most[0] > none[0] + MIN_GAIN else (0, none[2])
