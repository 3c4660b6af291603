"""What a scan of a pool goes through, and what each record of it reads and writes (rules X14, X20 and X22)."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.device import OF_SCAN, READS
from diskmodel.engine.reference.simpy_engine import make_devices
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.layout.pieces import Plan
from diskmodel.layout.pools.records import place_of
from diskmodel.layout.pools.scan import blocks_in_order, records_begun, records_of, scanned_vdevs, step, stored_sectors
from diskmodel.layout.pools.tables import VdevTables, vdevs_of
from diskmodel.records import READ, WRITE

MIB = 2048  # sectors


def tables_of(**layout: Any) -> VdevTables:
    given = {"member": "3 GiB", "failed": [0], "spares": 1, "rebuild": {}} | layout
    return vdevs_of(Array.parse({"drive": "md-raid-10k", "layout": given}).tables())


def of_record(tables: VdevTables, vdev: int, first: int) -> Plan | None:
    """Return what a scan does with the record at a block."""
    return step(tables, vdev, first, tables.pool.record // tables.pool.block, lambda copies, _: copies[0])


@pytest.mark.parametrize("used", [0.0, 0.01, 0.3, 0.55, 0.8, 1.0])
@pytest.mark.parametrize("layout", [{"level": "mirror", "disks": 4, "vdevs": 2}, {"level": "raidz1", "disks": 4}])
def test_each_stored_record_comes_once_in_order_of_place(used: float, layout: dict[str, Any]) -> None:
    tables = tables_of(**layout, record="1 MiB", rebuild={"used_ratio": used})
    places = [place_of(tables, record) for record in range(tables.pool.scan.records)]
    for vdev in range(tables.n_groups):
        expected = sorted(first for on, first in places if on == vdev)
        assert list(blocks_in_order(tables, vdev)) == expected
        assert records_of(tables, tables.pool.scan.records, vdev) == len(expected)


def test_a_mirror_is_copied() -> None:
    tables = tables_of(level="mirror", disks=4, vdevs=2, failed=[2])
    plan = of_record(tables, 1, 256)
    assert plan is not None
    lba = tables.data_offset + 256 * 8
    assert [tuple(piece) for piece in plan.first] == [(3, READ, lba, 256)]
    assert [tuple(piece) for piece in plan.then] == [(4, WRITE, lba, 256)]


def test_raidz_reads_all_that_is_left_with_parity() -> None:
    """A record of 32 blocks on RAID-Z2 of 6: four disks of data, eight blocks each; disk 5 is missing, too."""
    tables = tables_of(level="raidz2", disks=6, failed=[1, 5])
    plan = of_record(tables, 0, 0)
    assert plan is not None
    assert sorted(piece.disk for piece in plan.first) == [0, 2, 3, 4]
    assert {piece.n for piece in plan.first} == {64}
    assert [(piece.disk, piece.n) for piece in plan.then] == [(6, 64)]


def test_a_record_that_has_nothing_on_the_lost_disk_is_passed_over() -> None:
    """One of 8 KiB on RAID-Z1 of 6 has three columns, on disks 0 to 2."""
    tables = tables_of(level="raidz1", disks=6, record="8 KiB", failed=[3])
    assert of_record(tables, 0, 0) is None


def test_what_is_stored_on_a_disk_is_what_a_resilver_goes_through() -> None:
    tables = tables_of(level="raidz2", disks=12, vdevs=2, rebuild={"used_ratio": 0.5})
    assert tables.rebuild_end == pytest.approx(stored_sectors(tables), rel=0.01)
    assert tables.rebuild_end == pytest.approx(0.5 * tables.member, rel=0.08)  # the pool keeps some space
    begun = tables_of(level="raidz2", disks=12, vdevs=2, rebuild={"used_ratio": 0.5, "done_ratio": 0.25})
    assert begun.rebuild_front == pytest.approx(0.25 * tables.rebuild_end, rel=0.01)


def scrubbed(**layout: Any) -> VdevTables:
    rebuild = {"action": "check"} | layout.pop("rebuild", {})
    return tables_of(failed=[], spares=0, rebuild=rebuild, **layout)


def test_a_scrub_reads_every_side_of_a_mirror() -> None:
    tables = scrubbed(level="mirror", disks=4, vdevs=2)
    plan = of_record(tables, 1, 256)
    assert plan is not None
    lba = tables.data_offset + 256 * 8
    assert [tuple(piece) for piece in plan.first] == [(2, READ, lba, 256), (3, READ, lba, 256)]
    assert not plan.then


def test_a_scrub_reads_all_columns_of_raidz() -> None:
    """A record of 8 KiB on RAID-Z2 of 6 has two blocks of data and two of parity, on disks 0 to 3."""
    tables = scrubbed(level="raidz2", disks=6, record="8 KiB")
    plan = of_record(tables, 0, 0)
    assert plan is not None
    assert [(piece.disk, piece.n) for piece in plan.first] == [(3, 8), (2, 8), (1, 8), (0, 8)]
    assert not plan.then


def test_a_scrub_goes_through_all_vdevs() -> None:
    tables = scrubbed(level="raidz1", disks=6, vdevs=2, rebuild={"used_ratio": 0.5, "done_ratio": 0.3})
    assert list(scanned_vdevs(tables)) == [0, 1]
    begun = sum(records_begun(tables, vdev) for vdev in scanned_vdevs(tables))
    assert begun == int(0.3 * tables.pool.scan.records) == tables.rebuild_front // tables.rebuild_window
    assert tables.rebuild_end == tables.pool.scan.records * tables.rebuild_window


def test_a_group_waits_less_for_a_scrub() -> None:
    assert scrubbed(level="mirror", disks=2).pool.scan.least_ns == 1_000_000_000
    assert tables_of(level="mirror", disks=2).pool.scan.least_ns == 3_000_000_000


def test_a_disk_is_given_more_of_a_resilver_while_nothing_else_comes() -> None:
    """One read at a time, three after five have ended alone; five beside others that do not end, one at a time."""
    array = Array.parse(
        {"drive": "md-raid-10k", "layout": {"level": "mirror", "disks": 2, "failed": [0], "spares": 1, "rebuild": {}}}
    )
    scenario = resolve(array, 0)
    device = make_devices(Clock.__new__(Clock), scenario)[0]
    assert scenario.layout.pool is not None
    device.scan = scenario.layout.pool.scan
    assert device._most_of_scan() == 1
    for _ in range(5):
        device._count_active(OF_SCAN)
        device._count_ended(OF_SCAN)
    assert device._most_of_scan() == 3
    device._count_active(READS)
    assert device._most_of_scan() == 1
    device._count_active(OF_SCAN)
    assert device._most_of_scan() == 0
    device._count_active(READS)
    device._count_ended(READS)
    for left in (5, 4, 3, 2, 1):
        assert device._most_of_scan() == min(left, 1)
        device._count_active(OF_SCAN)
    assert device._most_of_scan() == 0
    device._count_ended(READS)
    assert device._most_of_scan() == 1


@pytest.mark.parametrize(
    ("layout", "about"),
    [
        ({"level": "raidz1", "disks": 6, "rebuild": {"speed_min": "1 MB/s"}}, "setting of Linux md"),
        ({"level": "raidz1", "disks": 6, "rebuild": {"action": "resync"}, "failed": []}, "use 'check' for a scrub"),
        ({"level": "raidz1", "disks": 6, "rebuild": {"action": "check"}}, "remove them from failed"),
        (
            {"level": "raid5", "disks": 6, "rebuild": {"action": "check", "used_ratio": 0.5}, "failed": []},
            "whole disks",
        ),
        ({"level": "raid5", "disks": 6, "rebuild": {"used_ratio": 0.5}}, "md rebuilds whole disks"),
        ({"level": "raidz1", "disks": 6, "failed": []}, "no disk has failed"),
    ],
)
def test_what_a_scan_does_not_have(layout: dict[str, Any], about: str) -> None:
    with pytest.raises(DescriptionError, match=about):
        tables_of(**layout)


@pytest.mark.parametrize(("name", "action"), [("scrub", "check"), ("resilver", "recover")])
def test_passes_under_their_own_names_are_explained(name: str, action: str) -> None:
    with pytest.raises(DescriptionError, match=rf'layout.{name}: is not a known field; write rebuild = .*"{action}"'):
        tables_of(level="raidz1", disks=6, failed=[], **{name: {"used": "40%"}})
