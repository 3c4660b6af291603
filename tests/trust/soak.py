"""Random arrays under random load in the native kernel, with every conservation law checked in every run.

    python -m tests.trust.soak --ios 1e9 [--first 0] [--jobs 2]

A run is decided by its number alone, so that one that breaks a law is repeated by `--first NUMBER --ios 1`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.records import Requests, StreamRule
from diskmodel.result.laws import check_laws
from tests.differential.cases import SECTOR, random_case

#: Requests of one run: enough for queues, caches and rebuilds to fill, end and fill again.
N_REQUESTS = 20_000
#: Pieces of requests that one run may make, so that no single one takes minutes.
MAX_PIECES = 4_000_000


@dataclass(frozen=True)
class Soaked:
    """What one run came to: its number, host requests, commands of disks, and whether the kernel covers it."""

    number: int
    n_requests: int
    n_commands: int
    is_covered: bool

    @property
    def n_ios(self) -> int:
        """Host requests and the disk I/Os that they took."""
        return self.n_requests + self.n_commands


def soak_one(number: int) -> Soaked:
    """Run number `number` and hold every law against it.

    Raises
    ------
    ConservationError
        When one is broken.
    """
    case = random_case(number)
    scenario = resolve(Array.parse(case["array"]), case["seed"])
    requests = random_requests(number, scenario)
    if native.covers(scenario, requests) is not None:
        return Soaked(number, 0, 0, False)
    run = native.run(scenario, requests)
    check_laws(requests, run)
    return Soaked(number, len(requests), int((run.devices.n_reads + run.devices.n_writes).sum()), True)


def random_requests(number: int, scenario: Scenario) -> Requests:
    """Closed and open streams, at random places and in runs, of any length in sectors."""
    choose, rng = random.Random(number), np.random.default_rng(number)
    n_sectors, layout = scenario.layout.capacity, scenario.layout
    largest = min(choose.choice((1, 8, 64, 300)), n_sectors)
    pieces = 2 * (largest / layout.strip + 1) * max(layout.copies, 2)
    n = max(min(N_REQUESTS, int(MAX_PIECES / pieces)), 100)
    n_streams = choose.choice((1, 2, 4))
    length = rng.integers(1, largest, n, endpoint=True)
    is_run = rng.random(n) < choose.choice((0, 0.3, 0.95))
    place = rng.integers(0, n_sectors, n)
    start = np.maximum.accumulate(np.where(is_run, 0, np.arange(n)))
    travelled = np.cumsum(length) - length
    sector = (place[start] + travelled - travelled[start]) % n_sectors
    sector = np.minimum(sector, n_sectors - length)
    streams = tuple(StreamRule(f"s{i}", choose.choice((0, 1, 4, 32)), 0) for i in range(n_streams))
    stream = rng.integers(0, n_streams, n).astype(np.int32)
    gap = rng.integers(0, 2 * choose.choice((1, 20_000_000)), n)
    is_open = np.array([rule.n_clients == 0 for rule in streams])[stream]
    return Requests(
        np.where(is_open, np.cumsum(gap), gap // 100),
        (rng.random(n) < choose.choice((0.0, 0.5, 1.0))).astype(np.uint8),
        sector * SECTOR,
        length * SECTOR,
        stream,
        rng.random(n),
        streams,
    )


def soak(n_ios: int, first: int = 0, jobs: int = 1) -> Iterator[Soaked]:
    """Runs from number `first` on until `n_ios` I/Os were simulated."""
    done, at = 0, first
    with ProcessPoolExecutor(jobs) as pool:
        while done < n_ios:
            for soaked in pool.map(soak_one, range(at, at + 64)):
                done += soaked.n_ios
                yield soaked
            at += 64


def main() -> None:
    """Soak the engines and report the progress."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ios", type=float, default=1e9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    started, ios, requests, runs, left_out = time.monotonic(), 0, 0, 0, 0
    for soaked in soak(int(options.ios), options.first, options.jobs):
        ios, requests, runs = ios + soaked.n_ios, requests + soaked.n_requests, runs + soaked.is_covered
        left_out += not soaked.is_covered
        if (soaked.number + 1) % 1000 == 0:
            print(f"{soaked.number + 1}: {ios:.3g} I/Os, {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(
        f"{ios:,} simulated I/Os ({requests:,} host requests) in {runs:,} random arrays, {left_out:,} not covered by "
        f"the kernel; no law was broken; {time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
