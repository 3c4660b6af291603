"""A small database as SimPy processes over a simulated array: what RAID 5 and RAID 10 do to its commit latency.

Transactions read and change pages in a buffer pool. A commit waits until its log record is on the array. One log writer
puts all waiting records into one write (group commit). A cleaner writes dirty pages back. The log and the pages are on
the same eight disks, so the small writes of the cleaner delay the log.

Run: python examples/database_on_simpy.py
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import simpy

from diskmodel.array import Array
from diskmodel.engine.embed import ArrayProcess

MS = 1_000_000  # simulated time is in nanoseconds
S = 1_000_000_000
PAGE = 8192
LOG_BYTES = 256 << 20
N_PAGES = 400_000
POOL_PAGES = 20_000
PAGES_OF_TRANSACTION = 2
Process = Generator[simpy.Event, object, None]


@dataclass
class Database:
    """Buffer pool, log and cleaner on an array."""

    env: simpy.Environment
    array: ArrayProcess
    rng: random.Random
    pool: OrderedDict[int, bool] = field(default_factory=OrderedDict)  # page: is it dirty; least recently used first
    waiting: list[simpy.Event] = field(default_factory=list)
    log_head: int = 0
    commits_ns: list[int] = field(default_factory=list)
    n_reads: int = 0
    n_log_writes: int = 0

    def start(self, clients: int, rate_per_s: float, cleaners: int) -> None:
        """Start all processes; `rate_per_s` transactions arrive per second, from all clients together."""
        self.wake_log = self.env.event()
        self.env.process(self.log_writer())
        for _ in range(cleaners):
            self.env.process(self.cleaner())
        for _ in range(clients):
            self.env.process(self.client(round(clients / rate_per_s * S)))

    def client(self, mean_gap_ns: int) -> Process:
        while True:
            yield self.env.timeout(round(self.rng.expovariate(1) * mean_gap_ns))
            for _ in range(PAGES_OF_TRANSACTION):
                # most work happens on a tenth of the pages
                hot = self.rng.random() < 0.8
                page = self.rng.randrange(N_PAGES // 10 if hot else N_PAGES)
                if page not in self.pool:
                    self.n_reads += 1
                    yield self.array.read(LOG_BYTES + page * PAGE, PAGE)
                self.pool[page] = True
                self.pool.move_to_end(page)
            begin = self.env.now
            yield self.committed()
            self.commits_ns.append(self.env.now - begin)

    def committed(self) -> simpy.Event:
        record = self.env.event()
        self.waiting.append(record)
        if not self.wake_log.triggered:
            self.wake_log.succeed()
        return record

    def log_writer(self) -> Process:
        while True:
            yield self.wake_log
            self.wake_log = self.env.event()
            while self.waiting:
                group, self.waiting = self.waiting, []
                length = -(-len(group) * 512 // 4096) * 4096
                if self.log_head + length > LOG_BYTES:
                    self.log_head = 0
                yield self.array.write(self.log_head, length)
                self.log_head += length
                self.n_log_writes += 1
                for record in group:
                    record.succeed()

    def cleaner(self) -> Process:
        while True:
            while len(self.pool) > POOL_PAGES:
                page, is_dirty = self.pool.popitem(last=False)
                if is_dirty:
                    yield self.array.write(LOG_BYTES + page * PAGE, PAGE)
            yield self.env.timeout(1 * MS)


def run(array: Array, *, seconds: float = 10, rate_per_s: float = 200, seed: int = 1) -> dict[str, float]:
    """Return the commit latency in ms and the work of the array, over `seconds` of simulated time."""
    env = simpy.Environment()
    database = Database(env, ArrayProcess(env, array, seed=seed), random.Random(seed))
    # a pool in steady state: full, and dirty
    pages = random.Random(seed).sample(range(N_PAGES), POOL_PAGES)
    database.pool.update((page, True) for page in pages)
    database.start(clients=50, rate_per_s=rate_per_s, cleaners=4)
    env.run(until=round(seconds * S))
    commits = sorted(database.commits_ns)
    busy = database.array.busy_ns
    return {
        "commits_per_s": len(commits) / seconds,
        "mean_ms": sum(commits) / len(commits) / MS,
        "p99_ms": commits[len(commits) * 99 // 100] / MS,
        "commits_per_log_write": len(commits) / database.n_log_writes,
        "utilization_ratio": sum(busy) / len(busy) / env.now,
    }


def main() -> None:
    folder = Path(__file__).parent
    for name in ("raid5", "raid10"):
        figures = run(Array.load(folder / f"{name}.toml"))
        print(
            f"{name:7} {figures['commits_per_s']:6.1f} commits/s, commit {figures['mean_ms']:6.2f} ms mean "
            f"{figures['p99_ms']:7.2f} ms p99, {figures['commits_per_log_write']:.2f} commits a log write, "
            f"disks {figures['utilization_ratio']:.0%} busy"
        )


if __name__ == "__main__":
    main()
