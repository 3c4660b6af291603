"""Commands of single requests, written down by hand, where a layout decides something (rules L2 to L11, L14)."""

from __future__ import annotations

from diskmodel.layout.md import mirror, parity
from diskmodel.layout.md.rebuild import step
from diskmodel.layout.pieces import READ_AND_HOLD, ChildIo, Copy, Plan
from diskmodel.layout.plan import plan
from diskmodel.layout.volumes import VolumeTables
from diskmodel.records import READ, WRITE
from tests.unit.layout.test_layout_choices import tables


def asked(t: VolumeTables, sector: int, n: int) -> list[tuple[list[int], int]]:
    """Disks among which a copy was to be chosen, and for how many sectors, by the reads of a request."""
    seen: list[tuple[list[int], int]] = []

    def choose(copies: list[Copy], length: int) -> Copy:
        seen.append(([copy.disk for copy in copies], length))
        return copies[0]

    plan(t, READ, sector, n, choose)
    return seen


def planned(t: VolumeTables, op: int, sector: int, n: int, front: int = 0) -> Plan:
    return plan(t, op, sector, n, lambda copies, _: copies[0], front)


def test_disks_one_after_the_other() -> None:
    t = tables(level="jbod", disks=3)
    assert (t.family, t.capacity) == ("concat", 2400)
    assert planned(t, READ, 796, 8).first == [ChildIo(0, READ, 796, 4), ChildIo(1, READ, 0, 4)]
    assert planned(t, WRITE, 1600, 3).first == [ChildIo(2, WRITE, 0, 3)]


def test_a_strip_of_raid3_is_one_sector() -> None:
    t = tables(level="raid3", disks=3)
    assert t.strip == 1
    assert planned(t, READ, 0, 3).first == [ChildIo(0, READ, 0, 2), ChildIo(1, READ, 0, 1)]


def test_a_degraded_read_reads_each_sector_of_a_row_once() -> None:
    # rows of three data strips of 8 sectors; of row 0 they lie on disks 0, 1 and 2, and parity on 3
    t = tables(level="raid5", disks=4, failed=[1])
    others = [ChildIo(disk, READ, 0, 8) for disk in (0, 2, 3)]
    assert planned(t, READ, 0, 24).first == others
    assert planned(t, READ, 8, 8).first == others
    # strips 0 and 1 in part: what is asked for of strip 0, and what is needed of it for strip 1, with a gap between
    assert planned(t, READ, 6, 6).first == [
        *(ChildIo(0, READ, *span) for span in ((0, 4), (6, 2))),
        *(ChildIo(disk, READ, 0, 4) for disk in (2, 3)),
    ]
    assert planned(t, READ, 4, 8).first == [ChildIo(0, READ, 0, 8), ChildIo(2, READ, 0, 4), ChildIo(3, READ, 0, 4)]


def test_a_copy_is_chosen_once_for_each_run() -> None:
    assert asked(tables(level="raid1", disks=2), 4, 40) == [([0, 1], 40)]
    joined, apart = tables(level="raid10", disks=4), tables(level="raid10", disks=4, read_strips="separate")
    assert asked(joined, 4, 12) == asked(apart, 4, 12) == [([0, 1], 4), ([2, 3], 8)]
    # strips 0 and 2 adjoin on their disks, but strip 1 lies between them
    assert asked(joined, 0, 24) == [([0, 1], 8), ([2, 3], 8), ([0, 1], 8)]
    # a lost disk leaves nothing to choose
    assert asked(tables(level="raid10", disks=4, failed=[0]), 4, 12) == [([2, 3], 8)]
    # three copies on four disks are two after a loss, and still a choice
    assert asked(tables(level="raid1", disks=3, failed=[0]), 0, 8) == [([1, 2], 8)]


def test_runs_on_mirrors_of_which_strips_adjoin_on_one_copy_only() -> None:
    # raid1e on 3 disks: strip 0 on disks 0 and 1, strip 1 on 2 and 0, strip 2 on 1 and 2
    assert asked(tables(level="raid1e", disks=3), 0, 24) == [([0, 1], 8), ([2, 0], 8), ([1, 2], 8)]


def test_writes_reach_the_spare_where_it_is_rebuilt() -> None:
    t = tables(level="raid1", disks=2, failed=[0], spares=1, rebuild={"window": "8 KiB"})
    assert planned(t, WRITE, 0, 8, front=8).first == [ChildIo(2, WRITE, 0, 8), ChildIo(1, WRITE, 0, 8)]
    assert planned(t, WRITE, 0, 8, front=7).first == [ChildIo(1, WRITE, 0, 8)]
    assert planned(t, WRITE, 0, 8).first == [ChildIo(1, WRITE, 0, 8)]
    assert mirror.plan(t, WRITE, 0, 1, lambda copies, _: copies[0]).first == [ChildIo(1, WRITE, 0, 1)]


def test_parity_is_on_the_spare_where_it_is_rebuilt() -> None:
    # row 0 keeps its parity on disk 3, row 1 on disk 2
    t = tables(level="raid5", disks=4, failed=[3], spares=1, rebuild={"window": "8 KiB"})
    before, after = parity.row_of(t, 0), parity.row_of(t, 0, front=8)
    assert (list(before.data), list(before.parity)) == ([0, 1, 2], [3])
    assert (list(after.data), list(after.parity)) == ([0, 1, 2], [4])
    assert (before.failed, after.failed) == ((3,), ())
    assert list(parity.row_of(t, 1, front=16).data) == [4, 0, 1]
    assert parity.plan(t, WRITE, 0, 2).then == [ChildIo(0, WRITE, 0, 2)]


def test_another_lost_disk_stays_lost() -> None:
    t = tables(level="raid6", disks=5, failed=[1, 4], spares=1, rebuild={"window": "8 KiB", "disk": 1})
    assert parity.row_of(t, 0, front=8).failed == (4,)


def test_strips_of_parity_stay_apart_when_asked() -> None:
    apart, joined = tables(level="raid5", disks=3, read_strips="separate"), tables(level="raid5", disks=3)
    # left-symmetric on three disks: strips 0 and 3 both lie on disk 0 and adjoin
    reads = planned(apart, READ, 0, 32)
    assert [(p.disk, p.lba, p.n) for p in reads.first] == [(0, 0, 8), (1, 0, 8), (2, 8, 8), (0, 8, 8)]
    assert reads.then == []
    reads = planned(joined, READ, 0, 32)
    assert sorted((p.disk, p.lba, p.n) for p in reads.first) == [(0, 0, 16), (1, 0, 8), (2, 8, 8)]
    assert reads.then == []
    assert planned(apart, WRITE, 0, 2).then == planned(joined, WRITE, 0, 2).then


def test_a_row_is_full_only_from_its_first_sector_to_its_last() -> None:
    t = tables(level="raid5", disks=4)
    whole = planned(t, WRITE, 0, 24)
    assert whole.then == []
    assert [p.op for p in whole.first] == [WRITE] * 4
    for sector, n in ((4, 20), (0, 20)):
        assert READ in {p.op for p in planned(t, WRITE, sector, n).first}


def test_old_data_and_parity_are_read_and_held() -> None:
    t = tables(level="raid5", disks=6, read_modify_write="held", write_policy="read-modify-write")
    # data first, then parity; each is written when the block comes round again
    assert planned(t, WRITE, 0, 2) == Plan([ChildIo(0, READ_AND_HOLD, 0, 2)], [ChildIo(5, READ_AND_HOLD, 0, 2)])


def test_a_group_is_rebuilt_from_its_own_disks() -> None:
    t = tables(level="raid50", disks=8, failed=[5], spares=1, rebuild={"window": "8 KiB"})
    assert step(t, 0).first == [ChildIo(disk, READ, 0, 16) for disk in (4, 6, 7)]


def test_windows_of_a_mirror_that_begin_within_a_strip() -> None:
    t = tables(
        level="raid10", disks=4, failed=[1], spares=1, data_offset_bytes=4096, rebuild={"window_bytes": 3 * 4096 // 2}
    )
    assert step(t, 12) == Plan([ChildIo(0, READ, 8 + 12, 12)], [ChildIo(4, WRITE, 8 + 12, 12)])


def test_a_long_request_comes_out_of_order() -> None:
    """Rule L14. Strips of 8 sectors, pairs of disks: strips 0, 2, 4, 6 on disks 0 and 1, the others on 2 and 3.

    Of 8 strips, 42 sectors (5 and a quarter) are cut off first. Strip 0 comes first, then the last 6 sectors of strip
    5, strips 6 and 7, then strips 1 to 4 and the first 2 sectors of strip 5. On disk 0 that is strip 0, then 6, then 2
    and 4, at 0, 24 and 8; on disk 2 the end of strip 5 and strip 7 from 18 on, then strips 1, 3 and the beginning of 5.
    """
    t = tables(level="raid10", disks=4, largest_request_bytes=42 * 512)
    assert planned(t, WRITE, 0, 64).first == [
        ChildIo(0, WRITE, 0, 8),
        ChildIo(1, WRITE, 0, 8),
        ChildIo(2, WRITE, 18, 14),
        ChildIo(3, WRITE, 18, 14),
        ChildIo(0, WRITE, 24, 8),
        ChildIo(1, WRITE, 24, 8),
        ChildIo(2, WRITE, 0, 18),
        ChildIo(3, WRITE, 0, 18),
        ChildIo(0, WRITE, 8, 16),
        ChildIo(1, WRITE, 8, 16),
    ]
    assert [length for _, length in asked(t, 0, 64)] == [8, 6, 8, 8, 8, 8, 8, 8, 2]
    assert planned(t, WRITE, 0, 42) == planned(tables(level="raid10", disks=4), WRITE, 0, 42)


def test_what_is_cut_twice_comes_before_what_was_cut_earlier() -> None:
    """Rule L14. Of 5 strips, 2 at a time: 0, then the rest of the request (2, then 4, then 3), then 1."""
    t = tables(level="raid1e", disks=3, largest_request_bytes=16 * 512)
    reads = plan(t, READ, 0, 40, lambda copies, _: copies[0]).first
    # copy 0 of strip k is strip number 2k // 3 of disk 2k mod 3
    assert [(piece.disk, piece.lba) for piece in reads] == [(0, 0), (1, 8), (2, 16), (0, 16), (2, 0)]


def test_requests_in_huge_pages_are_not_cut() -> None:
    """Rule L14. Of ten requests of 64 sectors 0.3 are whole: numbers 3, 6 and 9, where 1.2, 2.1 and 3.0 are reached."""
    t = tables(level="raid10", disks=4, largest_request_bytes=42 * 512, huge_page_ratio=0.3)
    whole = [k for k in range(10) if len(planned(t, WRITE, 64 * k, 64).first) == 4]
    assert whole == [3, 6, 9]
