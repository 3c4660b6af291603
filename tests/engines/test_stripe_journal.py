"""A journal of Linux md by hand, on disks that take 10,000 ns for any command (rules Y13 to Y15).

A block of the journal takes 1,000 ns of its link, and each write 30,000 ns more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.md.journal import Batch, JournalTables, Room, Unit, batches, within
from diskmodel.layout.md.parity import plan
from diskmodel.layout.md.tables import MdTables, md_tables
from diskmodel.layout.pieces import ChildIo
from diskmodel.records import WRITE, Requests, Run, StreamRule, Sync
from diskmodel.workload import Workload

ENGINES = ("simpy", "native")
DISK = {
    "kind": "virtual",
    "name": "by hand",
    "capacity_bytes": 256 << 20,
    "read_overhead_ns": 10_000,
    "write_overhead_ns": 10_000,
    "read_copy_bytes_per_s": None,
    "write_copy_bytes_per_s": None,
    "completion": "each",
}
#: A block of 4 KiB in 1,000 ns.
LOG = {"write_ns": 30_000, "bytes_per_s": 4.096e9}
PAGE = 4096


def outcome(engine: Any, writes: list[tuple[int, int, int]], rule: StreamRule | None = None, **layout: Any) -> Run:
    """Writes of (time, first page, pages) to RAID 5 of three disks with strips of a page."""
    when, first, n = (np.array(column, np.int64) for column in zip(*writes, strict=True))
    requests = Requests(
        when,
        np.ones(len(writes), np.uint8),
        first * PAGE,
        n * PAGE,
        np.zeros(len(writes), np.int32),
        np.ones(len(writes)),
        (rule or StreamRule("s"),),
    )
    array = {"drive": DISK, "layout": {"level": "raid5", "disks": 3, "strip_bytes": PAGE, "log": LOG} | layout}
    return run(resolve(Array.parse(array), 0), requests, engine)


def ends(found: Run) -> list[int]:
    return found.completions.done_ns.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stripe_is_in_the_journal_before_it_is_on_the_disks(engine: str) -> None:
    """A row of two pages and their parity: four blocks, then all disks at once."""
    assert ends(outcome(engine, [(0, 0, 2)], log=None)) == [10_000]
    assert ends(outcome(engine, [(0, 0, 2)])) == [4_000 + 30_000 + 10_000]
    # a page: the other one is read, then a block that lists a page and its parity
    assert ends(outcome(engine, [(0, 0, 1)])) == [10_000 + 3_000 + 30_000 + 10_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_units_have_eight_stripes_and_follow_each_other(engine: str) -> None:
    """Ten rows are a unit of 25 blocks and one of 7, which is there at 62,000, when the disks write the other's."""
    assert ends(outcome(engine, [(0, 0, 20)])) == [25_000 + 30_000 + 2 * 10_000]
    assert ends(outcome(engine, [(0, 0, 34)])) == [2 * 25_000 + 30_000 + 2 * 10_000]
    # another write waits for the link alone
    assert ends(outcome(engine, [(0, 0, 16), (1_000, 100, 20)])) == [65_000, 57_000 + 30_000 + 10_000 + 3_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_device_without_protection_is_flushed(engine: str) -> None:
    """Rule Y14: units that are written while it is flushed share the next flush."""
    log = LOG | {"flush_ns": 100_000}
    assert ends(outcome(engine, [(0, 0, 2)], log=log)) == [34_000 + 100_000 + 10_000]
    found = outcome(engine, [(0, 0, 2), (10_000, 10, 2), (50_000, 20, 2)], log=log)
    assert ends(found) == [144_000, 244_000, 254_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_flushes_of_the_host_end_at_once(engine: str) -> None:
    drive = {"drive": "generic-7k2", "drive_write_cache": True}
    layout = {"level": "raid5", "disks": 3}
    load = Workload.parse({"streams": [{"clients": 1, "read_ratio": 0, "size": "4 KiB", "sync": "fdatasync"}]})
    plain, logged = (
        simulate(Array.parse(drive | {"layout": layout | more}), load, n_requests=200, engine=engine, profile_draws=0)
        for more in ({}, {"log": LOG})
    )
    assert plain.breakdown_ns["sync"] > 1e6
    assert logged.breakdown_ns["sync"] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_past_the_caches_stays_one(engine: str) -> None:
    """Each disk, which has no FUA, is flushed after its own write; the flush of the host ends at once."""
    found = outcome(engine, [(0, 0, 2)], StreamRule("s", sync=Sync.DSYNC))
    assert ends(found) == [54_000]
    assert found.devices.n_flushes.tolist() == [1, 1, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_room_is_freed_when_a_quarter_is_on_the_disks(engine: str) -> None:
    """Units of 25 blocks in 1,024: the twelfth is the first to begin behind the 256th.

    A superblock is a flush of each disk, a write and a flush after it; the last one begins when the run ends.
    """
    for n, n_supers in ((12, 0), (13, 1), (23, 1), (24, 2)):
        found = outcome(engine, [(i * 1_000_000, 16 * i, 16) for i in range(n)], log=LOG | {"size_bytes": 4 << 20})
        assert found.devices.n_flushes.tolist() == [2 * n_supers] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_the_thread_sleeps_while_the_superblock_is_written(engine: str) -> None:
    """The twelfth write ends at 11,065,000, and the superblock 30,000 later; the next one is written then."""
    writes = [(i * 1_000_000, 16 * i, 16) for i in range(12)] + [(11_066_000, 300, 2)]
    found = outcome(engine, writes, log=LOG | {"size_bytes": 4 << 20})
    assert ends(found)[-2:] == [11_065_000, 11_095_000 + 4_000 + 30_000 + 10_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_without_room_waits_for_it(engine: str) -> None:
    """At once 41 units of 25 blocks come: 40 have room, and none is on the disks before 65,000 ns."""
    found = outcome(engine, [(0, 16 * i, 16) for i in range(41)], log=LOG | {"size_bytes": 4 << 20})
    *others, last = ends(found)
    written = 40 * 25_000 + 30_000
    assert max(others) == written + 10_000
    # two units are on the disks at 90,000, so that the room of one is free at 120,000: long before the link is
    assert last == 41 * 25_000 + 30_000 + 10_000


#: The log of partial parity takes a write and the flush after it, as disks without FUA do it.
LOGGED = 2 * 10_000
PPL: dict[str, Any] = {"log": None, "consistency_policy": "ppl"}


@pytest.mark.parametrize("engine", ENGINES)
def test_partial_parity_is_logged_before_the_stripe(engine: str) -> None:
    """Rule Y16: a row of which all is written has a page that lists it; else its partial parity is there, too."""
    assert ends(outcome(engine, [(0, 0, 2)], **PPL)) == [LOGGED + 10_000]
    assert ends(outcome(engine, [(0, 0, 1)], **PPL)) == [10_000 + LOGGED + 10_000]
    found = outcome(engine, [(0, 0, 2)], **PPL)
    # data on two disks, parity on the third, which has the log
    assert sorted(found.devices.write_bytes.tolist()) == [PAGE, PAGE, 2 * PAGE]
    found = outcome(engine, [(0, 0, 1)], **PPL)
    assert sorted(found.devices.write_bytes.tolist()) == [0, PAGE, 3 * PAGE]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_unit_of_a_log_is_in_progress(engine: str) -> None:
    """Two writes to one row: the second waits until the first is on the disks, and these have been flushed."""
    layout = PPL | {"strip_bytes": 64 << 10}
    first, second = ends(outcome(engine, [(0, 0, 1), (1_000_000, 0, 1)], **layout))
    assert (first, second) == (40_000, 1_040_000)
    first, second = ends(outcome(engine, [(0, 0, 1), (0, 1, 1)], **layout))
    # it reads behind the other one's read, and its unit begins behind the flush of the disks that the first wrote to
    assert (first, second) == (40_000, 50_000 + LOGGED + 10_000)
    # of another row the parity is on another disk: only the disks that both write to make it wait
    first, second = ends(outcome(engine, [(0, 0, 1), (0, 32, 1)], **layout))
    assert second < 80_000


@pytest.mark.parametrize("engine", ENGINES)
def test_stripes_without_parity_are_not_logged(engine: str) -> None:
    """Of three rows the parity of one is lost: the other two are logged, on a disk each."""
    found = outcome(engine, [(0, 0, 6)], **PPL | {"failed": [0]})
    assert found.devices.write_bytes.sum() == 6 * PAGE + 2 * PAGE
    assert ends(outcome(engine, [(0, 0, 6)], **PPL | {"failed": [0]}))[0] > LOGGED + 10_000


@pytest.mark.parametrize("engine", ENGINES)
def test_flushes_of_the_host_end_at_once_with_partial_parity(engine: str) -> None:
    found = outcome(engine, [(0, 0, 2)], StreamRule("s", sync=Sync.FLUSH), **PPL)
    assert ends(found) == [LOGGED + 10_000]


def tables(**layout: Any) -> MdTables:
    given = {"level": "raid5", "disks": 3, "strip_bytes": PAGE, "log": LOG} | layout
    return md_tables(Layout.parse(given), 200_000, 512)


def sizes(found: list[Batch]) -> list[int]:
    return [batch.n_blocks for batch in found]


def of_write(layout: MdTables, sector: int, n: int) -> list[Batch]:
    made = plan(layout, WRITE, sector, n)
    return batches([*(made.then or made.first), *made.lost], layout.data_offset, 8, layout.n_parity)


def test_what_is_listed_fits_into_a_block() -> None:
    """100 pages of data, and parity: 2,020 bytes a stripe, of which two fit beside 32 of the header."""
    wide = tables(disks=101)
    assert sizes(of_write(wide, 0, 800 * 5)) == [203, 203, 102]


def test_pages_of_lost_disks_are_in_the_journal() -> None:
    for failed in ((), (0,), (1,), (2,)):
        assert sizes(of_write(tables(failed=failed), 0, 16)) == [4]


def test_parity_between_two_parts_takes_no_room() -> None:
    """The last page of one strip and the first of the next: parity of all 16 pages is written, of two stripes."""
    layout = tables(strip_bytes=16 * PAGE)
    (batch,) = of_write(layout, 15 * 8, 16)
    assert (batch.n_blocks, batch.start, batch.stop) == (1 + 2 + 2, 0, 128)


def test_pieces_are_cut_at_the_batches() -> None:
    found = batches([ChildIo(0, WRITE, 4, 80), ChildIo(1, WRITE, 4, 80)], 0, 8, 1)
    assert [(batch.start, batch.stop, batch.n_blocks) for batch in found] == [(0, 64, 17), (64, 88, 7)]
    assert [within([ChildIo(0, WRITE, 4, 80)], batch.start, batch.stop) for batch in found] == [
        [ChildIo(0, WRITE, 4, 60)],
        [ChildIo(0, WRITE, 64, 20)],
    ]


def test_room_of_the_oldest_units_is_free_first() -> None:
    room = Room(JournalTables(0, 100, 25, 8, 8))
    units = [Unit(number, 30) for number in range(4)]
    assert [room.take(unit) for unit in units] == [True, True, True, False]
    assert not room.ended(units[1])
    assert not room.is_due(30)
    assert room.ended(units[0])
    # the second unit begins at block 31: what is before it can be freed
    assert (room.checkpoint, room.is_due(0), room.is_due(31), room.is_due(32)) == (31, True, True, False)
    assert room.ended(units[2])
    assert room.is_due(90)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"level": "raid10", "disks": 4}, "md has a journal for raid4, raid5, raid6, not for raid10"),
        ({"bitmap": {}}, "either a bitmap or a journal"),
        ({"strip_bytes": 2048}, "not a multiple of 4096"),
        ({"read_modify_write": "held"}, "does not hold disks"),
        ({"disks": 204}, "at most 203 disks"),
        ({"consistency_policy": "resync"}, "does not fit journal; remove log"),
        ({"log": None, "consistency_policy": "journal"}, "does not fit an array without one; add log"),
        ({"log": None, "consistency_policy": "bitmap"}, "add bitmap = {}"),
        ({"consistency_policy": "ppl"}, "does not fit journal; remove log"),
        ({"log": None, "consistency_policy": "ppl", "level": "raid6", "disks": 4}, "for raid5, not for raid6"),
        ({"log": None, "consistency_policy": "ppl", "strip_bytes": 2048}, "not a multiple of 4096"),
        ({"log": None, "consistency_policy": "ppl", "disks": 65}, "at most 64 disks"),
        ({"log": None, "consistency_policy": "ppl", "bitmap": {}}, "does not fit bitmap; remove bitmap"),
        ({"log": LOG | {"mode": "write-back"}}, "is not modeled; use write-through"),
        ({"log": {"write_ns": 1, "size_bytes": 4096}}, "size_bytes"),
        ({"level": "raidz1", "disks": 4, "log": LOG | {"flush_ns": 1}}, "belongs to the journal of Linux md"),
    ],
)
def test_what_cannot_have_a_journal_is_refused(layout: dict[str, Any], message: str) -> None:
    given = {"level": "raid5", "disks": 3, "log": LOG} | layout
    with pytest.raises(DescriptionError, match=message):
        Layout.parse(given)


def test_mdadm_gives_an_array_with_a_journal_no_bitmap() -> None:
    load = Workload.parse({"streams": [{"clients": 1, "size": "4 KiB"}]})
    for more, has_bitmap in (({}, True), ({"log": LOG}, False), ({"consistency_policy": "resync"}, False)):
        layout = {"level": "raid5", "disks": 4} | more
        array = Array.parse({"drive": "generic-7k2", "layout": layout, "controller": "linux-md"})
        assert (array.behind_host(load).layout.bitmap is not None) == has_bitmap


def test_a_journal_is_named_by_its_drive() -> None:
    words = Array.from_words("4x generic-7k2 raid5, journal on micron-7450-pro-1920")
    named = Array("generic-7k2", "raid5", 4, log="micron-7450-pro-1920")
    table = {"drive": "micron-7450-pro-1920", "size_bytes": 1 << 30}
    larger = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 4, "log": table}})
    assert words.layout.log is not None
    assert words.layout.log == named.layout.log
    assert larger.layout.log == words.layout.log.model_copy(update={"size_bytes": 1 << 30})
    assert ("journal", "Micron 7450 PRO 1.92 TB") in words._facts()
    partial = Array.from_words("4x generic-7k2 raid5, ppl")
    assert partial.layout == Array("generic-7k2", "raid5", 4, consistency_policy="ppl").layout
    for array in (words, partial):
        assert any("not compared with a measurement" in doubt for doubt in array.doubts)
    with pytest.raises(DescriptionError, match="neither a file nor a drive"):
        Array.from_words("4x generic-7k2 raid5, journal on nonesuch")
