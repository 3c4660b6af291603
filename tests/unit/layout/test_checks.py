"""What a check and a resync read and write, by hand (rules R3 and R7)."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.layout.description import Layout
from diskmodel.layout.md.rebuild import step
from diskmodel.layout.pieces import ChildIo, Plan
from diskmodel.records import READ, WRITE
from tests.unit.layout.test_layout_choices import tables


def pass_step(action: str, front: int = 0, window: str = "4 KiB", **layout: Any) -> Plan:
    return step(tables(**layout, rebuild={"action": action, "window": window}), front)


def reads(disks: int, lba: int, n: int) -> list[ChildIo]:
    return [ChildIo(disk, READ, lba, n) for disk in range(disks)]


@pytest.mark.parametrize("level", ["raid1", "raid5", "raid6", "raid10"])
def test_a_check_reads_every_disk_and_writes_nothing(level: str) -> None:
    assert pass_step("check", 16, level=level, disks=4) == Plan(reads(4, 16, 8), [])


def test_the_last_window_ends_with_the_members() -> None:
    assert pass_step("check", 792, "64 KiB", level="raid5", disks=3).first == reads(3, 792, 8)


def test_a_resync_writes_parity_where_it_rotates_to() -> None:
    # left-symmetric: parity of strips 0 and 1 is on disks 3 and 2
    plan = pass_step("resync", 4, "4 KiB", level="raid5", disks=4)
    assert plan == Plan(reads(4, 4, 8), [ChildIo(3, WRITE, 4, 4), ChildIo(2, WRITE, 8, 4)])


def test_a_resync_writes_both_parities_of_each_group() -> None:
    # the first row of a group is Q 0 1 P
    then = pass_step("resync", level="raid60", disks=8).then
    assert sorted((piece.disk, piece.lba, piece.n) for piece in then) == [(0, 0, 8), (3, 0, 8), (4, 0, 8), (7, 0, 8)]


def test_a_resync_writes_every_copy_but_the_first() -> None:
    assert pass_step("resync", level="raid10", disks=4) == Plan(
        reads(4, 0, 8), [ChildIo(1, WRITE, 0, 8), ChildIo(3, WRITE, 0, 8)]
    )
    # on three disks the copies of strips 0, 1 and 2 are on 0 1, 2 0, 1 2
    odd = pass_step("resync", 0, "8 KiB", level="raid1e", disks=3)
    assert [(piece.disk, piece.lba, piece.n) for piece in odd.then] == [(1, 0, 8), (0, 8, 8), (2, 8, 8)]


def test_mirrors_of_each_other_are_copied_from_the_first() -> None:
    plan = pass_step("resync", level="raid1", disks=3)
    assert plan == Plan(reads(1, 0, 8), [ChildIo(1, WRITE, 0, 8), ChildIo(2, WRITE, 0, 8)])


def test_what_holds_no_data_is_not_written() -> None:
    # of 101 strips on three disks the last has no second copy
    t = tables(level="raid1e", disks=3, rebuild={"action": "resync", "window": "4 KiB"})
    last = t.member - t.strip
    assert (t.n_disks * (t.member // t.strip) - t.capacity // t.strip * t.copies) in (0, 1)
    written = [piece.disk for piece in step(t, last).then]
    places = range((last // t.strip) * 3, (last // t.strip) * 3 + 3)
    assert written == [place % 3 for place in places if place % 2 and place // 2 < t.capacity // t.strip]


def limit(rebuild: dict[str, Any], **layout: Any) -> float:
    described = Layout.parse({"rebuild": {"action": "check"} | rebuild} | layout)
    assert described.rebuild is not None
    return described.fastest_rebuild(described.rebuild) / 1e6


def test_the_thread_limits_groups_whose_requests_do_not_merge() -> None:
    assert limit({}, level="raid6", disks=32) == pytest.approx(204.8)
    # 3.5 us for each of 36 requests of 4 KiB
    assert limit({}, level="raid6", disks=36) == pytest.approx(4096 / (3.5 * 36))
    assert limit({"page_ns": 0}, level="raid6", disks=36) == pytest.approx(204.8)
    assert limit({"page_ns": 4000}, level="raid6", disks=20) == pytest.approx(4096 / (4 * 20))
    # a thread for each group; mirrors have no stripes
    assert limit({}, level="raid60", disks=40, groups=2) == pytest.approx(204.8)
    assert limit({"page_ns": 4000}, level="raid10", disks=40) == pytest.approx(204.8)


def test_the_limit_is_the_gap_between_steps() -> None:
    t = tables(level="raid6", disks=20, rebuild={"action": "check", "page_ns": 4000, "window": "4 KiB"})
    assert t.rebuild_gap_ns == 80_000
