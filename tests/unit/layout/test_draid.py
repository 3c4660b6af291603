"""Pools of dRAID, by OpenZFS's own rules (rule X23): capacity, rows, padding, reads of a record, balance."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from diskmodel import Array
from diskmodel.errors import DescriptionError
from diskmodel.layout.plan import plan
from diskmodel.layout.pools.free_space import stored_blocks, write_pieces
from diskmodel.layout.pools.records import columns_of, parts_of, place_of, width_of
from diskmodel.layout.pools.scan import new_disk_of, step, stretches
from diskmodel.layout.pools.tables import VdevTables, vdevs_of
from diskmodel.records import READ

MIB = 1 << 20
GIB = 1 << 30


def draid(level: str, disks: int, **fields: Any) -> VdevTables:
    layout = {"level": level, "disks": disks, "member": "16 GiB", **fields}
    return vdevs_of(Array.parse({"drive": "md-raid-10k", "layout": layout}).tables())


def read(tables: VdevTables, record: int) -> list[tuple[int, int]]:
    """Return disk and blocks of each read of a record."""
    pieces = plan(tables, READ, record * tables.pool.record, 1, lambda copies, _: copies[0]).first
    return [(piece.disk, piece.n // tables.pool.block) for piece in pieces]


@pytest.mark.parametrize(
    ("level", "disks", "record", "about"),
    [
        ("draid2:8d:11c:1s", 11, 128, 8 / 10 * 10),  # 32 blocks are four whole rows
        ("draid2:4d:11c:1s", 11, 128, 4 / 6 * 10),
        ("draid1:4d:11c", 11, 128, 4 / 5 * 11),
        ("draid2:9d:90c:2s", 90, 128, 9 / 11 * 88 * 32 / 36),  # four rows of nine, of which 32 blocks are data
        ("draid2:8d:11c:1s", 11, 4, 8 / 10 * 10 / 8),  # one block of eight
        ("draid3:5d:20c:2s", 20, 16, 5 / 8 * 18 * 4 / 5),
    ],
)
def test_capacity_is_that_of_the_manual(level: str, disks: int, record: int, about: float) -> None:
    """(N - S) * D / (D + P) disks (zpoolconcepts.7), less padding, 1/32 that a pool keeps, and 32 MiB of each disk."""
    tables = draid(level, disks, record=f"{record} KiB", member="160 GiB")
    n_spares = int(level[-2]) if level.endswith("s") else 0
    vdev = (disks - n_spares) * 160 * GIB
    kept = min(1 / 32, 128 * GIB / vdev)
    expected = about * (160 * GIB - 32 * MIB) * (1 - kept)
    # metaslabs of 512 MiB to 16 GiB, of which the last is not whole, and records that do not divide them
    assert tables.capacity * 512 == pytest.approx(expected, rel=0.012)
    assert tables.capacity * 512 < expected


@pytest.mark.parametrize(("data", "blocks", "stored"), [(8, 1, 10), (8, 8, 10), (8, 9, 20), (4, 32, 48), (9, 32, 44)])
def test_a_record_fills_whole_rows_of_its_group(data: int, blocks: int, stored: int) -> None:
    """asize = ⌈psize / data⌉ * (data + parity) (`vdev_draid_psize_to_asize`)."""
    tables = draid("draid2", data + 4, data_disks=data, distributed_spares=1)
    assert stored_blocks(tables, blocks) == stored
    written = write_pieces(tables, 0, 0, blocks)
    assert {piece.n for piece in written} == {math.ceil(blocks / data) * 8}
    assert len({piece.disk for piece in written}) == len(written) == data + 2


@pytest.mark.parametrize(
    "level", ["draid1:3d:8c:1s", "draid2:8d:11c:1s", "draid2:4d:14c:2s", "draid3:5d:13c", "draid2:3d:5c"]
)
def test_every_block_of_a_vdev_has_a_place_of_its_own(level: str) -> None:
    """The columns of all rows of the groups of some slices cover the places of their rows once, and no spare."""
    disks = int(level.split("c")[0].rsplit(":")[-1])
    tables = draid(level, disks)
    found = tables.pool.draid
    assert found is not None
    width, per_row = tables.n_data + tables.n_parity, found.row_blocks
    n_slices = 3
    seen: Counter[tuple[int, int]] = Counter()
    for group in range(n_slices * found.slice_groups):
        for inside in (0, 1, per_row - 1):
            columns = columns_of(tables, (group * per_row + inside) * width, tables.n_data)
            assert len({column.disk for column in columns}) == width
            assert {column.n for column in columns} == {1}
            assert {column.first % per_row for column in columns} == {inside}
            seen.update((column.disk, column.first) for column in columns)
    assert set(seen.values()) == {1}
    # so many places of every row are used, the others are spares
    rows = Counter(first for _, first in seen)
    assert set(rows.values()) == {disks - found.n_spares}
    assert {first // per_row for first in rows} == set(range(n_slices * found.slice_rows))


def test_a_record_that_ends_behind_its_group_has_a_part_in_the_next() -> None:
    """86 rows of 3 blocks for 1 MiB, of which 4,096 rows of a group leave the last ten for a record's first part."""
    tables = draid("draid1:3d:8c", 8, record="1 MiB")
    first = (4096 - 10) * 4
    assert list(parts_of(tables, first, 256)) == [(first, 30), (4096 * 4, 226)]
    assert list(parts_of(tables, first - 76 * 4, 256)) == [(first - 76 * 4, 256)]
    pieces = write_pieces(tables, 0, first, 256)
    assert [piece.n // 8 for piece in pieces] == [10] * 4 + [76] * 4


def test_a_read_takes_the_data_columns_that_hold_something() -> None:
    """Of 2 blocks two disks, of 9 blocks eight, one with two; neither parity nor padding."""
    small = draid("draid2:8d:11c:1s", 11, record="8 KiB")
    assert [n for _, n in read(small, 5)] == [1, 1]
    longer = draid("draid2:8d:11c:1s", 11, record="64 KiB")
    assert [n for _, n in read(longer, 5)] == [2] * 8


def test_data_and_parity_are_spread_evenly_over_the_disks() -> None:
    """In as many slices as there are disks every disk has each place once, so that all have as many columns of each."""
    tables = draid("draid2:4d:14c:2s", 14)
    found = tables.pool.draid
    assert found is not None
    for some in range(3):
        data: Counter[int] = Counter()
        parity: Counter[int] = Counter()
        for group in range(some * 14 * found.slice_groups, (some + 1) * 14 * found.slice_groups):
            columns = columns_of(tables, group * found.row_blocks * 6, 4)
            parity.update(column.disk for column in columns[:2])
            data.update(column.disk for column in columns[2:])
        assert set(data.values()) == {4 * found.slice_groups}
        assert set(parity.values()) == {2 * found.slice_groups}
        assert set(data) == set(parity) == set(range(14))


@pytest.mark.parametrize(("disks", "within"), [(11, 0.001), (30, 0.08), (90, 0.08)])
def test_a_rebuild_reads_all_disks_about_evenly(disks: int, within: float) -> None:
    """Of the groups that have disk 0, the others have about equally many columns each (ORDERS)."""
    tables = draid("draid2", disks, data_disks=8, distributed_spares=1)
    found = tables.pool.draid
    assert found is not None
    partners: Counter[int] = Counter()
    for group in range(64 * disks * found.slice_groups):
        disks_of = {c.disk for c in columns_of(tables, group * found.row_blocks * 10, 8)}
        partners.update(disks_of - {0} if 0 in disks_of else ())
    mean = sum(partners.values()) / (disks - 1)
    assert len(partners) == disks - 1
    assert max(partners.values()) < (1 + within) * mean
    assert min(partners.values()) > (1 - within) * mean


def test_where_data_is_lost_all_of_the_group_is_read() -> None:
    """With padding and parity (`vdev_draid_map_alloc_empty`); where only parity is lost, without it."""
    whole = draid("draid2:8d:11c:1s", 11, record="8 KiB")
    seen = set()
    for record in range(0, 400_000, 4001):
        _, first = place_of(whole, record)
        disks = [column.disk for column in columns_of(whole, first, 2)]
        lost = draid("draid2:8d:11c:1s", 11, record="8 KiB", failed=[3])
        reads = read(lost, record)
        kind = "none" if 3 not in disks else "parity" if 3 in disks[:2] else "data"
        seen.add(kind)
        expected = {"none": disks[2:4], "parity": disks[2:], "data": [disk for disk in disks if disk != 3]}[kind]
        assert reads == [(disk, 1) for disk in reversed(expected)]
    assert seen == {"none", "parity", "data"}


def test_words_are_those_of_zpool_create() -> None:
    array = Array.from_words("2x11 seagate-exos-x18 draid2:4d:11c:1s, record 1MiB")
    layout = array.layout
    assert (layout.level, layout.disks, layout.vdevs, layout.group_disks) == ("draid2", 22, 2, 11)
    assert (layout.data_strips, layout.parity_strips, layout.spare_places) == (4, 2, 1)
    assert width_of(array.tables()) == 11
    usual = Array.from_words("14x generic-7k2 draid2").layout
    assert (usual.data_strips, usual.spare_places) == (8, 0)
    assert Array.from_words("6x generic-7k2 draid:1s").layout.data_strips == 4
    counted = Array.parse({"drive": "generic-7k2", "layout": {"level": "draid1:3d:6c:1s", "vdevs": 2}}).layout
    assert counted.disks == 12


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({"level": "draid2:8d:12c:1s", "disks": 11}, "disks=11: differs from draid2:8d:12c:1s"),
        ({"level": "draid2:9d:1s", "disks": 11}, "data_disks=9: with 2 parity and 1 distributed spares"),
        ({"level": "draid2:8d:22w", "disks": 22}, "failure domains are not modeled"),
        ({"level": "draid2:8x", "disks": 22}, "only d, c and s are known"),
        ({"level": "draid2", "disks": 4, "distributed_spares": 2}, "leave no disk of 4 for data"),
        ({"level": "raidz2", "disks": 6, "data_disks": 3}, "belongs to dRAID"),
        ({"level": "raid6", "disks": 6, "distributed_spares": 1}, "belongs to pools of OpenZFS"),
        ({"level": "draid1", "disks": 6, "failed": [0, 1]}, "has lost data"),
        ({"level": "draid2:4d", "disks": 8, "data_disks": 3}, "data_disks=3: differs from draid2:4d"),
        ({"level": "raidz1", "disks": 4, "failed": [0], "rebuild": {"sequential": True}}, "no fixed width"),
        ({"level": "raid5", "disks": 4, "failed": [0], "rebuild": {"sequential": True}}, "always rebuilds in order"),
        ({"level": "mirror", "disks": 2, "rebuild": {"action": "check", "sequential": True}}, "no other order"),
        ({"level": "draid1:1s", "disks": 6, "failed": [0], "rebuild": {"sequential": False}}, "spare in order"),
    ],
)
def test_what_no_draid_can_be(layout: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Array.parse({"drive": "generic-7k2", "layout": layout})
    assert said in str(caught.value)


def rebuilt(level: str, disks: int, **rebuild: Any) -> VdevTables:
    spares = 0 if ":1s" in level else 1
    return draid(level, disks, failed=[0], rebuild={"used": "50%", **rebuild}, spares=spares)


@pytest.mark.parametrize(("level", "disks"), [("draid2:4d:14c:1s", 14), ("draid1:3d:8c:1s", 8), ("mirror", 2)])
def test_segments_cover_what_is_stored_once(level: str, disks: int) -> None:
    """As whole records do, in order, with at most 1 MiB for each data disk, and within a group (rule X25)."""
    tables = rebuilt(level, disks, sequential=True)
    pool = tables.pool
    found = list(stretches(tables, 0))
    assert [item.first for item in found] == sorted(item.first for item in found)
    covered = sum(item.counts for item in found)
    assert covered == tables.rebuild_end
    if pool.draid is None:
        assert max(item.blocks for item in found) == 256
        assert covered == pool.scan.records * pool.record
        return
    width = tables.n_data + tables.n_parity
    group = pool.draid.row_blocks * width
    assert max(item.blocks for item in found) == min(256 * tables.n_data, 4096)
    for item in found:
        n = item.counts // pool.block
        assert n == item.blocks // tables.n_data * width
        assert item.first // group == (item.first + n - 1) // group
    begun = rebuilt(level, disks, sequential=True, done_ratio=0.4)
    left = sum(item.counts for item in stretches(begun, 0))
    assert left == begun.rebuild_end - begun.rebuild_front


def test_a_distributed_spare_is_the_last_place_of_each_slice() -> None:
    """Every disk but the lost one takes a part, about as large as that of the others (rule X24)."""
    tables = rebuilt("draid2:4d:14c:1s", 14)
    found = tables.pool.draid
    assert found is not None
    written: Counter[int] = Counter()
    for group in range(64 * 14 * found.slice_groups):
        first = group * found.row_blocks * 6
        plan_of = step(tables, 0, first, 4, lambda copies, _: copies[0])
        columns = [column.disk for column in columns_of(tables, first, 4)]
        if 0 not in columns:
            assert plan_of is None
            continue
        assert plan_of is not None
        assert {piece.disk for piece in plan_of.first} == set(columns) - {0}
        (write,) = plan_of.then
        assert write.disk not in columns
        assert write.lba in {piece.lba for piece in plan_of.first} or found.slice_rows > 1
        written[write.disk] += 1
    assert set(written) == set(range(1, 14))
    assert max(written.values()) < 1.2 * sum(written.values()) / 13


def test_a_spare_on_a_failed_disk_takes_nothing() -> None:
    lost = draid("draid2:4d:14c:1s", 14, failed=[0, 5], rebuild={"disk": 0})
    draid_of = lost.pool.draid
    assert draid_of is not None
    places = [new_disk_of(lost, 0, row * draid_of.row_blocks) for row in range(500)]
    assert None in places
    assert 5 not in places
    assert new_disk_of(lost, 5, 0) is None
    assert new_disk_of(lost, 0, None) is None
