"""Responses of a fitted drive in a closed loop: by the engine, or by formula where commands are answered together."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence.cells import Key
from calibrate.flash.model import responses_by_simulation
from diskmodel.drive import Flash
from diskmodel.drive.processor import WakeTimes, processor_ns


def responses_of(drive: Flash, key: Key, *, n_requests: int, seed: int, span_bytes: int = 0) -> Floats:
    """Return responses in ns of a closed loop of reads; on a drive that answers in batches also of writes and mixes.

    Notes
    -----
    Clients whose requests are answered together issue together: every batch contains all of them, and its commands run
    one after the other on the processor after one wake-up (rules F17 to F19). The time of dies is ignored: a drive
    fitted with batches has dies of a nanosecond.
    """
    if drive.completion == "each":
        return responses_by_simulation(drive, key, n_requests=n_requests, seed=seed, span_bytes=span_bytes)
    tables = drive.tables()
    rng = np.random.default_rng(seed)
    wakes = WakeTimes(tables.wake_ns, int(rng.integers(0, 1 << 32)))
    n_batches = -(-n_requests // key.queue_depth)
    n_sectors = key.length_bytes // tables.sector_bytes
    n_reads = rng.binomial(key.queue_depth, key.read_ratio, n_batches)
    n_writes = key.queue_depth - n_reads
    work = n_reads * processor_ns(tables, False, n_sectors) + n_writes * processor_ns(tables, True, n_sectors)
    batches = np.array([wakes.draw() for _ in range(n_batches)], np.float64) + work
    return np.asarray(np.repeat(batches, key.queue_depth))
