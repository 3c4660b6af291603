"""What a hard disk's buffer and bus add to an access, worked by hand on a drive whose sectors take 10,000 ns each.

100 sectors a track, two heads, no seek time worth naming, no skew: block b begins to pass at 10,000 · (b mod 100) ns of
each revolution of 1,000,000 ns. The bus takes 1,000 ns a sector unless a test says otherwise.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady.drives.buffered import joined
from diskmodel.errors import DescriptionError
from diskmodel.layout.written import Written
from diskmodel.records import PARTS, Requests, Run, StreamRule
from diskmodel.workload import Workload

ENGINES = ("simpy", "native")
READ, WRITE = 0, 1
CACHE = {"size_bytes": 512 * 512, "segments": 1, "read_ahead_bytes": 0}


def done(engine: Any, rows: list[tuple[int, int, int, int]], **drive: object) -> Run:
    """Rows of (time, operation, first block, blocks), served by a drive with these fields."""
    when, op, block, n = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    requests = Requests(
        when,
        op.astype(np.uint8),
        block * 512,
        n * 512,
        np.zeros(len(rows), np.int32),
        np.ones(len(rows)),
        (StreamRule("s", 0),),
    )
    zone = {"cylinders": 10, "sectors_per_track": 100}
    described = {
        "kind": "hdd",
        "name": "by hand",
        "capacity_bytes": 2000 * 512,
        "rpm": 60_000,
        "revolution_ns": 1_000_000,
        "heads": 2,
        "zones": [zone],
        "seek": {"kind": "curve", "a_ns": 1, "b_ns_per_root": 0},
        "head_switch_ns": 0,
        "read_overhead_ns": 0,
        "write_overhead_ns": 0,
        "interface_bytes_per_s": 512e6,
    } | drive
    layout = {"level": "jbod", "disks": 1, "strip_bytes": 512}
    array = Array.parse({"drive": described, "layout": layout, "spindles": {"phase": "synchronised"}})
    return run(resolve(array, 0), requests, engine)


def were_hits(outcome: Run) -> list[bool]:
    """Whether each read took the bus only: 1,000 ns a sector."""
    taken = outcome.completions.done_ns - outcome.completions.issue_ns
    return [bool(ns <= 16 * 1000) for ns in taken]


def times(outcome: Run) -> list[int]:
    return [int(ns) for ns in outcome.completions.done_ns]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_zone_starts_at_its_own_angle(engine: str) -> None:
    """Rule M2: with a start skew of 30 sectors block 0 passes from 300,000 on; one sector of bus follows it."""
    zone = {"cylinders": 10, "sectors_per_track": 100, "start_skew": 30}
    assert times(done(engine, [(0, READ, 0, 1)], zones=[zone])) == [311_000]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("full", "expected"),
    # ten sectors pass from 200,000 to 300,000; the bus takes 150,000 for them
    [(0.0, 210_000 + 150_000), (0.5, 210_000 + 45_000 + 150_000), (1.0, 300_000 + 150_000)],
)
def test_a_read_is_sent_when_so_much_of_it_has_come(engine: str, full: float, expected: int) -> None:
    """Rule D6, on a bus of 15,000 ns a sector."""
    rate = 512e9 / 15_000
    outcome = done(engine, [(0, READ, 20, 10)], interface_bytes_per_s=rate, buffer_full_ratio=full)
    assert times(outcome) == [expected]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_waits_for_its_data_beside_the_arm(engine: str) -> None:
    """Rule D9: block 20 passes at 200,000. Of 40 sectors 16 have come at 160,000 + 30,000 of overhead, in time; 24
    would have come at 270,000, so that the head waits for the next revolution. The wait for data is transfer."""
    write = [(0, WRITE, 20, 40)]
    slow: dict[str, object] = {"interface_bytes_per_s": 512e5, "write_overhead_ns": 30_000}
    assert times(done(engine, write, write_prefill_bytes=16 * 512, **slow)) == [600_000]
    late = done(engine, write, write_prefill_bytes=24 * 512, **slow)
    assert times(late) == [1_600_000]
    parts = dict(zip(PARTS, late.completions.parts_ns[0].tolist(), strict=True))
    assert parts["transfer"] == 240_000 + 400_000
    assert parts["rotation"] == 1_200_000 - 270_000


@pytest.mark.parametrize("engine", ENGINES)
def test_a_short_write_waits_for_no_more_than_its_own_data(engine: str) -> None:
    """Rule D9: one sector has come after 10,000, long before block 20."""
    outcome = done(engine, [(0, WRITE, 20, 1)], interface_bytes_per_s=512e5, write_prefill_bytes=24 * 512)
    assert times(outcome) == [210_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_reads_and_writes_end_each_with_their_own_tail(engine: str) -> None:
    """Rule D4: block 20 has passed at 210,000, blocks from 50 on at 510,000. A read's last sector follows."""
    rows = [(0, READ, 20, 1), (300_000, WRITE, 50, 1)]
    assert times(done(engine, rows, completion_overhead_ns=7)) == [211_007, 510_007]
    outcome = done(engine, rows, completion_overhead_ns=7, write_completion_overhead_ns=9)
    assert times(outcome) == [211_007, 510_009]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("to", "hits"), [("limit", True), ("track", False)])
def test_read_ahead_may_stop_at_the_end_of_the_track(engine: str, to: str, hits: bool) -> None:
    """Rule C3: after block 20, blocks up to 120 have been read ahead at 1,500,000, or to the track's last, 99."""
    cache = CACHE | {"read_ahead_bytes": 100 * 512, "read_ahead_to": to}
    outcome = done(engine, [(0, READ, 20, 1), (1_500_000, READ, 99, 1), (1_600_000, READ, 101, 1)], cache=cache)
    assert were_hits(outcome) == [False, True, hits]


@pytest.mark.parametrize("engine", ENGINES)
def test_reads_that_stay_on_a_stream_are_one_segment(engine: str) -> None:
    """Rule C1: blocks 20 to 27 and 28 to 35, then some of both; of a segment of 14 blocks only the last are left."""
    rows = [(0, READ, 20, 8), (0, READ, 28, 8), (1_500_000, READ, 26, 4), (1_600_000, READ, 24, 4)]
    cache = CACHE | {"segments": 4, "size_bytes": 4 * 24 * 512, "read_ahead_bytes": 4 * 512}
    assert were_hits(done(engine, rows, cache=cache)) == [False, False, True, True]
    short = done(engine, rows, cache=cache | {"size_bytes": 4 * 14 * 512})
    assert were_hits(short) == [False, False, True, False]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_read_that_goes_on_is_taken_before_what_is_further_on(engine: str) -> None:
    """Rule Q13: when block 35 has passed, the drive has half of blocks 32 to 39, and takes them before 50 and 51."""
    rows = [(0, READ, 20, 8), (0, READ, 28, 8), (1, READ, 50, 2), (2, READ, 32, 8)]
    cache = CACHE | {"segments": 4, "size_bytes": 4 * 64 * 512, "read_ahead_bytes": 4 * 512}
    outcome = done(engine, rows, cache=cache, queue={"depth": 8, "scheduler": "sptf"})
    assert times(outcome) == [281_000, 361_000, 521_000, 401_000]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("early", [False, True])
def test_a_read_keeps_what_passed_before_it(engine: str, early: bool) -> None:
    """Rule C10: issued at 50,000, the head waits for block 20 from block 5 on. Blocks 5 to 19 are kept, block 4 is not;
    a read of block 110, waited for from block 104 on, keeps nothing of what passed on the track before."""
    rows = [(50_000, READ, 20, 1), (400_000, READ, 5, 15), (500_000, READ, 4, 1)]
    outcome = done(engine, rows, cache=CACHE | {"read_on_arrival": early})
    assert were_hits(outcome) == [False, early, False]
    rows = [(40_000, READ, 110, 1), (400_000, READ, 104, 6), (1_200_000, READ, 99, 1)]
    outcome = done(engine, rows, cache=CACHE | {"read_on_arrival": early})
    assert were_hits(outcome) == [False, early, False]


def test_a_start_skew_is_part_of_the_description() -> None:
    outcome = done("simpy", [(0, READ, 0, 1)], zones=[{"cylinders": 10, "sectors_per_track": 100, "start_skew": 130}])
    assert times(outcome) == [311_000], "taken modulo the track"


def test_a_write_that_finds_no_room_waits_for_one_destage() -> None:
    """It enters the buffer when one write has left it (rule C7), however the drive orders what it has buffered."""
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}})
    result = simulate(array, Workload.parse({"size": "4 KiB", "read_ratio": 0, "clients": 1}), n_requests=4000)
    longest_ms = 1e3 * 60 / 7200 + 18  # a revolution and a full seek
    assert result.latency.mean_ns / 1e6 > 5
    assert result.p99 < longest_ms


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("weighed", "expected"), [(2, 1_651_000), (4, 651_000)])
def test_more_waiting_writes_than_half_of_what_is_weighed_compete_with_reads(
    engine: str, weighed: int, expected: int
) -> None:
    """Rule C8: at 510,000 the arm is free, and two writes and a read wait. The first write begins to pass at 520,000
    and ends at 670,000; the read's block 164 passes at 640,000. Two writes are more than half of two: the first goes
    first, being nearer, and the read waits for another revolution. They are not more than half of four."""
    rows = [(0, READ, 50, 1), (1, WRITE, 52, 15), (1, WRITE, 90, 1), (2, READ, 164, 1)]
    queue = {"depth": 32, "scheduler": "sptf", "weighed_writes": weighed}
    outcome = done(engine, rows, cache=CACHE | {"write_back": True}, queue=queue)
    assert times(outcome) == [511_000, 15_001, 16_001, expected]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("to", "hits"), [("track", [False, False]), ("whole-track", [False, True])])
def test_read_ahead_may_go_round_the_track(engine: str, to: str, hits: list[bool]) -> None:
    """Rules C3 and C4: the read of block 120 ends at 210,000; a revolution later block 105 of its track is there. Read
    before that it is not; and block 99, on the track before, never is."""
    cache = CACHE | {"read_ahead_bytes": 512 * 512, "read_ahead_to": to}
    early = done(engine, [(0, READ, 120, 1), (1_209_000, READ, 105, 4)], cache=cache)
    assert were_hits(early) == [False, False]
    late = done(engine, [(0, READ, 120, 1), (1_210_000, READ, 105, 4)], cache=cache)
    assert were_hits(late) == hits
    before = done(engine, [(0, READ, 120, 1), (1_210_000, READ, 99, 4)], cache=cache)
    assert were_hits(before) == [False, False]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("to", "hits"), [("track", False), ("own-track", True), ("limit", True)])
def test_a_read_across_tracks_may_be_read_ahead_further(engine: str, to: str, hits: bool) -> None:
    """Rule C3: blocks 95 to 104 lie on two tracks, so that "own-track" reads on behind block 199."""
    cache = CACHE | {"read_ahead_bytes": 150 * 512, "read_ahead_to": to}
    outcome = done(engine, [(0, READ, 95, 10), (5_000_000, READ, 195, 10)], cache=cache)
    assert were_hits(outcome) == [False, hits]
    within = done(engine, [(0, READ, 105, 10), (5_000_000, READ, 195, 10)], cache=cache)
    assert were_hits(within) == [False, to == "limit"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("drops", ["overlap", "all"])
def test_a_write_elsewhere_may_drop_what_was_read(engine: str, drops: str) -> None:
    """Rule C6."""
    rows = [(0, READ, 20, 4), (2_000_000, WRITE, 500, 4), (4_000_000, READ, 21, 1)]
    outcome = done(engine, rows, cache=CACHE | {"segments": 2, "write_drops": drops})
    assert were_hits(outcome)[2] == (drops == "overlap")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("keeps", [False, True])
def test_written_data_may_stay_in_the_cache(engine: str, keeps: bool) -> None:
    """Rules C1 and C6: also while the arm is busy with a read that came before."""
    cache = CACHE | {"segments": 2, "keeps_writes": keeps}
    rows = [(0, WRITE, 500, 4), (4_000_000, READ, 501, 2), (6_000_000, READ, 499, 2)]
    assert were_hits(done(engine, rows, cache=cache))[1:] == [keeps, False]
    queue = {"depth": 4}
    rows = [(0, READ, 90, 8), (1_000, WRITE, 20, 4), (2_000, READ, 20, 4)]
    last = times(done(engine, rows, cache=cache, queue=queue))[2]
    assert (last < 100_000) == keeps


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("room", "third_ns"), [(0, 12_000), (200, 44_000)])
def test_short_writes_take_a_least_room(engine, room, third_ns):
    """Two of 200 blocks fit into 512: the third waits until the first is on the media, at 40,000 ns (rule C7)."""
    cache = CACHE | {"write_back": True, "write_room_bytes": room * 512}
    outcome = done(engine, [(0, WRITE, 0, 4), (0, WRITE, 300, 4), (0, WRITE, 600, 4)], cache=cache)
    assert outcome.completions.done_ns.tolist() == [4_000, 8_000, third_ns]


@pytest.mark.parametrize("engine", ENGINES)
def test_joined_writes_take_the_room_of_each(engine):
    """Two that continue each other take 200 blocks each, and leave them when the joined one is on the media."""
    cache = CACHE | {"write_back": True, "write_room_bytes": 200 * 512}
    rows = [(0, WRITE, 0, 4), (0, WRITE, 4, 4), (0, WRITE, 600, 4)]
    outcome = done(engine, rows, cache=cache, queue={"depth": 4})
    assert outcome.completions.done_ns.tolist() == [4_000, 8_000, 84_000]


def test_a_room_that_no_write_finds_is_refused():
    with pytest.raises(DescriptionError, match="write_room_bytes=1048576: must be at most size_bytes"):
        done("simpy", [(0, WRITE, 0, 4)], cache=CACHE | {"write_room_bytes": 1 << 20})


def test_what_waits_when_a_run_begins_takes_as_much():
    columns = (np.array(column, np.int64) for column in ([0, 0, 0, 1], [0, 8, 100, 0], [8, 8, 300, 8]))
    rows, room = joined(Written(*columns), longest=1000, border=10_000, room=1000, least=50)
    assert rows.tolist() == [[0, 0, 16], [0, 100, 300], [1, 0, 8]]
    assert room.tolist() == [100, 300, 50]
    columns = (np.array(column, np.int64) for column in ([0] * 30, range(0, 3000, 100), [8] * 30))
    rows, room = joined(Written(*columns), longest=1000, border=10_000, room=1000, least=50)
    assert (len(rows), int(room.sum())) == (20, 1000)


def test_what_buffers_hold_is_what_its_definition_says() -> None:
    """The latest writes of each disk that fit, each place once; what is adjacent is one entry up to a length."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(0, 60))
        writes = Written(rng.integers(0, 4, n), rng.integers(0, 60, n) * 4, rng.integers(1, 5, n) * 4)
        longest, border, room, least = (int(rng.integers(*ends)) for ends in ((4, 40), (50, 300), (0, 200), (1, 16)))
        held: dict[tuple[int, int], int] = {}
        taken, is_full = Counter[int](), set[int]()
        for disk, lba, length in reversed(list(zip(*(column.tolist() for column in writes), strict=True))):
            if lba // border != (lba + length - 1) // border or (disk, lba) in held:
                continue
            taken[disk] += max(length, least)
            if taken[disk] > room:
                is_full.add(disk)
            if disk not in is_full:
                held[disk, lba] = length
        rows, room_of = joined(writes, longest, border, room, least)
        found = Counter[tuple[int, int]]()
        for disk, lba, length in rows.tolist():
            found[disk, lba] += length
        assert sum(found.values()) == sum(held.values())
        assert int(room_of.sum()) == sum(max(length, least) for length in held.values())
        assert set(found) <= set(held)


def test_a_lost_disk_leaves_reads_in_order_as_fast_as_they_were() -> None:
    """Rules L9, C1 and Q13: a disk reads each strip once, however requests meet in a row that lacks one."""
    rates = []
    for failed in ([], [0]):
        layout = {"level": "raid6", "disks": 12, "strip_bytes": 65536, "failed": failed}
        array = Array.parse({"drive": "seagate-exos-x16", "layout": layout})
        load = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": {"pattern": "sequential"}})
        rates.append(simulate(array, load, n_requests=1000).iops)
    assert rates[1] == pytest.approx(rates[0], rel=0.02)
