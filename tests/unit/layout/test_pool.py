"""Pools of OpenZFS, worked out by hand (rules X1 to X6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.layout.plan import plan
from diskmodel.layout.pools.records import columns_of, place_of
from diskmodel.layout.pools.tables import VdevTables, vdevs_of
from diskmodel.records import READ

GIB = 1 << 30


def pool(level: str, disks: int, **fields: Any) -> VdevTables:
    layout = {"level": level, "disks": disks, "member": "16 GiB", **fields}
    return vdevs_of(Array.parse({"drive": "md-raid-10k", "layout": layout}).tables())


@pytest.mark.parametrize(
    ("level", "disks", "record", "stored"),
    [
        ("raidz1", 4, "8 KiB", 4),  # 2 data, 1 parity, 1 padding
        ("raidz1", 3, "128 KiB", 48),  # 16 rows of 2 and 1
        ("raidz2", 6, "8 KiB", 6),  # 2 data, 2 parity, 2 padding
        ("raidz2", 6, "128 KiB", 48),
        ("raidz2", 8, "128 KiB", 45),  # 32 data, 6 rows of parity, 1 padding
        ("raidz3", 8, "4 KiB", 4),  # 1 data, 3 parity
        ("mirror", 2, "8 KiB", 2),
    ],
)
def test_what_a_record_takes(level: str, disks: int, record: str, stored: int) -> None:
    """Data, parity and padding to a multiple of parity + 1 (rule X1)."""
    tables = pool(level, disks, record=record)
    assert tables.pool.stored == stored


def test_columns_begin_where_the_record_does() -> None:
    """A record of 32 blocks on RAID-Z2 of 8 that begins at block 11: columns 3 to 10, two of them longer (rule X4)."""
    tables = pool("raidz2", 8)
    columns = columns_of(tables, 11, 32)
    # 32 = 5 * 6 + 2: the parities and the first two data columns have 6 blocks, the others 5
    assert [column.n for column in columns] == [6, 6, 6, 6, 5, 5, 5, 5]
    assert [column.disk for column in columns] == [3, 4, 5, 6, 7, 0, 1, 2]
    assert [column.first for column in columns] == [1, 1, 1, 1, 1, 2, 2, 2]


def test_a_small_record_takes_few_columns() -> None:
    columns = columns_of(pool("raidz2", 8, record="8 KiB"), 6, 2)
    assert [(column.disk, column.first, column.n) for column in columns] == [(6, 0, 1), (7, 0, 1), (0, 1, 1), (1, 1, 1)]


def test_parity_changes_places_every_mebibyte_at_raidz1() -> None:
    tables = pool("raidz1", 4, record="8 KiB")
    assert [column.disk for column in columns_of(tables, 252, 2)] == [0, 1, 2]
    assert [column.disk for column in columns_of(tables, 256, 2)] == [1, 0, 2]
    assert [column.disk for column in columns_of(tables, 512, 2)] == [0, 1, 2]


def test_where_records_always_begin_on_the_same_disk() -> None:
    """RAID-Z1 of 4 with records of 8 KiB: one disk takes part in every read but the first ones, one in none."""
    tables = pool("raidz1", 4, record="8 KiB")
    n_early, record = tables.pool.early_records, tables.pool.record
    pieces = [piece for k in range(n_early, n_early + 1000) for piece in _read(tables, k * record, record)]
    share = [sum(piece.disk == disk for piece in pieces) / 1000 for disk in range(4)]
    assert (share[2], share[3]) == (1, 0)
    assert share[0] + share[1] == 1
    early = [piece.disk for k in range(n_early) for piece in _read(tables, k * record, record)]
    assert set(early) == {0, 2, 3}


@pytest.mark.parametrize(
    ("level", "disks", "places"),
    # a full indirect block and an object take 16 + 2, 18 + 3, 15 + 3 and 20 + 4 blocks
    [("raidz1", 4, (2, 20)), ("raidz2", 6, (3, 24)), ("raidz2", 8, (6, 24)), ("raidz3", 8, (0, 24))],
)
def test_metadata_lies_between_the_first_group_and_the_others(level: str, disks: int, places: tuple[int, int]) -> None:
    """Of the first 48 MiB: records begin so much before the others (rule X3)."""
    tables = pool(level, disks, record="8 KiB")
    assert tables.pool is not None
    n_early = 6 * 1024
    first, last, next_ = (place_of(tables, record)[1] for record in (0, n_early - 1, n_early))
    assert (first, next_ - n_early * tables.pool.stored) == places
    assert last == first + (n_early - 1) * tables.pool.stored


def test_two_disks_of_raidz3_do_all_the_reading() -> None:
    """Records of 8 KiB fill whole rows of eight disks: 293 reads a second at depth 8 (measured as zfs.md)."""
    layout = {"level": "raidz3", "disks": 8, "record": "8 KiB", "member": "16 GiB", "data_offset": "4 MiB"}
    spindles = {"phase": "spread", "drift_ppm": 400}
    array = Array.parse({"drive": "md-raid-10k", "layout": layout, "spindles": spindles})
    load = Workload.parse({"size": "8 KiB", "clients": 8, "span": "128 MiB"})
    done = run(resolve(array, 1), load.requests(capacity_bytes=array.usable_bytes, n=3000, seed=1))
    assert np.flatnonzero(done.devices.n_reads).tolist() == [3, 4]
    assert 3000 / (done.completions.done_ns.max() / 1e9) == pytest.approx(293, rel=0.03)


def test_vdevs_take_turns() -> None:
    """1 MiB goes to each data disk before it is the turn of the next vdev (rule X2)."""
    tables = pool("raidz2", 12, vdevs=2)
    # 4 data disks take 4 MiB, a record 192 KiB with its parity
    assert tables.pool.turn_records == 4 * 1024 // 192
    turn = tables.pool.turn_records
    assert [place_of(tables, k)[0] for k in (0, turn - 1, turn, 2 * turn - 1, 2 * turn)] == [0, 0, 1, 1, 0]
    assert place_of(tables, 2 * turn)[1] == place_of(tables, turn - 1)[1] + tables.pool.stored


def test_metaslabs_are_filled_in_halves() -> None:
    """The second half is filled when every metaslab has the first one; the second metaslab is the eighth (rule X3)."""
    tables = pool("mirror", 2)
    found = tables.pool
    assert found is not None
    assert (found.slab_blocks, found.n_slabs) == (512 * 256, 31)
    slabs = [place_of(tables, place * found.half_records)[1] // found.slab_blocks for place in range(32)]
    assert slabs == [0, *range(7, 31), *range(1, 7), 0]


def test_reads_take_whole_records_and_no_parity() -> None:
    tables = pool("raidz2", 6)
    pieces = _read(tables, 8, 8)  # 4 KiB within the first record
    assert [piece.n for piece in pieces] == [64] * 4
    across = _read(tables, 248, 16)  # 8 KiB across two records
    assert len(across) == 8


@pytest.mark.parametrize(("lost", "expected"), [([], 4), ([3], 4), ([3, 4], 4)])
def test_lost_data_columns_are_computed(lost: list[int], expected: int) -> None:
    """What is left of data and all parity is read where data is lost; columns begin on disk 3 (rule X5)."""
    tables = pool("raidz2", 6, failed=lost)
    _, first = place_of(tables, 0)
    disks = [column.disk for column in columns_of(tables, first, 32)]
    missing_data = sum(disk in lost for disk in disks[2:])
    n_parity = sum(disk not in lost for disk in disks[:2]) if missing_data else 0
    pieces = _read(tables, 0, 256)
    assert len(pieces) == 4 - missing_data + n_parity
    assert not {piece.disk for piece in pieces} & set(lost)
    assert len(pieces) >= expected


def test_capacity_counts_padding() -> None:
    """Of RAID-Z2 of 6 a third of 8 KiB records is data, two thirds of those of 128 KiB; 1/32 is kept."""
    small, large = pool("raidz2", 6, record="8 KiB"), pool("raidz2", 6)
    raw = 6 * 16 * GIB
    for tables, share in ((small, 1 / 3), (large, 2 / 3)):
        assert tables.capacity * 512 == pytest.approx(raw * share * 31 / 32, rel=0.01)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"level": "raidz2", "disks": 7, "vdevs": 2}, "not a multiple of vdevs=2"),
        ({"level": "raidz3", "disks": 3}, "needs at least 4 disks"),
        ({"level": "raidz2", "disks": 6, "record": "96 KiB"}, "must be a power of two; try 65536"),
        ({"level": "raidz2", "disks": 6, "record": "2 KiB"}, "less than a block"),
        ({"level": "raidz2", "disks": 6, "strip": "256 KiB"}, "a pool has no strips"),
        ({"level": "mirror", "disks": 6, "copies": 2}, "say how many vdevs"),
        ({"level": "raid6", "disks": 6, "vdevs": 2}, "belongs to pools of OpenZFS"),
        ({"level": "raid6", "disks": 6, "record": "8 KiB"}, "belongs to pools of OpenZFS"),
        ({"level": "raidz1", "disks": 6, "failed": [0, 1]}, "has lost data"),
        ({"level": "mirror", "disks": 4, "vdevs": 2, "failed": [2, 3]}, "has lost data"),
    ],
)
def test_what_no_pool_can_be(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Array.parse({"drive": "generic-7k2", "layout": fields})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"queue": {"scheduler": "sptf"}}, "is the queue of OpenZFS"),
        ({"controller": {"write_cache": {"size": "1 GiB"}}}, "writes of programs are collected in memory"),
        ({"controller": {"read_cache": {"size": "1 GiB", "block": "64 KiB"}}}, "keeps records of the pool"),
        ({"controller": {"read_cache": {"size": "1 GiB", "policy": "2q"}}}, "is an ARC"),
        (
            {"controller": {"read_cache": {"size": "1 GiB"}, "read_ahead": "1 MiB"}},
            "reads ahead by itself",
        ),
        ({"host": {"page_cache": {"memory": "8 GiB"}, "is_buffered": True}}, "is the cache of OpenZFS"),
    ],
)
def test_what_does_not_stand_before_a_pool(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Array.parse({"drive": "generic-7k2", "layout": {"level": "raidz2", "disks": 6}, **fields})
    assert said in str(caught.value)


def _read(tables: VdevTables, sector: int, n: int) -> list[Any]:
    return plan(tables, READ, sector, n, lambda copies, _: copies[0]).first
