"""Single servers of known parameters, and what repeated noisy measurements of them would say."""

from __future__ import annotations

import numpy as np

from calibrate.evidence.cells import Cells, Key, key_of
from calibrate.virtual_disk.fit import ServerShape

#: Of the micro-benchmark: random reads by depth and by size, mixes, writes.
KEYS = (
    *(Key("read", False, 4096, depth) for depth in (1, 2, 4, 8, 16, 32)),
    *(Key("read", False, length, depth) for length in (16384, 65536, 262144) for depth in (1, 16)),
    *(key_of(ratio, False, 4096, depth) for ratio in (0.9, 0.7, 0.5, 0.0) for depth in (1, 4, 16)),
    Key("write", False, 65536, 32),
)


def any_server(rng: np.random.Generator) -> ServerShape:
    """A server as hosts have them, give or take a factor of three; its waking times vary."""
    wake, read, write = (float(middle * 3 ** rng.uniform(-1, 1)) for middle in (40_000.0, 6_000.0, 7_000.0))
    read_copy, write_copy = (float(middle * 3 ** rng.uniform(-1, 1)) for middle in (0.6, 0.2))
    return ServerShape(wake, read, read_copy, write, write_copy)


def measured(
    truth: ServerShape, rng: np.random.Generator, *, noise_ratio: float, repetitions: int, keys: tuple[Key, ...] = KEYS
) -> Cells:
    """Cells whose repetitions scatter by `noise_ratio` (standard deviation) about the true mean responses."""
    cells = Cells()
    for key, response_ns in zip(keys, truth.response_ns(keys), strict=True):
        for factor in np.exp(rng.normal(-(noise_ratio**2) / 2, noise_ratio, repetitions)):
            cells.add(key, float(response_ns * factor))
    return cells
