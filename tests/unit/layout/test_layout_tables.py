"""Layouts as tables, written down from their definitions (rules L1 to L11)."""

from __future__ import annotations

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.md import mirror, parity
from diskmodel.layout.md.rebuild import step
from diskmodel.layout.md.tables import MdTables, md_tables
from diskmodel.layout.pieces import ChildIo, merged
from diskmodel.layout.plan import plan
from diskmodel.records import READ, WRITE


def tables(**layout: object) -> MdTables:
    """Strips of eight sectors, disks of a hundred strips."""
    return md_tables(Layout.parse({"strip": "4 KiB"} | layout), 800, 512)


def rows(t: MdTables, n: int) -> list[str]:
    """Rows as text: which data strip, or P and Q, each disk holds."""
    found = []
    for number in range(n):
        row = parity.row_of(t, number)
        names = {disk: str(j) for j, disk in enumerate(row.data)} | dict(zip(row.parity, "PQR", strict=False))
        found.append("".join(names[disk] for disk in range(t.n_disks)))
    return found


@pytest.mark.parametrize(
    ("level", "rotation", "expected"),
    [
        ("raid5", "left-symmetric", ["012P", "12P0", "2P01", "P012", "012P"]),
        ("raid5", "left-asymmetric", ["012P", "01P2", "0P12", "P012", "012P"]),
        ("raid5", "right-symmetric", ["P012", "2P01", "12P0", "012P", "P012"]),
        ("raid5", "right-asymmetric", ["P012", "0P12", "01P2", "012P", "P012"]),
        ("raid4", "left-symmetric", ["012P", "012P"]),
        ("raid6", "left-symmetric", ["Q01P", "01PQ", "1PQ0", "PQ01"]),
    ],
)
def test_where_parity_lies(level: str, rotation: str, expected: list[str]) -> None:
    data: dict[str, object] = {"level": level, "disks": 4}
    if level != "raid4":
        data["rotation"] = rotation
    assert rows(tables(**data), len(expected)) == expected


def test_near_and_far_copies() -> None:
    near = tables(level="raid10", disks=4)
    assert [mirror.copies_of(near, k) for k in range(3)] == [[(0, 0), (1, 0)], [(2, 0), (3, 0)], [(0, 1), (1, 1)]]
    odd = tables(level="raid1e", disks=3)
    assert [mirror.copies_of(odd, k) for k in range(3)] == [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)]]
    far = tables(level="raid10", disks=4, arrangement="far")
    assert [mirror.copies_of(far, k) for k in (0, 3, 4)] == [[(0, 0), (1, 50)], [(3, 0), (0, 50)], [(0, 1), (1, 51)]]


@pytest.mark.parametrize(
    ("layout", "strips"),
    [
        ({"level": "jbod", "disks": 3}, 300),
        ({"level": "raid0", "disks": 4}, 400),
        ({"level": "raid1", "disks": 3}, 100),
        ({"level": "raid1e", "disks": 3}, 150),
        ({"level": "raid10", "disks": 6}, 300),
        ({"level": "raid5", "disks": 5}, 400),
        ({"level": "raid6", "disks": 6}, 400),
        ({"level": "raid50", "disks": 8, "groups": 2}, 600),
        ({"level": "raid60", "disks": 12, "groups": 2}, 800),
        ({"level": "erasure", "disks": 9, "n_parity": 3}, 600),
    ],
)
def test_capacity(layout: dict[str, object], strips: int) -> None:
    assert tables(**layout).capacity == strips * 8


def pieces(t: MdTables, op: int, sector: int, n: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    outcome = plan(t, op, sector, n, lambda copies, _: copies[0])
    return [tuple(p) for p in outcome.first], [tuple(p) for p in outcome.then]


def test_small_write_chooses_the_cheaper_way() -> None:
    # five disks: two reads modify, three reconstruct; four disks: two and two, and a tie reconstructs
    assert pieces(tables(level="raid5", disks=5), WRITE, 0, 2)[0] == [(0, READ, 0, 2), (4, READ, 0, 2)]
    assert pieces(tables(level="raid5", disks=4), WRITE, 0, 2)[0] == [(1, READ, 0, 2), (2, READ, 0, 2)]


def test_a_full_row_reads_nothing() -> None:
    first, then = pieces(tables(level="raid5", disks=4), WRITE, 0, 24)
    assert first == [(disk, WRITE, 0, 8) for disk in (0, 1, 2, 3)]
    assert then == []


def test_part_of_two_strips_renews_the_parity_between() -> None:
    """Sectors 6 to 9: the end of strip 0 and the beginning of strip 1, so all of [0, 8) of parity."""
    first, then = pieces(tables(level="raid5", disks=6), WRITE, 6, 4)
    assert then == [(0, WRITE, 6, 2), (1, WRITE, 0, 2), (5, WRITE, 0, 8)]
    assert first == [(0, READ, 6, 2), (1, READ, 0, 2), (5, READ, 0, 8)]


def test_degraded_reads_and_writes_of_raid5() -> None:
    t = tables(level="raid5", disks=5, failed=[0])
    assert pieces(t, READ, 0, 2)[0] == [(disk, READ, 0, 2) for disk in (1, 2, 3, 4)]
    # the lost strip is written: parity is made of the data that stays
    assert pieces(t, WRITE, 0, 2) == ([(d, READ, 0, 2) for d in (1, 2, 3)], [(4, WRITE, 0, 2)])
    # another strip is written: only read-modify-write needs no lost data
    assert pieces(t, WRITE, 8, 2) == ([(1, READ, 0, 2), (4, READ, 0, 2)], [(1, WRITE, 0, 2), (4, WRITE, 0, 2)])


def test_mirrors_leave_out_what_is_lost() -> None:
    t = tables(level="raid10", disks=4, failed=[0])
    assert pieces(t, READ, 0, 2)[0] == [(1, READ, 0, 2)]
    assert pieces(t, WRITE, 0, 2)[0] == [(1, WRITE, 0, 2)]


def test_the_rebuilt_part_is_served_by_the_spare() -> None:
    t = tables(level="raid5", disks=4, failed=[0], spares=1, rebuild={"window": "8 KiB", "done_ratio": 0.5})
    assert (t.rebuild_front, t.rebuild_window) == (400, 16)
    done = plan(t, READ, 0, 2, lambda copies, _: copies[0], front=8).first
    assert [tuple(p) for p in done] == [(4, READ, 0, 2)]
    assert len(plan(t, READ, 0, 2, lambda copies, _: copies[0], front=7).first) == 3


def test_rebuild_steps_read_what_is_left_and_write_the_spare() -> None:
    t = tables(level="raid5", disks=4, failed=[1], spares=1, rebuild={"window": "8 KiB"})
    outcome = step(t, 792)
    assert [tuple(p) for p in outcome.first] == [(disk, READ, 792, 8) for disk in (0, 2, 3)]
    assert [tuple(p) for p in outcome.then] == [(4, WRITE, 792, 8)]


def test_pieces_join_when_they_continue_each_other_on_a_disk() -> None:
    joined = merged([ChildIo(0, READ, 0, 8), ChildIo(1, READ, 0, 8), ChildIo(0, READ, 8, 8), ChildIo(0, WRITE, 16, 8)])
    assert [tuple(p) for p in joined] == [(0, READ, 0, 16), (1, READ, 0, 8), (0, WRITE, 16, 8)]


@pytest.mark.parametrize(
    "layout",
    [
        {"level": "raid0", "disks": 4, "failed": [2]},
        {"level": "raid5", "disks": 4, "failed": [0, 1]},
        {"level": "raid6", "disks": 6, "failed": [0, 1, 2]},
        {"level": "raid10", "disks": 4, "failed": [2, 3]},
        {"level": "raid10", "disks": 4, "arrangement": "far", "failed": [0, 3]},
        {"level": "raid1", "disks": 2, "failed": [0, 1]},
        {"level": "raid50", "disks": 8, "groups": 2, "failed": [4, 7]},
    ],
)
def test_lost_data_is_an_error(layout: dict[str, object]) -> None:
    with pytest.raises(DescriptionError, match="lost data"):
        Layout.parse(layout)


@pytest.mark.parametrize(
    "layout",
    [
        {"level": "raid6", "disks": 6, "failed": [0, 1]},
        {"level": "raid10", "disks": 4, "failed": [0, 2]},
        {"level": "raid50", "disks": 8, "groups": 2, "failed": [0, 4]},
    ],
)
def test_survivable_failures_are_not(layout: dict[str, object]) -> None:
    assert Layout.parse(layout).failed == tuple(layout["failed"])  # type: ignore[arg-type]
