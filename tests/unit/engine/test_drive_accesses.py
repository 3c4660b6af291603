"""Accesses of a hard disk that differ by operation, direction or chance (rules M3, M6, M9), worked by hand.

100 sectors a track, two heads, ten cylinders: block b of the drive of `test_drive_buffers` begins to pass at 10,000 ·
(b mod 100) ns of each revolution of 1,000,000 ns, and cylinder c begins at block 200 c.
"""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.drive.draws import AccessDraw, Draws
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.records import PARTS
from diskmodel.workload import Workload
from tests.unit.engine.test_drive_buffers import ENGINES, READ, WRITE, done, times

SEEK = {"kind": "table", "distance": [1, 9], "time_ms": [0.1, 0.1]}


def seeks_of(engine: str, rows: list[tuple[int, int, int, int]], **drive: object) -> list[int]:
    parts = done(engine, rows, seek=SEEK, **drive).completions.parts_ns
    return [int(ns) for ns in parts[:, PARTS.index("seek")]]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seek_inward_takes_longer_than_one_outward(engine: str) -> None:
    """Rule M3: of an odd difference the larger half is added inward, and nothing to a head switch."""
    rows = [(0, READ, 600, 1), (5_000_000, READ, 0, 1), (10_000_000, READ, 100, 1)]
    assert seeks_of(engine, rows, seek_inward_ns=50_001, head_switch_ns=70_000) == [125_001, 75_000, 70_000]
    assert seeks_of(engine, rows, seek_inward_ns=-50_001, head_switch_ns=70_000) == [75_000, 125_001, 70_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_writes_may_have_seeks_of_their_own(engine: str) -> None:
    """Rule M3: the settle is 0 then, unless it is given."""
    own = {"kind": "table", "distance": [1, 9], "time_ms": [0.3, 0.3]}
    rows = [(0, READ, 600, 1), (5_000_000, WRITE, 0, 1), (10_000_000, WRITE, 100, 1)]
    assert seeks_of(engine, rows, write_seek=own) == [100_000, 300_000, 0]
    assert seeks_of(engine, rows, write_seek=own, write_settle_ns=20_000) == [100_000, 320_000, 20_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_scheduler_knows_direction_and_operation(engine: str) -> None:
    """Rule Q6: the arm is free at 1,000,000 on cylinder 1. Block 412 passes 120,000 later on cylinder 2, block 11
    110,000 later on cylinder 0. Of the two seeks one takes 50,000 and the other 150,000, too long."""
    queue = {"depth": 4, "scheduler": "sptf"}
    rows = [(0, READ, 290, 10), (1_000, READ, 412, 1), (1_000, READ, 11, 1)]
    inward = times(done(engine, rows, seek=SEEK, queue=queue, seek_inward_ns=100_000))
    assert inward[2] < inward[1], "the outward seek is short, the inward one too long for block 412"
    outward = times(done(engine, rows, seek=SEEK, queue=queue, seek_inward_ns=-100_000))
    assert outward[1] < outward[2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_delayed_access_ends_later_by_one_of_the_times(engine: str) -> None:
    """Rule M9: the delay counts as rotation."""
    retries = {"ratio": 1, "time_ns": [2_000_000]}
    rows = [(0, READ, 20, 10), (10_000_000, WRITE, 20, 10)]
    outcome = done(engine, rows, retries=retries)
    assert times(outcome) == [2_301_000, 12_300_000]
    assert outcome.completions.parts_ns[:, PARTS.index("rotation")].tolist() == [2_200_000, 2_200_000]
    assert times(done(engine, rows, retries={"ratio": 0, "time_ns": [1]})) == [301_000, 10_300_000]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("ratio", "expected"), [(1.0, 1_250_000), (0.0, 1_700_000)])
def test_an_access_that_reads_in_order_waits_for_its_first_block(engine: str, ratio: float, expected: int) -> None:
    """Rules M6 and M9: the head lands at 250,000 inside blocks 20 to 69."""
    outcome = done(engine, [(250_000, WRITE, 20, 50)], zero_latency=True, zero_latency_ratio=ratio)
    assert times(outcome) == [expected]


def drive_with(**fields: object) -> Hdd:
    data = {
        "kind": "hdd",
        "name": "drawing",
        "capacity_bytes": 1000 * 2 * 98 * 512,
        "rpm": 6000,
        "heads": 2,
        "zones": [{"cylinders": 1000, "sectors_per_track": 98}],
        "seek": {"average": "5 ms"},
    }
    return Hdd.parse(data | fields)


def test_draws_are_those_of_the_rule() -> None:
    """Rule M9, with the first numbers of the generator worked out: x of disk 1 from s = 5."""
    tables = drive_with(retries={"ratio": 0.5, "time": ["1 ms", "2 ms", "3 ms"]}).tables()
    x = (5 + 2654435769) % 2**32
    expected = []
    for _ in range(20):
        x = (1664525 * x + 1013904223) % 2**32
        late = 0
        if x * 10**6 >> 32 < 500_000:
            x = (1664525 * x + 1013904223) % 2**32
            late = (1 + (x * 3 >> 32)) * 1_000_000
        expected.append(AccessDraw(False, late))
    draws = Draws(tables, 5, 1)
    assert [draws.next() for _ in range(20)] == expected


def test_shares_are_drawn_as_often_as_they_say() -> None:
    drive = drive_with(zero_latency=True, zero_latency_ratio=0.7, retries={"ratio": 0.02, "time": ["10 ms"]})
    draws = Draws(drive.tables(), 0, 0)
    drawn = [draws.next() for _ in range(50_000)]
    assert np.mean([luck.in_order for luck in drawn]) == pytest.approx(0.3, abs=0.008)
    assert np.mean([luck.late_ns > 0 for luck in drawn]) == pytest.approx(0.02, abs=0.0025)


def test_the_seed_decides_what_is_drawn() -> None:
    """A drive without draws takes none from the seed, so that its scenarios stay the same."""
    workload = Workload.parse({"size": "4 KiB", "clients": 1})

    def responses(drive: Hdd, seed: int) -> list[int]:
        array = Array.parse(
            {"drive": drive, "layout": {"level": "jbod", "disks": 1}, "spindles": {"phase": "synchronised"}}
        )
        scenario = resolve(array, seed)
        assert (scenario.first_draw == 0) == (drive.retries is None)
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=200, seed=0)
        native = run(scenario, requests, "native").completions
        simpy = run(scenario, requests, "simpy").completions
        assert native.done_ns.tolist() == simpy.done_ns.tolist()
        return [int(v) for v in native.done_ns]

    unlucky = drive_with(retries={"ratio": 0.3, "time": ["10 ms"]})
    assert responses(unlucky, 1) == responses(unlucky, 1)
    assert responses(unlucky, 1) != responses(unlucky, 2)
    assert responses(drive_with(), 1) == responses(drive_with(), 2)


def test_two_disks_do_not_draw_alike() -> None:
    array = Array.parse(
        {"drive": drive_with(retries={"ratio": 0.5, "time": ["9 ms"]}), "layout": {"level": "raid1", "disks": 2}}
    )
    tables = array.drive_tables()
    draws = [Draws(tables, 7, disk) for disk in (0, 1)]
    assert [draws[0].next() for _ in range(30)] != [draws[1].next() for _ in range(30)]
    assert resolve(array, 3).first_draw != resolve(array, 4).first_draw


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"zero_latency_ratio": 0.5}, "needs zero_latency = true"),
        ({"zero_latency": True, "zero_latency_ratio": 1.5}, "zero_latency_ratio"),
        ({"seek_inward": "9 ms"}, "must not exceed the shortest seek"),
        ({"seek_inward": "-9 ms"}, "must not exceed the shortest seek"),
        (
            {
                "seek_inward_ns": 1,
                "seek": SEEK,
                "zones": [{"cylinders": 1, "sectors_per_track": 98}],
                "capacity_bytes": 196 * 512,
            },
            "must not exceed the shortest seek, 0 ns",
        ),
        ({"retries": {"ratio": 0.1, "time": []}}, "retries.time"),
        ({"retries": {"ratio": 2, "time": ["1 ms"]}}, "retries.ratio"),
        ({"retries": {"ratio": 0.1, "time": ["-1 ms"]}}, "retries.time"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, object], rule: str) -> None:
    with pytest.raises(DescriptionError, match=rule):
        drive_with(**fields)
