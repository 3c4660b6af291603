"""A flash drive's mean response in a closed loop: by formula for the search, by the engine for the result.

The formula is mean value analysis (Schweitzer's approximation) with deterministic service: one processor in the drive
and one in the host, dies that each have their own queue, one interface, and a delay. It is smooth and takes a
millisecond for hundreds of drives at once. The simulation decides where the search ends and how certain the result is.

References
----------
P. Schweitzer, *Approximate analysis of multiclass closed networks of queues*, 1979.
M. Reiser, *A queueing network analysis of computer communication networks with window flow control*, 1979, eq. 19.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.closed_loop import behind, closed_loop, loop_of, scenario_of
from calibrate.evidence import Key
from diskmodel.drive import Flash
from diskmodel.engine.native import Repeated, array_of

#: Iterations of the fixed point, each half way: after 40 the response has converged to the last digit that counts.
_ITERATIONS = 40


#: Logarithms of the limits of drives: a command costs a processor 0.1 µs to 1 ms, the latency likewise up to 20 ms, a
#: die reads in 1 µs to 20 ms, wires move 5 MB/s to 64 GB/s. Within them a result is reported; wider ones let the
#: search wander where the evidence cannot determine a parameter.
LOW = np.log([100.0, 100.0, 1_000.0, 0.005])
HIGH = np.log([1e6, 2e7, 2e7, 64.0])


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
        """Return logarithms of the continuous parameters: overhead, latency, read, interface."""
        return np.log([self.overhead_ns, self.latency_ns, self.read_ns, self.interface_bytes_per_ns])

    def place(self) -> Floats:
        """Return coordinates in which the likelihood is nearly a normal distribution; `vectors_at` is the inverse.

        Logarithms of: all three times together, as the response at depth 1 has them; overhead and latency by the read;
        overhead by latency; the interface. The volume is that of `vector`.
        """
        overhead, latency, read, interface = self.vector()
        besides = np.logaddexp(overhead, latency)
        return np.array([np.logaddexp(besides, read), besides - read, overhead - latency, interface])


def vectors_at(places: Floats) -> Floats:
    """Return logarithms of overhead, latency, read and interface at places (..., 4)."""
    total, by_read, by_latency, interface = np.moveaxis(np.asarray(places, np.float64), -1, 0)
    read = total - np.logaddexp(0.0, by_read)
    besides = read + by_read
    latency = besides - np.logaddexp(0.0, by_latency)
    return np.stack([latency + by_latency, latency, read, interface], axis=-1)


def shape_at(place: Floats, n_dies: int, page_bytes: int) -> FlashShape:
    """Return the drive at a place, clipped to the limits of drives."""
    overhead, latency, read, interface = np.exp(np.clip(vectors_at(place), LOW, HIGH)).tolist()
    return FlashShape(overhead, latency, read, int(n_dies), int(page_bytes), interface)


def responses_at(
    places: Floats, n_dies: Ints, page_bytes: Ints, keys: Sequence[Key], host_ns: Floats | float = 0.0
) -> Floats:
    """Return mean responses in ns of random or sequential reads, (m drives, n keys), by formula.

    Places have shape (m, 4), numbers of dies and sizes of pages (m,); `host_ns`, the host's time for a request, (n,).
    """
    overhead, latency, read, interface = np.exp(np.clip(vectors_at(places), LOW, HIGH)).T[:, :, np.newaxis]
    n_dies, page_bytes = n_dies[:, np.newaxis], page_bytes[:, np.newaxis]
    depth = np.array([key.queue_depth for key in keys], dtype=np.float64)
    length = np.array([key.length_bytes for key in keys], dtype=np.float64)
    is_sequential = np.array([key.is_sequential for key in keys])
    # small sequential reads find the page in the die's register: one sensing for many requests
    pages = np.where(is_sequential, length / page_bytes, np.maximum(length / page_bytes, 1.0))
    waves = np.maximum(pages / n_dies, 1.0)
    share = np.minimum(pages / n_dies, 1.0)
    die = read * waves
    wire = length / interface
    tail = np.maximum(read * (waves - 1.0), wire * (1.0 - 1.0 / waves)) + wire / waves
    spread = 1.0 + np.log(np.clip(pages, 1.0, n_dies))
    host = np.broadcast_to(np.asarray(host_ns, np.float64), depth.shape)
    alone = host + overhead + latency + read * np.minimum(pages, 1.0) + tail
    floor = depth * np.maximum(np.maximum(np.maximum(host, overhead), die * share), wire)
    seen = np.where(depth > 1, (depth - 1) / depth, 0.0)
    response = alone.copy()
    for _ in range(_ITERATIONS):
        rate = depth / response
        wait = _wait(host, rate, seen, depth) + _wait(overhead, rate, seen, depth)
        wait += _wait(die, rate * share, seen, depth) * spread
        wait += _wait(wire, rate, seen, depth)
        response = 0.5 * response + 0.5 * np.maximum(alone + wait, floor)
    return np.asarray(response)


def _wait(service: Floats, rate: Floats, seen: Floats, depth: Floats) -> Floats:
    """Return the wait at a single server with constant service: for those found there, one of them half done."""
    busy = np.minimum(rate * seen * service, 1.0)
    queue = busy + np.minimum(0.5 * busy**2 / np.maximum(1.0 - busy, 0.5 / depth), np.maximum(depth - 1.0 - busy, 0.0))
    return np.asarray(service * np.maximum(queue - busy / 2, 0.0))


def flash_of(shape: FlashShape, *, capacity_bytes: int, name: str = "trial", pages_per_block: int = 256) -> Flash:
    """Return a description with these parameters, each die on a channel of its own that is too fast to matter."""
    return Flash.parse(
        {
            "kind": "flash",
            "name": name,
            "capacity_bytes": capacity_bytes,
            "channels": shape.n_dies,
            "dies_per_channel": 1,
            "page_bytes": shape.page_bytes,
            "pages_per_block": pages_per_block,
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


class Simulation:
    """Mean responses of drives in a closed loop, by the engine, all with the same addresses.

    Randomness then affects all drives nearly alike: differences between drives are about ten times more precise than
    the responses themselves.
    """

    def __init__(
        self, keys: Sequence[Key], *, span_bytes: int, seed: int, n_requests: int, host_ns: Floats | None = None
    ) -> None:
        self.keys, self.span_bytes = tuple(keys), span_bytes
        self.host_ns = [0.0] * len(self.keys) if host_ns is None else host_ns.tolist()
        self.loops = [
            Repeated(
                loop_of(
                    addresses(key, run_length(key, n_requests), span_bytes, seed), key.length_bytes, key.queue_depth
                )
            )
            for key in self.keys
        ]

    def log_ns(self, shape: FlashShape) -> Floats:
        """Return logarithms of the mean responses in ns, one per key."""
        # reads do not use blocks, and preparing large ones takes longer than a short run
        scenario = scenario_of(flash_of(shape, capacity_bytes=self.span_bytes, pages_per_block=1))
        arrays = {host: array_of(behind(scenario, host)) for host in set(self.host_ns)}
        parts = zip(self.keys, self.loops, self.host_ns, strict=True)
        return np.log([self._mean_ns(loop.done_ns(arrays[host]), key) for key, loop, host in parts])

    @staticmethod
    def _mean_ns(done_ns: Ints, key: Key) -> float:
        """Return queue depth by throughput, without start and drain."""
        done = np.sort(done_ns)
        first, last = len(done) // 10, len(done) - key.queue_depth
        return float(done[last] - done[first]) * key.queue_depth / (last - first)


def run_length(key: Key, n_requests: int) -> int:
    """Return the requests of a run: more for long queues, fewer where one request reads many pages."""
    usual = n_requests * (1.0 + key.queue_depth / 50) / (1.0 + key.length_bytes / 131_072)
    return int(max(usual, 12 * key.queue_depth, 100))


def addresses(key: Key, n_requests: int, span_bytes: int, seed: int) -> Ints:
    """Return byte offsets of a key's requests."""
    places = span_bytes // key.length_bytes
    if key.is_sequential:
        return np.arange(n_requests) % places * key.length_bytes
    return np.random.default_rng(seed).integers(0, places, n_requests) * key.length_bytes


def responses_by_simulation(
    drive: Flash, key: Key, *, n_requests: int, seed: int, span_bytes: int = 0, host_ns: float = 0.0
) -> Floats:
    """Return responses in ns of reads in a closed loop, run by the engine, without the first fifth."""
    where = addresses(key, n_requests, span_bytes or drive.capacity_bytes, seed)
    done = closed_loop(behind(scenario_of(drive), host_ns), where, key.length_bytes, key.queue_depth)
    return np.asarray((done.done_ns - done.issue_ns)[n_requests // 5 :], np.float64)
