"""Bijections: every host sector has its own places, every place belongs to one sector, parity covers its row."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import LEVELS
from diskmodel.layout.md import mirror, parity
from diskmodel.layout.md.tables import MdTables, md_tables
from diskmodel.layout.pieces import ChildIo, Plan
from diskmodel.layout.plan import plan
from diskmodel.records import READ, WRITE

SECTOR = 512
#: Levels of each family; "far" is the other arrangement of RAID 10.
COPIES = (*(name for name, kind in LEVELS.items() if kind.family == "copies"), "far")
PARITY = tuple(name for name, kind in LEVELS.items() if kind.family == "parity")
CONCAT = tuple(name for name, kind in LEVELS.items() if kind.family == "concat")
ROTATIONS = ("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric")


@st.composite
def tables(draw: st.DrawFn, *, may_fail: bool = False, levels: tuple[str, ...] = CONCAT + COPIES + PARITY) -> MdTables:
    """A small array of any level; with `may_fail`, some disks that it can do without are lost."""
    name = draw(st.sampled_from(levels))
    data: dict[str, object] = {"level": "raid10" if name == "far" else name}
    kind = LEVELS[str(data["level"])]
    groups = draw(st.integers(2, 3)) if kind.default_groups else 1
    data["disks"] = draw(st.integers(1, 6)) * (groups if groups > 1 else 1)
    if groups > 1:
        data["groups"] = groups
    if kind.n_parity is None:
        data["n_parity"] = draw(st.integers(1, 3))
    if kind.default_copies > 1:
        data["copies"] = draw(st.integers(1, 3))
    if name == "far":
        data["arrangement"] = "far"
    if kind.family == "parity" and kind.rotates:
        data["rotation"] = draw(st.sampled_from(ROTATIONS))
    data["strip_bytes"] = SECTOR * draw(st.integers(1, 5))
    data["data_offset_bytes"] = SECTOR * draw(st.integers(0, 7))
    data["write_policy"] = draw(st.sampled_from(("fewest", "read-modify-write", "reconstruct-write")))
    if may_fail:
        disks = int(str(data["disks"]))
        data["failed"] = sorted(draw(st.sets(st.integers(0, disks - 1), max_size=3)))
    try:
        layout = Layout.parse(data)
        return md_tables(layout, draw(st.integers(30, 60)), SECTOR)
    except DescriptionError:
        assume(False)
        raise


def planned(t: MdTables, op: int, sector: int, n: int) -> Plan:
    return plan(t, op, sector, n, lambda copies, _: copies[0])


def places(pieces: list[ChildIo], op: int) -> Counter[tuple[int, int]]:
    return Counter((p.disk, p.lba + i) for p in pieces if p.op == op for i in range(p.n))


@settings(max_examples=150, deadline=None)
@given(tables())
def test_every_sector_is_read_from_a_place_of_its_own(t: MdTables) -> None:
    seen: set[tuple[int, int]] = set()
    for sector in range(t.capacity):
        (piece,) = planned(t, READ, sector, 1).first
        assert piece.n == 1
        assert 0 <= piece.disk < t.n_disks
        assert t.data_offset <= piece.lba < t.data_offset + t.member
        seen.add((piece.disk, piece.lba))
    assert len(seen) == t.capacity


@settings(max_examples=150, deadline=None)
@given(tables(levels=COPIES))
def test_copies_fill_the_disks_without_overlap_and_never_share_a_disk(t: MdTables) -> None:
    taken: Counter[tuple[int, int]] = Counter()
    for chunk in range(t.capacity // t.strip):
        copies = mirror.copies_of(t, chunk)
        assert len({disk for disk, _ in copies}) == t.copies
        taken.update(copies)
    assert set(taken.values()) == {1}
    strips = t.n_disks * (t.member // t.strip)
    # what does not divide by the copies is left over, less than one set of copies
    assert strips - t.copies < len(taken) <= strips
    assert all(strip < t.member // t.strip for _, strip in taken)


@settings(max_examples=150, deadline=None)
@given(tables(levels=PARITY))
def test_data_and_parity_of_all_rows_fill_every_disk_exactly(t: MdTables) -> None:
    taken: Counter[tuple[int, int]] = Counter()
    for number in range(t.member // t.strip * t.n_groups):
        row = parity.row_of(t, number)
        assert (len(row.data), len(row.parity)) == (t.n_data, t.n_parity)
        for disk in row.data + row.parity:
            taken[disk, row.lba] += 1
    lbas = range(t.data_offset, t.data_offset + t.member, t.strip)
    assert taken == Counter({(disk, lba): 1 for disk in range(t.n_disks) for lba in lbas})


@settings(max_examples=200, deadline=None)
@given(tables(levels=tuple(name for name in PARITY if LEVELS[name].rotates)))
def test_rotation_spreads_parity_evenly(t: MdTables) -> None:
    n = t.n_data + t.n_parity
    held: Counter[int] = Counter()
    for number in range(n * t.n_groups):
        held.update(parity.row_of(t, number).parity)
    assert held == Counter({disk: t.n_parity for disk in range(t.n_disks)})


@settings(max_examples=300, deadline=None)
@given(tables(), st.data())
def test_a_request_is_the_sum_of_its_sectors(t: MdTables, data: st.DataObject) -> None:
    sector = data.draw(st.integers(0, t.capacity - 1))
    n = data.draw(st.integers(1, min(t.capacity - sector, 40)))
    one_by_one: Counter[tuple[int, int]] = Counter()
    for s in range(sector, sector + n):
        one_by_one.update(places(planned(t, READ, s, 1).first, READ))
    assert places(planned(t, READ, sector, n).first, READ) == one_by_one
    written = planned(t, WRITE, sector, n)
    if t.family != "parity":
        assert not written.then
        assert sum(p.n for p in written.first) == n * t.copies


@settings(max_examples=300, deadline=None)
@given(tables(may_fail=True, levels=PARITY), st.data())
def test_a_write_renews_exactly_the_parity_that_covers_it(t: MdTables, data: st.DataObject) -> None:
    sector = data.draw(st.integers(0, t.capacity - 1))
    n = data.draw(st.integers(1, min(t.capacity - sector, 40)))
    outcome = planned(t, WRITE, sector, n)
    written = places(outcome.first, WRITE) + places(outcome.then, WRITE)
    read = places(outcome.first, READ)
    assert not places(outcome.then, READ)
    assert set(written.values()) <= {1}
    touched = {disk for disk, _ in (*written, *read)}
    assert not touched & set(t.failed)
    expected: Counter[tuple[int, int]] = Counter()
    for number, parts in parity.rows_of(t, sector, n):
        row = parity.row_of(t, number)
        low, high = min(p.start for p in parts), max(p.end for p in parts)
        for part in parts:
            expected.update((row.data[part.strip], row.lba + i) for i in range(part.start, part.end))
        expected.update((disk, row.lba + i) for disk in row.parity for i in range(low, high))
    assert written == Counter({place: 1 for place in expected if place[0] not in t.failed})


@settings(max_examples=300, deadline=None)
@given(tables(may_fail=True, levels=PARITY), st.data())
def test_what_a_write_reads_determines_the_new_parity(t: MdTables, data: st.DataObject) -> None:
    """At every offset of a row: old data and old parity, or all of the data that stays, or all that is left."""
    sector = data.draw(st.integers(0, t.capacity - 1))
    n = data.draw(st.integers(1, min(t.capacity - sector, 40)))
    read = places(planned(t, WRITE, sector, n).first, READ)
    for number, parts in parity.rows_of(t, sector, n):
        row = parity.row_of(t, number)
        for at in range(min(p.start for p in parts), max(p.end for p in parts)):
            new = {row.data[p.strip] for p in parts if p.start <= at < p.end}
            has = {disk for disk in row.data + row.parity if (disk, row.lba + at) in read}
            stays = set(row.data) - new
            alive = set(row.data + row.parity) - set(t.failed)
            is_modify = new <= has and set(row.parity) <= has
            assert is_modify or stays <= has or has == alive


@settings(max_examples=200, deadline=None)
@given(tables(may_fail=True), st.data())
def test_degraded_reads_use_only_what_is_left_and_enough_of_it(t: MdTables, data: st.DataObject) -> None:
    sector = data.draw(st.integers(0, t.capacity - 1))
    pieces = planned(t, READ, sector, 1).first
    assert not {p.disk for p in pieces} & set(t.failed)
    if t.family == "parity" and len(pieces) > 1:
        assert len(pieces) >= t.n_data
        assert len({p.disk for p in pieces}) == len(pieces)
    else:
        assert len(pieces) == 1


@pytest.mark.parametrize(
    ("level", "disks", "per_write"), [("raid5", 8, 4), ("raid6", 10, 6), ("raid10", 8, 2), ("raid0", 8, 1)]
)
def test_the_write_penalty_is_counted_not_typed(level: str, disks: int, per_write: int) -> None:
    t = md_tables(Layout.parse({"level": level, "disks": disks, "strip": "4 KiB"}), 4000, SECTOR)
    outcome = planned(t, WRITE, 8 * 5, 8)
    assert len(outcome.first) + len(outcome.then) == per_write
