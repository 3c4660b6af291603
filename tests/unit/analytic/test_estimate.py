"""The estimate where its answer is known: counts of disk operations, a lone disk, limits of load."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diskmodel.analytic.backend import back_end
from diskmodel.analytic.estimate import estimate
from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.workload import Workload

FLASH = {
    "kind": "flash",
    "name": "plain flash",
    "capacity": "100 GB",
    "channels": 4,
    "dies_per_channel": 4,
    "page_bytes": 4096,
    "pages_per_block": 256,
    "read": "60 us",
    "program": "300 us",
    "erase": "3 ms",
    "channel": "200 MB/s",
    "interface": "500 MB/s",
}


def array(level: str = "jbod", disks: int = 1, drive: object = "generic-15k", **more: object) -> Array:
    return Array.parse({"drive": drive, "layout": {"level": level, "disks": disks}, **more})


def workload(**more: object) -> Workload:
    return Workload.parse({"size": "4 KiB", **more})


@pytest.mark.parametrize(
    ("level", "disks", "reads", "writes"),
    [("raid0", 6, (1,), (1,)), ("raid10", 6, (1,), (2,)), ("raid5", 6, (1,), (2, 2)), ("raid6", 8, (1,), (3, 3))],
)
def test_small_random_requests_cost_the_penalty(
    level: str, disks: int, reads: tuple[int, ...], writes: tuple[int, ...]
) -> None:
    sample = back_end(array(level, disks), workload(read_ratio=0.5, clients=1), n_sample=500)
    assert (sample.read_widths, sample.write_widths) == (reads, writes)
    n_writes = round(500 * (1 - sample.read_share))
    assert len(sample.disk) == (500 - n_writes) + n_writes * sum(writes)
    # every write of a small parity update comes back to a place that was read
    assert sample.is_revisit.sum() == (sample.is_write.sum() if level in ("raid5", "raid6") else 0)
    assert sample.disk_share.sum() == pytest.approx(1)


def test_cache_hits_spare_the_disks() -> None:
    cached = array("raid5", 5, controller={"read_cache": {"hit_ratio": 0.4}})
    sample = back_end(cached, workload(clients=1), n_sample=4000)
    assert sample.per_host == pytest.approx(0.6, abs=3 * math.sqrt(0.24 / 4000))
    assert sample.hit_share == pytest.approx(1 - sample.per_host)
    everything = array("raid5", 5, controller={"read_cache": {"hit_ratio": 1.0}})
    answer = estimate(everything, workload(clients=2))
    assert answer.iops == pytest.approx(2 / 30e-6)
    assert answer.back_end_per_host == 0


def test_lone_disk_with_one_client_is_seek_half_a_turn_and_transfer() -> None:
    disk = array()
    tables = disk.drive.tables()
    answer = estimate(disk, workload(clients=1), n_sample=4000)
    # blocks are uniform over addresses; take cylinders from the zones
    blocks = np.linspace(0, tables.n_sectors - 1, 1500).astype(np.int64)
    zone = np.searchsorted(tables.zone_first_lba, blocks, side="right") - 1
    inside = (blocks - tables.zone_first_lba[zone]) // (tables.heads * tables.sectors_per_track[zone])
    cylinder = tables.zone_first_cylinder[zone] + inside
    seek = tables.seek_ns[np.abs(cylinder[:, None] - cylinder[None, :])].mean()
    transfer = (8 * tables.revolution_ns / tables.sectors_per_track[zone]).mean()
    expected = (tables.read_overhead_ns + seek + tables.revolution_ns / 2 + transfer) / 1e9
    assert answer.mean_s == pytest.approx(expected, rel=0.02)
    assert answer.iops * answer.mean_s == pytest.approx(1, rel=1e-6)
    assert answer.utilization_ratio == pytest.approx(1, rel=0.01)


def test_elevator_and_depth() -> None:
    rates = {
        name: estimate(array(drive={**generic_fcfs()}, queue={"scheduler": name}), workload(clients=16)).iops
        for name in ("fcfs", "sstf", "sptf")
    }
    assert rates["fcfs"] * 1.2 < rates["sstf"] < rates["sptf"] / 1.2
    by_depth = [estimate(array(), workload(clients=n)).iops for n in (1, 2, 4, 8, 16, 32)]
    assert by_depth == sorted(by_depth)


def generic_fcfs() -> dict[str, object]:
    return {**load_drive("generic-15k").to_dict(), "queue": {"depth": 1}}


def test_more_spindles_carry_more_and_an_overload_is_reported() -> None:
    rates = [estimate(array("raid10", n), workload(read_ratio=0.7, clients=32)).iops for n in (4, 8, 16)]
    assert rates == sorted(rates)
    saturation = estimate(array("raid10", 4), workload(read_ratio=0.7, rate="10/s")).saturation_iops
    beyond = estimate(array("raid10", 4), workload(read_ratio=0.7, rate_per_s=1.05 * saturation))
    assert not beyond.is_stable
    assert math.isinf(beyond.mean_s)
    below = estimate(array("raid10", 4), workload(read_ratio=0.7, rate_per_s=0.3 * saturation))
    assert below.is_stable
    assert below.utilization_ratio < 1
    assert below.mean_s < below.p99_s < math.inf


def test_sequential_reads_need_no_arm() -> None:
    stream = workload(addresses={"pattern": "sequential"}, clients=1)
    assert estimate(array(), stream).mean_s < 0.1 * estimate(array(), workload(clients=1)).mean_s


def test_flash_works_in_parallel() -> None:
    rates = [estimate(array(drive=FLASH), workload(clients=n)).iops for n in (1, 8, 32)]
    assert rates[0] == pytest.approx(1 / (60e-6 + 4096 / 200e6 + 4096 / 500e6), rel=0.02)
    assert rates[1] > 4 * rates[0]
    interface_bound = 500e6 / 4096
    assert rates[2] <= interface_bound


def test_of_large_requests_a_few_are_counted() -> None:
    sample = back_end(array("raid5", 5), workload(size="1 GiB", read_ratio=1.0, clients=1))
    # as many as have 200,000 strips of 64 KiB together
    assert sample.n_requests == 200_000 // ((1 << 30) // (64 << 10)) == 12
    assert len(sample.disk) >= 12 * 5
