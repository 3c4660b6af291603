"""Responses of a virtual disk in a closed loop of reads, writes or both, run by the engine."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats
from calibrate.closed_loop import closed_loop, scenario_of
from calibrate.evidence import Key
from diskmodel.drive import Virtual


def responses_of(drive: Virtual, key: Key, *, n_requests: int, seed: int) -> Floats:
    """Return responses in ns of at least `n_requests` requests, whole batches; `seed` draws wake-up times and mixes.

    The clients of a disk that answers in batches are in step from the beginning, so nothing has to be left out. All
    requests go to the same place: a virtual disk is equally fast everywhere.
    """
    n = -(-n_requests // key.queue_depth) * key.queue_depth
    op = (np.random.default_rng(seed).random(n) >= key.read_ratio).astype(np.int64)
    done = closed_loop(scenario_of(drive, seed), np.zeros(n, np.int64), key.length_bytes, key.queue_depth, op=op)
    return np.asarray(done.done_ns - done.issue_ns, np.float64)
