"""The revolution of the platter, from blocks that were read again and again.

Reads of one block end a whole number of revolutions apart. A grid search finds the frequency that explains short gaps;
longer gaps then refine it step by step, each step resolving the turns of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import RPM_RANGE
from calibrate.evidence import Measurement

#: Coherence from which on completions follow a platter: 1 is perfect, noise gives 0.1 to 0.2. At half, a slow network
#: disk may pass for a hard disk; at 0.9 a busy host hides the platter.
MIN_COHERENCE = 0.5
#: Gaps between readings of one block that are needed. The coherence of noise is about 1 / √gaps, and more at the best
#: of many frequencies: with a quarter of the gaps it would reach `MIN_COHERENCE`.
_MIN_GAPS = 40
#: Steps of the frequency grid for each turn of the longest gap: at 4 a peak can lie between two steps.
_PER_TURN = 8
#: A divisor of the frequency with this share of its coherence is taken instead. At 0.5 half a turn of jitter makes a
#: drive slower; at 1 noise makes it twice as fast.
_AS_GOOD = 0.85
#: Resolution of the host's clock, ns.
_CLOCK_NS = 1.0


@dataclass(frozen=True)
class Rotation:
    """Period of a revolution in ns, its standard error, and how coherent completions are with it (0 to 1)."""

    period_ns: float
    stderr_ns: float
    coherence: float

    @property
    def is_found(self) -> bool:
        """Return whether completions follow a platter."""
        return self.coherence >= MIN_COHERENCE


def find_rotation(measurement: Measurement) -> Rotation | None:
    """Return the revolution that a measurement shows, or None when no block was read often enough."""
    gaps = _gaps(measurement)
    if len(gaps) < _MIN_GAPS:
        return None
    low, high = RPM_RANGE[0] / 60e9, RPM_RANGE[1] / 60e9
    limit = float(np.quantile(gaps, 0.3))
    near = gaps[gaps <= limit]
    grid = np.arange(low, high, 1.0 / limit / _PER_TURN)
    frequency = _lowest(near, float(grid[_coherence(near, grid).argmax()]), low)
    longest = float(gaps.max())
    while True:
        step = 1.0 / limit / _PER_TURN
        fine = np.linspace(frequency - step, frequency + step, 41)
        frequency = float(fine[_coherence(gaps[gaps <= limit], fine).argmax()])
        if limit >= longest:
            break
        limit = min(limit * 3.0, longest)
    turns = gaps * frequency
    left = np.angle(np.exp(2j * np.pi * turns)) / (2 * np.pi)
    good = np.abs(left) < 0.15
    if not good.any():
        return Rotation(1.0 / frequency, float("nan"), 0.0)
    x, y = gaps[good], left[good]
    frequency -= float(x @ y / (x @ x))
    if not low / 2 < frequency < 2 * high:
        # without a platter the gaps may lead to any frequency
        return Rotation(1.0 / low, float("nan"), 0.0)
    spread = float(np.sqrt(np.mean((y - (x @ y / (x @ x)) * x) ** 2)))
    spread = max(spread, _CLOCK_NS * frequency)
    stderr = spread / float(np.sqrt(x @ x)) / frequency**2
    return Rotation(1.0 / frequency, stderr, float(_coherence(gaps, np.array([frequency]))[0]))


def _lowest(gaps: Floats, frequency: float, low: float) -> float:
    """Return the lowest divisor of a frequency that explains the gaps as well: multiples of the true one do so too."""
    best = frequency
    for divisor in range(2, 6):
        width = 0.5 / float(gaps.max()) / _PER_TURN
        near = np.linspace(frequency / divisor - width, frequency / divisor + width, 9)
        score = _coherence(gaps, near)
        if near[score.argmax()] >= low and score.max() > _AS_GOOD * _coherence(gaps, np.array([frequency]))[0]:
            best = float(near[score.argmax()])
    return best


def _coherence(gaps: Floats, frequency: Floats) -> Floats:
    score = np.empty(len(frequency))
    for first in range(0, len(frequency), 256):
        part = frequency[first : first + 256]
        score[first : first + 256] = np.exp(2j * np.pi * np.outer(part, gaps)).mean(axis=1).real
    return score


def _gaps(measurement: Measurement, max_gaps: int = 6000) -> Floats:
    """Return times between completions of the same block, over one reading and over more, without cache hits."""
    experiment = measurement.experiment("rotation_period")
    if experiment is None or not len(experiment.samples):
        return np.empty(0)
    samples = experiment.samples
    floor = 0.25 * float(np.median(samples.latency_ns))
    kept = samples.latency_ns >= floor
    offset, done = samples.offset_bytes[kept], samples.completion_ns[kept].astype(np.float64)
    order = np.lexsort((done, offset))
    offset, done = offset[order], done[order]
    found = []
    step = 1
    while step < len(done):
        same = offset[step:] == offset[:-step]
        if not same.any():
            break
        found.append((done[step:] - done[:-step])[same])
        step *= 2
    gaps = np.concatenate(found) if found else np.empty(0)
    if len(gaps) > max_gaps:
        gaps = gaps[np.linspace(0, len(gaps) - 1, max_gaps).astype(np.int64)]
    return gaps
