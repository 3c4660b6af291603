"""Bundled flash drives through the whole path against what their data sheets print (within 15 %)."""

from __future__ import annotations

import random

import pytest
import simpy

from diskmodel.drive import load_drive
from diskmodel.drive.flash.description import Flash
from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.flash_disk import FlashDisk
from diskmodel.queue.fcfs import Fcfs

pytestmark = pytest.mark.slow

READ, WRITE = 0, 1
KIB4, KIB128 = 8, 256


def iops(
    flash: Flash, op: int, depth: int, n_sectors: int, n: int, *, sequential: bool = False, span_bytes: int = 0
) -> float:
    """Commands per second of the second half of a closed run of `n` commands."""
    clock = Clock(simpy.Environment())
    disk = FlashDisk(clock, 0, flash.tables(), Fcfs(), flash.queue_depth)
    draw, done_ns = random.Random(11), []
    places = (span_bytes or flash.capacity_bytes) // flash.sector_bytes // n_sectors
    issued = 0

    def issue() -> None:
        nonlocal issued
        if issued < n:
            place = issued % places if sequential else draw.randrange(places)
            issued += 1
            disk.submit(Command(issued, 0, op, place * n_sectors, n_sectors, clock.now, completed))

    def completed(command: Command) -> None:
        done_ns.append(command.done_ns)
        issue()

    for client in range(depth):
        clock.at(0, ARRIVE, 0, client, issue)
    clock.env.run()
    assert len(done_ns) == n
    assert disk.counters.busy_ns <= clock.now
    return (n - 1 - n // 2) * 1e9 / (done_ns[-1] - done_ns[n // 2])


def preset(name: str, state: str) -> Flash:
    drive = load_drive(name)
    assert isinstance(drive, Flash)
    return drive.model_copy(update={"state": state})


@pytest.mark.parametrize(
    ("name", "depth", "printed_reads", "printed_read_mb_s", "printed_write_mb_s"),
    [
        ("intel-x25-m-g2-160", 32, 35_000, 250, 100),
        ("samsung-870-evo-1tb", 32, 98_000, 560, 530),
        ("micron-7450-pro-1920", 512, 800_000, 6800, 2700),
    ],
)
def test_reads_and_sequential_rates(
    name: str, depth: int, printed_reads: float, printed_read_mb_s: float, printed_write_mb_s: float
) -> None:
    drive = preset(name, "fresh")
    assert iops(drive, READ, depth, KIB4, 8000) == pytest.approx(printed_reads, rel=0.15)
    assert iops(drive, READ, 32, KIB128, 1000, sequential=True) * 0.131072 == pytest.approx(printed_read_mb_s, rel=0.15)
    assert iops(drive, WRITE, 32, KIB128, 3000, sequential=True) * 0.131072 == pytest.approx(
        printed_write_mb_s, rel=0.15
    )


def test_random_writes_as_each_data_sheet_measures_them() -> None:
    """The old SATA drive on 8 GB and as new, the consumer one as new, the data-center one in steady state."""
    assert iops(preset("intel-x25-m-g2-160", "fresh"), WRITE, 32, KIB4, 8000, span_bytes=8 * 10**9) == pytest.approx(
        8_600, rel=0.15
    )
    assert iops(preset("samsung-870-evo-1tb", "fresh"), WRITE, 32, KIB4, 10_000) == pytest.approx(88_000, rel=0.15)
    assert iops(preset("micron-7450-pro-1920", "steady"), WRITE, 256, KIB4, 40_000) == pytest.approx(120_000, rel=0.15)


@pytest.mark.parametrize(
    ("name", "least_us", "most_us"),
    [("intel-x25-m-g2-160", 65, 250), ("samsung-870-evo-1tb", 60, 90), ("micron-7450-pro-1920", 70, 120)],
)
def test_one_read_at_a_time(name: str, least_us: float, most_us: float) -> None:
    assert least_us < 1e6 / iops(preset(name, "steady"), READ, 1, KIB4, 300) < most_us


def test_full_span_random_writes_are_slower_in_steady_state_than_as_new() -> None:
    new, worn = (iops(preset("intel-x25-m-g2-160", state), WRITE, 32, KIB4, 10_000) for state in ("fresh", "steady"))
    assert worn < new / 2
