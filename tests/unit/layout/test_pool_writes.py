"""How a pool writes, worked out by hand (rules X9 to X15)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.engine.run import Engine, run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.layout.pools.free_space import Space, stored_blocks, write_pieces
from diskmodel.layout.pools.log_blocks import Lengths
from diskmodel.layout.pools.records import place_of
from diskmodel.layout.pools.tables import VdevTables, vdevs_of
from diskmodel.records import Run

MIB = 1 << 20


def array(level: str, disks: int, **fields: Any) -> Array:
    layout = {"level": level, "disks": disks, "member": "16 GiB", "record": "8 KiB", **fields}
    return Array.parse({"drive": "md-raid-10k", "layout": layout})


def tables(level: str, disks: int, **fields: Any) -> VdevTables:
    return vdevs_of(array(level, disks, **fields).tables())


def written(pool: Array, engine: Engine, n: int, clients: int, size: str = "8 KiB", sync: str = "dsync") -> Run:
    load = Workload.parse({"size": size, "clients": clients, "read_ratio": 0, "span": "64 MiB", "sync": sync})
    return run(resolve(pool, 0), load.requests(capacity_bytes=pool.usable_bytes, n=n, seed=1), engine)


@pytest.mark.parametrize(
    ("level", "disks", "blocks", "expected"),
    [
        ("mirror", 2, 3, [(0, 3), (1, 3)]),
        ("raidz1", 4, 3, [(0, 1), (1, 1), (2, 1), (3, 1)]),
        # 17 data, 6 rows of parity, 1 of padding behind the column that is one block shorter
        ("raidz1", 4, 17, [(0, 6), (1, 6), (2, 6), (3, 6)]),
        ("raidz2", 6, 17, [(0, 5), (1, 5), (2, 5), (3, 4), (4, 4), (5, 4)]),
    ],
)
def test_what_goes_to_each_disk(level: str, disks: int, blocks: int, expected: list[tuple[int, int]]) -> None:
    """A block of the log of eight writes of 8 KiB has 17 blocks; measured: 24 KiB each, and 20 and 16 (rule X12)."""
    pieces = write_pieces(tables(level, disks), 0, 0, blocks)
    assert [(piece.disk, piece.n * 512 // 4096) for piece in pieces] == expected


def test_lost_disks_are_not_written() -> None:
    assert {piece.disk for piece in write_pieces(tables("raidz2", 6, failed=[4]), 0, 0, 17)} == {0, 1, 2, 3, 5}


def test_places_go_on_behind_each_other() -> None:
    """Of the log in metaslab 1, each block on the next vdev; of objects in fifths of theirs (X13)."""
    pool = tables("mirror", 4, vdevs=2)
    space, slab = Space(pool), 512 * MIB // 4096
    assert [space.for_log(100) for _ in range(4)] == [(0, slab), (1, slab), (0, slab + 100), (1, slab + 100)]
    assert [space.for_metadata(0, 0, 200)[0] for _ in range(3)] == [1, 1, 0]  # after 1 MiB
    assert space.for_metadata(0, 1, 3)[0] == 0
    assert space.for_metadata(0, 2, 3)[1] == 2 * slab + 2 * (slab // 5)
    space.asked(1000)
    first, second = space.for_record(), space.for_record()
    assert (first[0], second) == (first[0], (first[0], first[1] + stored_blocks(pool, 2)))


def test_the_throttle_and_the_drives_share() -> None:
    """At four fifths of 100 MiB half of the room above 60 % is left: 500 us; and two to ten writes (X14, X15)."""
    pool = tables("mirror", 2, dirty_data_max="100 MiB").pool
    sectors = 100 * MIB // 512
    delays = [pool.writes.delay_of(sectors * percent // 100) for percent in (60, 80, 90, 100)]
    assert delays == pytest.approx([0, 500_000, 1_500_000, 100_000_000], rel=1e-3, abs=0)
    assert [pool.writes.active_writes(sectors * percent // 100) for percent in (30, 45, 60, 99)] == [2, 6, 10, 10]


def test_the_next_log_block_is_as_long_as_bursts_were() -> None:
    """Of eight writes of 8 KiB, 67,264 bytes with headers: 128 KiB until a burst is known, then 68 KiB (rule X10)."""
    pool = tables("mirror", 2).pool
    lengths = Lengths(pool.writes)
    found = [lengths.next >> 10]
    for _ in range(2):
        lengths.come(8 * 8384)
        lengths.burst_ended()
        found.append(lengths.next >> 10)
    assert found == [128, 68, 68]


def test_one_long_burst_of_eight_does_not_count() -> None:
    """Seven bursts of one write, and one of four: the next block is for one; with two of four it is for four."""
    pool = tables("mirror", 2).pool
    lengths, found = Lengths(pool.writes), []
    for n in (1, 1, 1, 1, 1, 1, 1, 4, 4):
        lengths.come(n * 8384)
        lengths.burst_ended()
        found.append(lengths.next >> 10)
    assert found[-2:] == [12, 36]


def test_a_burst_that_is_longer_than_expected_goes_to_two_blocks() -> None:
    """Where 12 KiB are expected, eight writes find the block full at the second one, which begins a long one."""
    pool = tables("mirror", 2).pool
    lengths = Lengths(pool.writes)
    lengths.come(8384)
    lengths.burst_ended()
    lengths.come(8384)
    assert (lengths.next, lengths.is_full(lengths.next - 192, 8192), lengths.is_full(3520, 8192)) == (
        12288,
        False,
        True,
    )
    lengths.left = 7 * 8384
    lengths.within_burst(is_parallel=False)
    assert lengths.next == 60 << 10


def test_an_indirect_block_is_dirty_with_its_record() -> None:
    """128 KiB above each of two records far apart: the group is a fifth of 16 MiB after a few records (rule X9)."""
    writes = tables("mirror", 2, dirty_data_max="16 MiB").pool.writes
    assert list(writes._replace(n_records=2_000_000).above(1_500_000)) == [(1954, 1464), (2, 1), (1, 0)]
    assert writes.indirect == 256


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_one_writer_waits_for_a_revolution(engine: Engine) -> None:
    """Its log block of 12 KiB lies behind the last one: a revolution and the time to write it (rule X10)."""
    done = written(array("mirror", 2), engine, 100, 1).completions
    ms = (done.done_ns - done.issue_ns)[5:] / 1e6
    assert np.median(ms) == pytest.approx(5.985 + 0.14, abs=0.05)


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_those_who_wait_share_a_block(engine: Engine) -> None:
    """Eight writers: 8 · (192 + 8,192) + 192 bytes are 17 blocks of 4 KiB to each side (rule X10)."""
    devices = written(array("mirror", 2), engine, 400, 8).devices
    assert devices.n_writes.tolist() == pytest.approx([400 / 8] * 2, abs=2)
    assert devices.write_bytes.sum() / devices.n_writes.sum() == pytest.approx(17 * 4096, rel=0.03)


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_long_writes_go_to_their_places(engine: Engine) -> None:
    """32 KiB to RAID-Z2 of 6: six columns of its record, and a log block of 4 KiB in three (rule X10)."""
    devices = written(array("raidz2", 6, record="32 KiB"), engine, 60, 1, size="32 KiB").devices
    assert devices.n_writes.sum() / 60 == pytest.approx(9)


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_a_part_of_a_record_is_read_first(engine: Engine) -> None:
    """4 KiB of a record of 128 KiB, whose places are few enough that some are dirty already (rule X9)."""
    devices = written(array("mirror", 2, record="128 KiB"), engine, 60, 1, size="4 KiB").devices
    assert 40 <= devices.n_reads.sum() <= 60


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_nobody_waits_where_sync_is_disabled(engine: Engine) -> None:
    done = written(array("mirror", 2, sync="disabled"), engine, 100, 1).completions
    assert (done.done_ns - done.issue_ns).tolist() == [30_000] * 100


def test_one_writer_on_two_mirrors_does_not_wait_for_a_whole_turn() -> None:
    """Its log blocks go round the vdevs (X13): more than a third above one, which makes 147 a second (zfs.md)."""
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "clients": 1, "sync": "dsync", "span": "128 MiB"})
    layout = {"level": "mirror", "record": "8 KiB", "member": "16 GiB", "data_offset": "4 MiB"}
    more = {"spindles": {"phase": "spread", "drift_ppm": 400}, "host": {"submission": "65 us"}}
    per_s = []
    for vdevs in (1, 2):
        described = {"drive": "md-raid-10k", "layout": layout | {"vdevs": vdevs, "disks": 2 * vdevs}}
        result = simulate(Array.parse(described | more), load, n_requests=1500, with_angles=False, profile_draws=0)
        per_s.append(result.iops.mean)
    assert per_s[0] == pytest.approx(147, rel=0.05)
    assert 1.3 < per_s[1] / per_s[0] < 1.6


def test_records_of_a_file_that_grows_lie_one_behind_the_other() -> None:
    """A group goes behind the data that was there when it began (X13), not behind what is asked for meanwhile."""
    pool = tables("mirror", 2)
    space, places = Space(pool), []
    for group in range(2):
        space.asked(3 + 4 * group)
        space.group_begins()
        for record in range(4):
            space.asked(4 + 4 * group + record)
            places.append(space.for_record())
    assert places == [place_of(pool, number) for number in range(4, 12)]


def test_writers_in_order_are_as_fast_as_the_disks_from_the_first_request_on() -> None:
    """Six Exos X16 in RAID-Z2 with records of 1 MiB: 987 MB/s were measured; memory takes six times as much (Z12)."""
    layout = {"level": "raidz2", "disks": 6, "record": "1 MiB"}
    described = Array.parse({"drive": "seagate-exos-x16", "layout": layout})
    load = {"size": "1 MiB", "read_ratio": 0.0, "clients": 8, "addresses": {"pattern": "sequential"}}
    # with their own caches on, disks would take the first third of a group at once if these began empty
    for n, is_cached in ((3_000, False), (12_000, False), (1_500, True), (12_000, True)):
        array = described.model_copy(update={"drive_write_cache": is_cached})
        result = simulate(array, Workload.parse(load), n_requests=n, with_angles=False, profile_draws=0)
        assert result.bytes_per_s / 1e6 == pytest.approx(987, rel=0.15)


def test_both_engines_begin_with_full_buffers_where_disks_limit_writers() -> None:
    layout = {"level": "raidz1", "disks": 3, "record": "1 MiB"}
    array = Array.parse({"drive": "generic-7k2", "layout": layout, "drive_write_cache": True})
    load = {"size": "1 MiB", "read_ratio": 0.0, "clients": 4, "addresses": {"pattern": "sequential"}}
    ends = []
    for engine in ("simpy", "native"):
        found = simulate(array, Workload.parse(load), n_requests=200, engine=engine, with_angles=False, profile_draws=0)
        ends.append(found.run.completions.done_ns)
        assert found.run.levels[0, 2] > 0.9 * 3 * array.drive_tables().buffer_sectors * array.drive.sector_bytes
    assert np.array_equal(*ends)
