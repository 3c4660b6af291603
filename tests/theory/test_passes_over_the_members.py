"""Checks and resyncs of an idle array against what disks, limits and threads allow."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.hdd import Hdd
from diskmodel.engine.simulate import simulate
from diskmodel.result.rebuild import RebuildRate
from diskmodel.workload import Workload

DRIVE = "hgst-ultrastar-7k8"


def rate(level: str, disks: int, **rebuild: Any) -> RebuildRate:
    """Of an array with one request a second."""
    layout = {"level": level, "disks": disks, "rebuild": {"speed_max": "1 GB/s"} | rebuild}
    idle = Workload.parse({"size": "4 KiB", "rate": "1/s"})
    found = simulate(Array.parse({"drive": DRIVE, "layout": layout}), idle, n_requests=10, profile_draws=0).rebuild
    assert found is not None
    return found


def media_rate() -> float:
    """Of the outermost tracks, bytes per second; head switches cost a few percent of it."""
    drive = catalogue()[DRIVE]
    assert isinstance(drive, Hdd)
    assert drive.outer_bytes_per_s is not None
    return drive.outer_bytes_per_s


@pytest.mark.parametrize(("level", "disks"), [("raid1", 2), ("raid5", 4), ("raid6", 6), ("raid10", 4)])
def test_a_check_streams_all_members(level: str, disks: int) -> None:
    assert rate(level, disks, action="check").bytes_per_s == pytest.approx(media_rate(), rel=0.05)


def test_a_check_keeps_the_limit() -> None:
    assert rate("raid5", 4, action="check", speed_max="50 MB/s").bytes_per_s == pytest.approx(50e6, rel=0.01)


def test_a_check_waits_for_the_thread() -> None:
    # 4 KiB of each of 20 disks in 80 us
    assert rate("raid6", 20, action="check", page_ns=4000).bytes_per_s == pytest.approx(4096 / 80e-6, rel=0.01)


def test_a_resync_of_a_pair_streams_and_one_of_parity_does_not() -> None:
    pair, parity = rate("raid1", 2, action="resync"), rate("raid5", 4, action="resync")
    assert pair.bytes_per_s == pytest.approx(media_rate(), rel=0.1)
    # a disk that writes parity turns back for it
    assert parity.bytes_per_s < 0.6 * pair.bytes_per_s


def test_hours_and_the_end_of_a_pass() -> None:
    whole = rate("raid5", 4, action="check")
    assert whole.hours == pytest.approx(catalogue()[DRIVE].capacity_bytes / whole.bytes_per_s / 3600, rel=0.01)
    assert not whole.is_finished
    end = rate("raid5", 4, action="check", done_ratio=0.99999)
    assert end.is_finished
    assert "the check ended within the run" in end.messages[0]


@pytest.mark.parametrize(("level", "disks", "vdevs"), [("mirror", 2, 1), ("mirror", 6, 3), ("raidz1", 6, 2)])
def test_a_scrub_streams_all_vdevs_at_once(level: str, disks: int, vdevs: int) -> None:
    layout = {"level": level, "disks": disks, "vdevs": vdevs, "rebuild": {"action": "check", "used": "40%"}}
    idle = Workload.parse({"size": "4 KiB", "rate": "1/s"})
    array = Array.parse({"drive": DRIVE, "layout": layout})
    found = simulate(array, idle, n_requests=30, profile_draws=0).rebuild
    assert found is not None
    assert found.name == "scrub"
    # a commit writes labels at both ends of the disk
    assert found.bytes_per_s == pytest.approx(media_rate(), rel=0.1)
    assert found.member_bytes == pytest.approx(0.4 * catalogue()[DRIVE].capacity_bytes, rel=0.05)
