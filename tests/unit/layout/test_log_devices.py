"""The drive of a pool's log: any drive that is one, simulated as it is (rule X16)."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.layout.pools import slabs_of_a_drive
from diskmodel.records import Int64

SAFE = {"clients": 1, "size": "4 KiB", "read_ratio": 0, "sync": "dsync", "span": "64 MiB"}


def pool(log: Any) -> Array:
    layout = {"level": "mirror", "disks": 2, "member": "16 GiB", "record": "4 KiB", "log": log}
    return Array.parse({"drive": "md-raid-10k", "layout": layout})


def response_ns(log: Any, n: int = 200, **load: Any) -> Int64:
    """Return what safe writes take, one after the other unless the load says otherwise."""
    array, workload = pool(log), Workload.parse({**SAFE, **load})
    done = run(resolve(array, 3), workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1)).completions
    return done.done_ns - done.issue_ns


def test_a_commit_on_a_hard_disk_takes_a_revolution() -> None:
    """The next block lies behind the last, which has just gone by; now and then the arm moves on by a track."""
    disk = load_drive("md-raid-10k")
    took = response_ns(disk)[10:]
    assert abs(float(took.mean()) / disk.period_ns - 1) < 0.05  # type: ignore[operator]


def test_several_share_a_revolution() -> None:
    """Those who come while a block is written share the next one (rule X10): two blocks serve all."""
    alone, together = response_ns("md-raid-10k"), response_ns("md-raid-10k", n=800, clients=8)
    assert float(together.mean()) < 2.5 * float(alone.mean())


def test_a_volatile_cache_is_flushed() -> None:
    """A consumer drive answers writes in microseconds, and commits in as long as a flush takes."""
    drive = load_drive("samsung-980-pro-1tb")
    took = response_ns(drive)
    assert float(took.min()) > drive.time_of_flush_ns  # type: ignore[union-attr]
    safe = drive.model_copy(update={"power_loss_protected": True})
    assert float(response_ns(safe).max()) < drive.time_of_flush_ns / 10  # type: ignore[union-attr]


def test_a_safe_cache_takes_a_command_and_the_data() -> None:
    """Blocks of the log have a header: 192 bytes of itself, and as many of the write (rule X10)."""
    drive = load_drive("micron-7450-pro-1920").model_copy(update={"interface_bytes_per_s": 1e9})
    took = response_ns(drive)
    assert set((took - drive.write_overhead_ns - drive.write_latency_ns).tolist()) == {8192}  # type: ignore[union-attr]


def test_figures_beside_a_drive_are_those_of_a_device_without_it() -> None:
    drive = load_drive("micron-7450-pro-1920")
    log = pool({"drive": "micron-7450-pro-1920", "write": "50 us"}).layout.log
    assert log is not None
    assert log.drive is None
    assert log.figures == (50_000, drive.buffered_writes()[1])  # type: ignore[index]
    assert pool("micron-7450-pro-1920").layout.log.drive == drive  # type: ignore[union-attr]


def test_the_log_has_the_first_metaslab_of_its_drive() -> None:
    """Behind a partition at 1 MiB and 4 MiB of labels; as long as that of a vdev of one such disk (rule X3)."""
    assert slabs_of_a_drive(1920 * 10**9) == (5 << 20, 16 << 30, 111)
    assert slabs_of_a_drive(100 << 30) == (5 << 20, 512 << 20, 199)
    assert slabs_of_a_drive(16 << 20) == (5 << 20, 16 << 20, 0)


@pytest.mark.parametrize("place", ["log", "special"])
def test_what_its_drive_reads_is_not_asked_of_the_disks(place: str) -> None:
    """Of an array of flash, whose drives have no queue that orders commands as the disk's has."""
    disk = load_drive("generic-15k") if place == "log" else "2x generic-15k"
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": {"level": "mirror", "disks": 2, place: disk}})
    assert list(array.unread(array)) == []


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("wd-ultrastar-hc620", "zones that the host writes in order"),
        ({"drive": "generic-15k", "write": "30 us"}, "no such figure"),
        ({"bytes_per_s": 1e9}, "write_ns"),
        ({"drive": load_drive("micron-7450-pro-1920").model_copy(update={"capacity_bytes": 8 << 20})}, "no room"),
    ],
)
def test_what_cannot_be_the_device_of_a_log_is_refused(log: Any, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        resolve(pool(log), 0)
