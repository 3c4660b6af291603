"""Where a fit to fio's results starts, and what it says of disks that are unlike its start."""

from __future__ import annotations

import pytest

from calibrate.calibration import Calibration
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.signs import signs
from calibrate.hdd.from_fio.speed import NEARLINE, starts_of
from calibrate.hdd.from_fio.writes import as_found, fit_writes
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.errors import InputError
from diskmodel.workload import Workload


def hdd(name: str) -> Hdd:
    drive = load_drive(name)
    assert isinstance(drive, Hdd)
    return drive


def condition(op: str, depth: int, iops: float) -> Condition:
    ratio = 1.0 if op == "read" else 0.0
    workload = Workload.parse({"size_bytes": 4096, "read_ratio": ratio, "clients": depth})
    return Condition(op, workload, iops, depth / iops * 1e9)


@pytest.mark.parametrize(
    ("capacity", "speeds"),
    [
        (0.3e12, {5400, 7200, 10000, 15000}),
        (2.4e12, {5400, 7200, 10000}),
        (24e12, {5400, 7200}),
        (36e12, {5400, 7200}),
    ],
)
def test_a_fit_starts_from_drives_that_are_made_so_large(capacity: float, speeds: set[int]) -> None:
    starts = starts_of(None, None, round(capacity))
    assert set(starts.drives) == speeds
    for drive in starts.drives.values():
        assert drive.capacity_bytes == capacity
        assert drive.tables().n_cylinders < 2_500_000


def test_a_large_disk_has_the_tracks_of_a_nearline_one() -> None:
    assert starts_of(None, None, 18 * 10**12).drives[7200].outer_bytes_per_s == hdd(NEARLINE).outer_bytes_per_s
    assert starts_of(None, None, 10**12).drives[7200].outer_bytes_per_s == hdd("generic-7k2").outer_bytes_per_s


def test_a_named_drive_keeps_its_geometry() -> None:
    named = hdd("seagate-exos-m-30")
    start = starts_of(named, None, 30 * 10**12).drives[7200]
    assert (start.name, start.heads) == (named.name, named.heads)


def test_a_class_in_an_array_is_sized_as_one_alone() -> None:
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 4}})
    starts = starts_of(None, array, 24 * 10**12)
    assert not starts.is_known
    assert starts.drives[7200] == starts_of(None, None, 24 * 10**12).drives[7200]


def test_a_capacity_that_no_disk_has_is_an_error() -> None:
    with pytest.raises(InputError, match="more than any hard disk"):
        starts_of(None, None, 500 * 10**12)


def test_the_cache_of_a_sas_disk_alone_may_be_on() -> None:
    drive = hdd("generic-10k")
    assert drive.cache is not None
    assert not drive.cache.write_back
    inside = Array.parse({"drive": "generic-10k", "layout": {"level": "raid5", "disks": 4}})
    assert MeasuredArray(inside).write_cache_states(drive) == (False,)
    caching = drive.model_copy(update={"cache": drive.cache.to_dict() | {"write_back": True}})
    rates = {depth: MeasuredArray().predict(caching, condition("write", depth, 1.0), seed=9).iops for depth in (1, 8)}
    writes = [condition("write", depth, iops) for depth, iops in rates.items()]
    found = fit_writes(MeasuredArray(), drive, writes, seed=1)
    assert found.rate_error < 0.05
    cache = as_found(found).cache
    assert cache is not None
    assert cache.write_back


def test_two_arms_and_shingled_tracks_show() -> None:
    """The rates of a simulated Exos 2X18 and of an Archive 8 TB, and those of a Samsung F1 1 TB."""
    drive = hdd("generic-7k2")
    two = [condition("read", depth, iops) for depth, iops in ((1, 82.1), (2, 120.7), (4, 150.4))]
    (said,) = signs(two, [], drive)
    assert "depth 2 are 1.47 times as fast" in said
    assert not list(signs(two, [], hdd("seagate-exos-2x18")))
    (said,) = signs([condition("read", 1, 57.9)], [condition("write", 1, 3.46)], drive)
    assert "random writes take 16.7 times as long as reads" in said
    usual = [condition("read", depth, iops) for depth, iops in ((1, 72.1), (4, 75.4), (16, 111.0))]
    assert not list(signs(usual, [condition("write", 1, 147.6)], drive))


def test_a_profile_says_that_its_fit_has_not_converged() -> None:
    drive = hdd("generic-7k2").model_copy(update={"provenance": {"seed": 0}})
    found = Calibration(drive, False, "2 conditions; the worst: random writes, rate +1284%", {}, {})
    assert "random writes, rate +1284%" in found.drive.doubt
    again = Hdd.parse(found.drive.to_dict())
    assert again.doubt == found.drive.doubt
    assert Calibration(again, True, "", {}, {}).drive.doubt == drive.doubt == ""
