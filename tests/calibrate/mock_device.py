"""A device of known parameters that answers the micro-benchmark's requests: the engine instead of a disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrate.closed_loop import closed_loop, scenario_of
from diskmodel.drive import Drive

Int64 = NDArray[np.int64]
KIB, MIB = 1 << 10, 1 << 20


class MockDevice:
    """Runs experiments on a drive in simulated time and keeps what the micro-benchmark would have written.

    Runs follow each other on one clock, so that the platter's angle carries through. `host_ns` is what the host adds to
    each latency, `jitter_ns` the standard deviation of its noise.
    """

    def __init__(self, drive: Drive, *, seed: int = 1, host_ns: int = 0, jitter_ns: float = 0.0) -> None:
        self.drive = drive
        self.scenario = scenario_of(drive, seed)
        self.rng = np.random.default_rng(seed)
        self.host_ns, self.jitter_ns = host_ns, jitter_ns
        self.now = 1_000_000
        self.experiments: list[dict[str, Any]] = []

    @property
    def span(self) -> int:
        return self.scenario.layout.capacity * self.drive.sector_bytes

    def begin(self, name: str) -> None:
        columns: dict[str, list[int]] = {key: [] for key in ("issue_ns", "latency_ns", "offset", "length", "op")}
        self.experiments.append(
            {"name": name, "why": "", "parameters": {}, "summary": {}, "runs": [], "samples": columns, "epoch": 0}
        )

    def run(
        self,
        offset: Any,
        length: int,
        queue_depth: int = 1,
        *,
        is_write: Any = False,
        is_durable: bool = True,
        **parameters: Any,
    ) -> None:
        """Of durable writes the drive must be one without a write-back cache."""
        offset = np.asarray(offset, np.int64)
        op = np.broadcast_to(np.asarray(is_write, np.int64), offset.shape)
        done = closed_loop(self.scenario, offset, length, queue_depth, op=op, start_ns=self.now)
        noise = np.abs(self.rng.normal(0.0, self.jitter_ns, len(offset))).astype(np.int64) if self.jitter_ns else 0
        latency = done.done_ns - done.issue_ns + self.host_ns + noise
        order = np.argsort(done.done_ns, kind="stable")
        experiment = self.experiments[-1]
        samples = experiment["samples"]
        first = len(samples["offset"])
        samples["issue_ns"].extend((self.now + done.issue_ns)[order].tolist())
        samples["latency_ns"].extend(latency[order].tolist())
        samples["offset"].extend(offset[order].tolist())
        samples["length"].extend([length] * len(offset))
        samples["op"].extend(((1 + is_durable) * op[order]).tolist())
        experiment["runs"].append(
            {
                "parameters": {"queue_depth": queue_depth, "length": length, **parameters},
                "first": first,
                "count": len(offset),
                "summary": {},
            }
        )
        self.now += int(done.done_ns.max()) + 5_000_000

    def anywhere(self, n: int, length: int) -> Int64:
        return self.rng.integers(0, (self.span - length) // length, n) * length

    def cache_hit(self) -> None:
        self.begin("cache_hit")
        for repetition in range(3):
            for length in (512, 4096, 16 * KIB, 64 * KIB):
                self.run(np.full(40, self.anywhere(1, 256 * KIB)[0]), length, repetition=repetition)

    def rotation_period(self, rounds: int = 12, blocks: int = 64) -> None:
        self.begin("rotation_period")
        places = self.anywhere(blocks, 512)
        halves = [places[: blocks // 2], places[blocks // 2 :]]
        order = [self.rng.permutation(half) for _ in range(rounds) for half in halves]
        self.run(np.concatenate(order), 512, part="main")

    def seek_profile(self, rounds: int = 90) -> None:
        """Distances and bases as calibrate/microbench/src/experiments/seek_profile.rs chooses them."""
        self.begin("seek_profile")
        sector = 512
        distances = []
        distance = sector
        while distance < self.span // 16:
            distances.append(distance)
            distance *= 2
        distances += [self.span // 16 * k // sector * sector for k in range(1, 16)]
        position, rows, reach, last = self.span // 2, [], self.span // 32, self.span - sector
        for _ in range(rounds):
            for distance in self.rng.permutation(distances).tolist():
                backwards = distance < 16 * MIB or self.rng.random() < 0.5
                low, high = (distance, last) if backwards else (0, last - distance)
                start = min(max(position - reach, low), high)
                stop = min(max(position + reach, low), high)
                base = max(int(self.rng.integers(start, stop + 1)) // sector * sector, -(-low // sector) * sector)
                position = base - distance if backwards else base + distance
                rows += [base, position]
        self.run(rows, sector)

    def random_reads(self, depths: tuple[int, ...] = (1, 2, 4, 8, 16, 32), n: int = 800, repetitions: int = 3) -> None:
        self.begin("random_reads")
        for repetition in range(repetitions):
            for depth in depths:
                self.run(self.anywhere(n, 4096), 4096, depth, repetition=repetition)

    def zones(self, positions: int = 16, requests: int = 150) -> None:
        self.begin("zones")
        length = 256 * KIB
        piece = self.span // positions // length * length
        for again in range(2):
            for which in range(positions):
                start = which * piece + again * (piece // 2 // length * length)
                rows = start + np.arange(requests) * length
                self.run(rows[rows + length <= self.span], length, 4, position_bytes=which * piece + piece // 2)

    def block_sizes(self, n: int = 600) -> None:
        self.begin("block_sizes")
        for repetition in range(2):
            for length in (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB):
                for depth in (1, 16):
                    self.run(self.anywhere(n, length), length, depth, repetition=repetition)

    def mixed_read_write(
        self, fractions: tuple[float, ...] = (1.0, 0.7, 0.5, 0.0), depths: tuple[int, ...] = (1, 4, 16), n: int = 400
    ) -> None:
        self.begin("mixed_read_write")
        for repetition in range(2):
            for fraction in fractions:
                for depth in depths:
                    self.run(
                        self.anywhere(n, 4096),
                        4096,
                        depth,
                        is_write=self.rng.random(n) >= fraction,
                        is_durable=False,
                        repetition=repetition,
                        read_fraction=fraction,
                    )

    def reads(self, **random_reads: Any) -> None:
        """Every experiment that only reads, in the order of the micro-benchmark."""
        self.cache_hit()
        self.rotation_period()
        self.seek_profile()
        self.random_reads(**random_reads)
        self.zones()

    def write(self, path: Path) -> Path:
        experiments = [{**e, "samples": {**e["samples"], "n": len(e["samples"]["offset"])}} for e in self.experiments]
        document = {
            "format": "diskmodel-measurement",
            "version": 1,
            "program": {"name": "mock", "version": "0"},
            "host": {"kernel": "mock", "architecture": "x86_64", "n_cpus": 1},
            "started_unix_s": 0,
            "elapsed_s": self.now / 1e9,
            "state": "complete",
            "target": {"path": "mock", "kind": "block device", "size_bytes": self.span, "device": None},
            "settings": {},
            "overhead": {},
            "findings": {"nature": "undecided"},
            "experiments": experiments,
            "warnings": [],
        }
        path.write_text(json.dumps(document))
        return path
