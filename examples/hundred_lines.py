"""A hard disk in a hundred lines of SimPy: seek, rotation, transfer, a queue and an elevator."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from random import Random

import simpy

MS = 1_000_000  # times are whole nanoseconds
Steps = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Disk:
    cylinders: int = 20_000
    heads: int = 4
    sectors_per_track: int = 1000
    skew: int = 120  # sectors by which a track begins later than the track before it
    revolution_ns: int = 60_000 * MS // 7200

    def seek_ns(self, distance: int) -> int:
        return round(0.8 * MS + 0.08 * MS * distance**0.5) if distance else 0

    def index(self, lba: int) -> int:
        track, sector = divmod(lba, self.sectors_per_track)
        return (track * self.skew + sector) % self.sectors_per_track

    def angle_ns(self, index: int) -> int:
        return index * self.revolution_ns // self.sectors_per_track


@dataclass(eq=False)
class Drive:
    env: simpy.Environment
    disk: Disk
    scheduler: str = "fcfs"
    track: int = 0
    waiting: list[tuple[int, int, simpy.Event]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wake = self.env.event()
        self.env.process(self.run())

    def read(self, lba: int, n_sectors: int) -> simpy.Event:
        self.waiting.append((lba, n_sectors, self.env.event()))
        if not self.wake.triggered:
            self.wake.succeed()
        return self.waiting[-1][2]

    def run(self) -> Steps:
        while True:
            if not self.waiting:
                self.wake = self.env.event()
                yield self.wake
            yield self.env.timeout(0)  # requests that arrive at this instant arrive before the choice
            chosen = min(self.waiting, key=self.positioning_ns) if self.scheduler == "sptf" else self.waiting[0]
            self.waiting.remove(chosen)
            lba, n_sectors, done = chosen
            while n_sectors:
                yield self.env.timeout(self.move_ns(lba))
                self.track, sector = divmod(lba, self.disk.sectors_per_track)
                yield self.env.timeout(self.wait_ns(lba, self.env.now))
                here, index = min(n_sectors, self.disk.sectors_per_track - sector), self.disk.index(lba)
                yield self.env.timeout(self.disk.angle_ns(index + here) - self.disk.angle_ns(index))
                lba, n_sectors = lba + here, n_sectors - here
            done.succeed()

    def move_ns(self, lba: int) -> int:
        track, heads = lba // self.disk.sectors_per_track, self.disk.heads
        return self.disk.seek_ns(abs(track // heads - self.track // heads) or int(track != self.track))

    def wait_ns(self, lba: int, at_ns: int) -> int:
        wait = (self.disk.angle_ns(self.disk.index(lba)) - at_ns) % self.disk.revolution_ns
        return wait if wait <= self.disk.revolution_ns - self.disk.revolution_ns // 100_000 else 0

    def positioning_ns(self, command: tuple[int, int, simpy.Event]) -> int:
        move = self.move_ns(command[0])
        return move + self.wait_ns(command[0], self.env.now + move)


def client(drive: Drive, blocks: Iterator[tuple[int, tuple[int, int]]], responses_ns: dict[int, int]) -> Steps:
    for row, (lba, n_sectors) in blocks:
        begin = drive.env.now
        yield drive.read(lba, n_sectors)
        responses_ns[row] = drive.env.now - begin


def simulate(blocks: list[tuple[int, int]], clients: int, scheduler: str = "fcfs", disk: Disk = Disk()) -> list[int]:
    drive, rows, responses_ns = Drive(simpy.Environment(), disk, scheduler), enumerate(blocks), dict[int, int]()
    for _ in range(clients):
        drive.env.process(client(drive, rows, responses_ns))
    drive.env.run()
    return [responses_ns[row] for row in sorted(responses_ns)]


if __name__ == "__main__":
    places = [(Random(row).randrange(10_000_000) * 8, 8) for row in range(10_000)]
    for scheduler in ("fcfs", "sptf"):
        mean_ns = sum(simulate(places, 16, scheduler)) / len(places)
        print(f"{scheduler}: {16e9 / mean_ns:.0f} IOPS, mean {mean_ns / MS:.0f} ms")
