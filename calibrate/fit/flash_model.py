"""A flash drive's mean response in a closed loop: by formula for the search, by the drive's own rules for the result.

The formula is mean value analysis (Schweitzer's approximation) with deterministic service: one processor, dies that
each have their own queue, one interface, and a delay. It is smooth and takes a millisecond; the fit corrects it by the
simulation at the current best parameters.

References
----------
P. Schweitzer, *Approximate analysis of multiclass closed networks of queues*, 1979.
M. Reiser, *A queueing network analysis of computer communication networks with window flow control*, 1979, eq. 19.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrate.fit.cells import Key
from diskmodel.drive import Flash
from diskmodel.drive.dies import Dies

Floats = NDArray[np.float64]

_ITERATIONS = 40


@dataclass(frozen=True)
class FlashShape:
    """The parameters that are fitted; times in ns, rates in bytes per ns."""

    overhead_ns: float
    latency_ns: float
    read_ns: float
    n_dies: int
    page_bytes: int
    interface_bytes_per_ns: float

    def vector(self) -> Floats:
        """Logarithms of the continuous parameters: overhead, latency, read, interface."""
        return np.log([self.overhead_ns, self.latency_ns, self.read_ns, self.interface_bytes_per_ns])

    def at(self, vector: Floats) -> FlashShape:
        """The same dies and pages with other continuous parameters."""
        overhead, latency, read, interface = (float(v) for v in np.exp(vector))
        return FlashShape(overhead, latency, read, self.n_dies, self.page_bytes, interface)


def response_by_formula(shape: FlashShape, keys: Sequence[Key]) -> Floats:
    """Mean response in ns of random or sequential reads, one for each key."""
    depth = np.array([key.queue_depth for key in keys], dtype=np.float64)
    length = np.array([key.length_bytes for key in keys], dtype=np.float64)
    is_sequential = np.array([key.is_sequential for key in keys])
    # small sequential reads find the page in the die's register: one sensing for many requests
    pages = np.where(is_sequential, length / shape.page_bytes, np.maximum(length / shape.page_bytes, 1.0))
    waves = np.maximum(pages / shape.n_dies, 1.0)
    share = np.minimum(pages / shape.n_dies, 1.0)
    die = shape.read_ns * waves
    wire = length / shape.interface_bytes_per_ns
    tail = np.maximum(shape.read_ns * (waves - 1.0), wire * (1.0 - 1.0 / waves)) + wire / waves
    spread = 1.0 + np.log(np.clip(pages, 1.0, shape.n_dies))
    alone = shape.overhead_ns + shape.latency_ns + shape.read_ns * np.minimum(pages, 1.0) + tail
    response = alone.copy()
    for _ in range(_ITERATIONS):
        rate = depth / response
        seen = np.where(depth > 1, (depth - 1) / depth, 0.0)
        wait = _wait(shape.overhead_ns, rate, seen, depth)
        wait += _wait(die, rate * share, seen, depth) * spread
        wait += _wait(wire, rate, seen, depth)
        floor = depth * np.maximum.reduce([np.full_like(die, shape.overhead_ns), die * share, wire])
        response = 0.5 * response + 0.5 * np.maximum(alone + wait, floor)
    return response


def _wait(service: Floats | float, rate: Floats, seen: Floats, depth: Floats) -> Floats:
    """Waiting at a single server with constant service: those found there, one of them half done."""
    busy = np.minimum(rate * seen * service, 1.0)
    queue = busy + np.minimum(0.5 * busy**2 / np.maximum(1.0 - busy, 0.5 / depth), np.maximum(depth - 1.0 - busy, 0.0))
    return np.asarray(service * np.maximum(queue - busy / 2, 0.0))


def flash_of(shape: FlashShape, *, capacity_bytes: int, name: str = "trial") -> Flash:
    """A description with these parameters; all dies on channels of their own, fast enough not to matter."""
    return Flash.parse(
        {
            "kind": "flash",
            "name": name,
            "capacity_bytes": capacity_bytes,
            "channels": shape.n_dies,
            "dies_per_channel": 1,
            "page_bytes": shape.page_bytes,
            "pages_per_block": 256,
            "read_ns": max(round(shape.read_ns), 1),
            "program_ns": 10 * max(round(shape.read_ns), 1),
            "erase_ns": 100 * max(round(shape.read_ns), 1),
            "channel_bytes_per_s": 1e15,
            "interface_bytes_per_s": shape.interface_bytes_per_ns * 1e9,
            "read_overhead_ns": round(shape.overhead_ns),
            "read_latency_ns": round(shape.latency_ns),
            "queue_depth": 1024,
        }
    )


def responses_by_simulation(drive: Flash, key: Key, *, n_requests: int, seed: int, span_bytes: int = 0) -> Floats:
    """Responses in ns of reads in a closed loop, the first fifth left out; by the same rules as the engines (F1 to F4).

    Notes
    -----
    A read-only closed loop on one flash drive needs no event list: commands become ready in order of issue, and
    `Dies` tells when each is done.
    """
    tables = drive.tables()
    dies = Dies(tables)
    rng = np.random.default_rng(seed)
    sectors = key.length_bytes // tables.sector_bytes
    places = (span_bytes or drive.capacity_bytes) // key.length_bytes
    if key.is_sequential:
        starts = (np.arange(n_requests) % places) * sectors
    else:
        starts = rng.integers(0, places, n_requests) * sectors
    waiting = [0] * min(key.queue_depth, n_requests)
    heapq.heapify(waiting)
    processor_free, done_ns = 0, np.empty(n_requests)
    for row, lba in enumerate(starts.tolist()):
        issue = heapq.heappop(waiting)
        ready = processor_free = max(issue, processor_free) + tables.read_overhead_ns
        dies.advance(ready)
        done = dies.read(ready, lba, sectors).done_ns
        done_ns[row] = done - issue
        heapq.heappush(waiting, done)
    return done_ns[n_requests // 5 :]
