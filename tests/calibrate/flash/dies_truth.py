"""Flash drives with parallel dies of known parameters, and what repeated noisy measurements of them would say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibrate.evidence.cells import Cells, Key
from calibrate.flash.model import FlashShape, Simulation

#: Of the micro-benchmark: random reads by depth and by size.
KEYS = (
    *(Key("read", False, 4096, depth) for depth in (1, 2, 4, 8, 16, 32)),
    *(Key("read", False, length, depth) for length in (16384, 65536, 262144) for depth in (1, 16)),
)
CAPACITY_BYTES = 1 << 30


def any_dies(rng: np.random.Generator) -> FlashShape:
    """A drive as there are, give or take a factor of two and a half; dies and pages as they are made."""
    overhead, latency, read, rate = (
        float(middle * 2.5 ** rng.uniform(-1, 1)) for middle in (5_000.0, 15_000.0, 60_000.0, 1.5)
    )
    return FlashShape(overhead, latency, read, int(rng.choice([4, 6, 8, 12, 16, 24])), 16384, rate)


def true_ns(truth: FlashShape, keys: Sequence[Key], *, seed: int) -> NDArray[np.float64]:
    """Mean responses, by runs long enough for a few tenths of a percent."""
    return np.exp(Simulation(keys, span_bytes=CAPACITY_BYTES, seed=seed, n_requests=20_000).log_ns(truth))


def measured(truth: FlashShape, rng: np.random.Generator, *, noise_ratio: float, repetitions: int) -> Cells:
    """Cells whose repetitions scatter by `noise_ratio` (standard deviation) about the true mean responses."""
    cells = Cells()
    for key, response_ns in zip(KEYS, true_ns(truth, KEYS, seed=int(rng.integers(1 << 31))), strict=True):
        factors: NDArray[np.float64] = np.exp(rng.normal(-(noise_ratio**2) / 2, noise_ratio, repetitions))
        for factor in factors.tolist():
            cells.add(key, response_ns * factor)
    return cells
