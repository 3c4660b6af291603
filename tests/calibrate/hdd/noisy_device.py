"""A device of known parameters on a busy machine: measured in simulated time by the micro-benchmark's plan, with the
lateness of a host whose processors others use, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrate.closed_loop import closed_loop
from tests.calibrate.mock_device import KIB, MIB, Int64, MockDevice

#: Weights of the experiments in calibrate/microbench/src/experiments, those that write included.
WEIGHT = {
    "rotation_period": 6.0,
    "seek_profile": 14.0,
    "random_reads": 24.0,
    "zones": 9.0,
    "block_sizes": 7.0,
    "track_boundaries": 14.0,
}
ALL_WEIGHTS = 106.0


@dataclass(frozen=True)
class Noise:
    """How late the host issues and takes completions.

    Every time it takes `usual_ns` more on average (exponential). A share of `delayed_ratio` waits another 0.05 to 5 ms
    (even in the logarithm), and a share of `stalled_ratio` 5 to 20 ms for a processor. What is waited for longer than a
    cache takes finds the processor asleep, which wakes within `waking_ns` (uniform).
    """

    usual_ns: float
    delayed_ratio: float
    stalled_ratio: float
    waking_ns: float

    def draw(self, rng: np.random.Generator, n: int, *, sleeps: bool) -> tuple[Int64, NDArray[np.bool_]]:
        """Lateness of n completions, and which of them were stalls."""
        late = rng.exponential(self.usual_ns, n)
        if sleeps:
            late += rng.uniform(0.0, self.waking_ns, n)
        delayed = rng.random(n) < self.delayed_ratio
        late[delayed] += np.exp(rng.uniform(np.log(50e3), np.log(5e6), int(delayed.sum())))
        stalled = rng.random(n) < self.stalled_ratio
        late[stalled] += rng.uniform(5e6, 20e6, int(stalled.sum()))
        return late.astype(np.int64), stalled


QUIET = Noise(4_000, 0.001, 0.0, 60_000)
MODERATE = Noise(20_000, 0.03, 0.002, 120_000)
HEAVY = Noise(50_000, 0.12, 0.01, 150_000)


class NoisyDevice(MockDevice):
    """Runs by the plan of a measurement of `seconds`; the host's lateness delays what it issues next, too."""

    def __init__(self, drive: Any, noise: Noise, *, seconds: float, seed: int) -> None:
        super().__init__(drive, seed=seed)
        self.noise, self.seconds = noise, seconds

    def measure(self) -> None:
        """Return all experiments in which reads at known positions determine the mechanics."""
        self.cache_hit()
        for name, weight in WEIGHT.items():
            getattr(self, "plan_" + name)(self.seconds * weight / ALL_WEIGHTS)

    def timed(self, rows: Iterator[int], most: int, length: int, depth: int, seconds: float, **parameters: Any) -> None:
        """A run that issues for so long. A stall ends what is outstanding and what the drive has read ahead."""
        offset = np.fromiter(islice(rows, most), np.int64)
        sleeps = self.experiments[-1]["name"] != "cache_hit"
        late, stalled = self.noise.draw(self.rng, len(offset), sleeps=sleeps)
        if depth == 1:
            stalled[:] = False
        left, first = int(seconds * 1e9), 0
        parts = []
        for stop in [*(np.flatnonzero(stalled) + 1).tolist(), len(offset)]:
            if stop <= first or left <= 0:
                continue
            part = self._part(offset[first:stop], late[first:stop], length, depth)
            spent = part[:, 0] - self.now
            kept = part[spent < left]
            parts.append(kept)
            end = int((kept[:, 0] + kept[:, 1]).max()) if len(kept) else self.now
            left -= end - self.now
            self.now, first = end, stop
        rows_done = np.concatenate(parts)
        self._record(rows_done[np.argsort(rows_done[:, 0] + rows_done[:, 1], kind="stable")], length, depth, parameters)
        self.now += 5_000_000

    def run(self, offset: Any, length: int, queue_depth: int = 1, *, is_write: Any = False, **parameters: Any) -> None:
        rows = iter(np.asarray(offset, np.int64).tolist())
        self.timed(rows, len(offset), length, queue_depth, 1e6, **parameters)

    def _part(self, offset: Int64, late: Int64, length: int, depth: int) -> Int64:
        """Issue, latency and offset of requests, as the host records them."""
        # what made room for a request is taken late by what the request waits
        done = closed_loop(self.scenario, offset, length, depth, start_ns=self.now, think_ns=late)
        issue, end = done.issue_ns, done.done_ns.copy()
        made_room = np.argsort(end, kind="stable")[: max(len(offset) - depth, 0)]
        taken = issue[depth:] - end[made_room]
        end[made_room] += np.maximum(taken, 0) if depth > 1 else late[1:][: len(made_room)]
        return np.stack([self.now + issue, end - issue, offset], axis=1)

    def _record(self, rows: Int64, length: int, depth: int, parameters: dict[str, Any]) -> None:
        experiment = self.experiments[-1]
        samples, first = experiment["samples"], len(experiment["samples"]["offset"])
        for name, column in zip(("issue_ns", "latency_ns", "offset"), rows.T, strict=True):
            samples[name].extend(column.tolist())
        samples["length"].extend([length] * len(rows))
        samples["op"].extend([0] * len(rows))
        reported = {"queue_depth": depth, "length": length, **parameters}
        experiment["runs"].append({"parameters": reported, "first": first, "count": len(rows), "summary": {}})

    def plan_rotation_period(self, seconds: float) -> None:
        self.begin("rotation_period")
        places = self.anywhere(64, 512)

        def rows() -> Iterator[int]:
            while True:
                for half in (places[:32], places[32:]):
                    yield from self.rng.permutation(half).tolist()

        self.timed(rows(), int(seconds * 400), 512, 1, seconds)

    def plan_seek_profile(self, seconds: float) -> None:
        self.begin("seek_profile")
        distances, sectors = [], 1
        while sectors * 512 < self.span // 16:
            distances.append(sectors * 512)
            is_power = sectors & (sectors - 1) == 0
            if sectors < 64:
                sectors *= 8
            elif 1024 <= sectors < 65536:
                sectors = sectors * 3 // 2 if is_power else sectors * 4 // 3
            else:
                sectors *= 2
        distances += [self.span // 16 * k // 512 * 512 for k in range(1, 16)]
        self.timed(self._pairs(distances), int(seconds * 400), 512, 1, seconds)

    def _pairs(self, distances: list[int]) -> Iterator[int]:
        position, reach, last = self.span // 2, self.span // 32, self.span - 512
        while True:
            for nominal in self.rng.permutation(distances).tolist():
                distance = nominal
                if nominal >= 1024 * 512:
                    distance += int(self.rng.integers(0, min(nominal // 4, 4096 * 512, self.span // 64) // 512)) * 512
                backwards = distance < 16 * MIB or self.rng.random() < 0.5
                low, high = (distance, last) if backwards else (0, last - distance)
                start, stop = (min(max(position + side, low), high) for side in (-reach, reach))
                base = max(int(self.rng.integers(start, stop + 1)) // 512 * 512, -(-low // 512) * 512)
                position = base - distance if backwards else base + distance
                yield from (base, position)

    def plan_random_reads(self, seconds: float) -> None:
        self.begin("random_reads")
        depths, repetitions = (1, 2, 4, 8, 16, 32), 3
        each = seconds / len(depths) / repetitions
        for repetition in range(repetitions):
            for depth in self.rng.permutation(depths).tolist():
                n = int(each * 800) + 100
                self.timed(iter(self.anywhere(n, 4096).tolist()), n, 4096, depth, each, repetition=repetition)

    def plan_block_sizes(self, seconds: float) -> None:
        self.begin("block_sizes")
        for repetition in range(2):
            for length in (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB):
                for depth in (1, 16):
                    n = int(seconds / 20 * 800) + 50
                    rows = iter(self.anywhere(n, length).tolist())
                    self.timed(rows, n, length, depth, seconds / 20, repetition=repetition)

    def plan_zones(self, seconds: float) -> None:
        self.begin("zones")
        length, passes = 256 * KIB, 2
        positions = self.zone_positions(seconds)
        piece = self.span // positions // length * length
        part = piece // passes // length * length
        for again in range(passes):
            for which in self.rng.permutation(positions).tolist():
                start, most = which * piece + again * part, part // length
                rows = iter(range(start, start + most * length, length))
                each = seconds / positions / passes
                n = min(most, int(each * 150e6 / length))
                self.timed(rows, n, length, 4, each, position_bytes=which * piece + piece // 2, **{"pass": again})

    def zone_positions(self, seconds: float) -> int:
        """As calibrate/microbench/src/experiments/zones.rs chooses."""
        return min(max(int(seconds / 2 / 0.25), 32 if seconds > 30.0 else 16), 64)

    def plan_track_boundaries(self, seconds: float) -> None:
        self.begin("track_boundaries")
        tables = self.scenario_tables()
        slowest = tables[0]
        stride = int(slowest / 3) | 1
        places = 8 if seconds > 60 else 3
        kinds = (True, False) if seconds > 30 else (False,)
        for place in range(places):
            start = (self.span // places * (place + 1) // 512 - 2) * 512
            for growing in kinds:
                each = seconds / places / len(kinds)
                steps = self._strides(start, None if growing else stride)
                reported = "growing" if growing else "constant"
                self.timed(steps, int(each * 800), 512, 1, each, stride=reported, from_bytes=start)

    @staticmethod
    def _strides(start: int, constant: int | None) -> Iterator[int]:
        step = constant or 0
        while start >= 0:
            yield start
            step += constant is None
            start -= step * 512

    def scenario_tables(self) -> tuple[float]:
        """Sectors that pass in a revolution at the slowest sequential rate, as the program estimates it."""
        tables = self.drive.tables()
        turns = 1.0 + int(tables.track_skew[-1]) / int(tables.sectors_per_track[-1])
        return (float(tables.sectors_per_track[-1]) / turns,)
