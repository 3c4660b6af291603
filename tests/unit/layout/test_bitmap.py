"""The write-intent bitmap by hand (rule L13), and md arrays that were measured with one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run as run_requests
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.md.bitmap import BITS_PER_PAGE, Bitmap, bits_of
from diskmodel.layout.md.tables import MdTables, md_tables
from diskmodel.queue import Queue
from diskmodel.records import PARTS, READ, WRITE
from diskmodel.result import Result
from diskmodel.workload import Workload

SECOND = 1_000_000_000


def tables(**layout: object) -> MdTables:
    given = {"level": "raid5", "disks": 4, "strip": "4 KiB", "bitmap": {"chunk": "8 KiB"}} | layout
    return md_tables(Layout.parse(given), 8000, 512)


@pytest.mark.parametrize(
    ("layout", "sector", "n", "bits"),
    [
        # three data strips of 8 sectors a row; a bit is 16 sectors of a member, two rows
        ({}, 0, 8, [0]),
        ({}, 47, 1, [0]),
        ({}, 47, 2, [0, 1]),
        ({}, 48, 200, [1, 2, 3, 4, 5]),
        # RAID 50: rows go round two groups
        ({"level": "raid50", "disks": 6, "groups": 2}, 63, 1, [0]),
        ({"level": "raid50", "disks": 6, "groups": 2}, 64, 1, [1]),
        # mirrors: sectors of the array
        ({"level": "raid10"}, 15, 2, [0, 1]),
        ({"level": "raid1", "disks": 2}, 32, 16, [2]),
    ],
)
def test_a_write_needs_the_bits_of_its_chunks(layout: dict[str, Any], sector: int, n: int, bits: list[int]) -> None:
    assert list(bits_of(tables(**layout), sector, n)) == bits


def test_a_bit_is_cleared_at_the_second_wake_up_after_its_last_write() -> None:
    bitmap = Bitmap(tables(bitmap={"chunk": "8 KiB", "clear_interval": "5 s"}))
    bitmap.enter([7, BITS_PER_PAGE + 1], 0)
    assert not bitmap.bits[7].is_set
    assert bitmap.take() == [0, 1]
    # the first page begins with a superblock of 256 bytes
    bitmap.pending = [BITS_PER_PAGE - 256 * 8 - 1]
    assert bitmap.take() == [0]
    bitmap.pending = [BITS_PER_PAGE - 256 * 8]
    assert bitmap.take() == [1]
    bitmap.enter([7], 0)
    assert bitmap.take() == []  # it is being set already
    bitmap.flying = [7, BITS_PER_PAGE + 1]
    bitmap.written()
    assert bitmap.bits[7].is_set
    assert bitmap.bits[BITS_PER_PAGE + 1].is_set
    for _ in range(2):
        bitmap.ended([7], 6 * SECOND)
    for now_ns, pending in ((15 * SECOND - 1, []), (15 * SECOND, [7])):
        bitmap.enter([7], now_ns)
        assert bitmap.pending == pending
        bitmap.ended([7], 6 * SECOND)


def test_no_bit_is_cleared_while_a_disk_is_lost() -> None:
    bitmap = Bitmap(tables(failed=[1]))
    bitmap.enter([3], 0)
    bitmap.take()
    bitmap.written()
    bitmap.ended([3], 0)
    bitmap.enter([3], 10**15)
    assert bitmap.pending == []


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({"level": "raid0"}, "bitmap: raid0 has nothing to resynchronize; remove it"),
        ({"bitmap": {"chunk": "6 KiB"}}, "not a multiple of strip_bytes=4096"),
        ({"bitmap": {"chunk": "0 B"}}, "chunk"),
        ({"bitmap": {"clear_interval": "1 us"}}, "clear_interval"),
        ({"level": "raid10", "disks": 16_384, "bitmap": {"chunk": "512 B"}}, "use larger chunks"),
    ],
)
def test_bad_bitmaps_are_refused(layout: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        tables(**layout)
    assert said in str(caught.value)


@pytest.mark.parametrize(("chunk", "n_sectors"), [("64 MiB", 1), ("1 MiB", 1), ("64 KiB", 2), ("4 KiB", 17)])
def test_only_the_sectors_in_use_are_written(chunk: str, n_sectors: int) -> None:
    """A member of 256 MiB: 256 bytes and a bit for each chunk, in pages of 8 sectors."""
    layout = Layout.parse({"level": "raid5", "disks": 4, "strip": "4 KiB", "bitmap": {"chunk": chunk}})
    found = md_tables(layout, 256 << 11, 512)
    assert found.bitmap_end - found.bitmap_start == n_sectors


def run(layout: dict[str, Any], workload: dict[str, Any], n: int, engine: Any = "auto", **array: Any) -> Result:
    described = Array.parse({"drive": "generic-10k", "layout": {"level": "raid1", "disks": 2} | layout} | array)
    return simulate(described, Workload.parse({"size": "4 KiB"} | workload), n_requests=n, engine=engine, start="empty")


def test_a_lone_write_waits_for_its_bit_and_for_the_flush() -> None:
    """One client that writes 64 KiB chunks of 2 GB at random: every bit is cleared before its turn comes again."""
    load = {"read_ratio": 0.0, "clients": 1, "span": "2 GB"}
    plain = run({}, load, 400)
    kept, flushed = (
        run({"bitmap": {"chunk": "64 KiB", "clear_interval": "1 ms", "flush": flush}}, load, 400)
        for flush in ("0 ns", "3 ms")
    )
    assert plain.run.devices.n_writes.tolist() == [400, 400]
    assert kept.run.devices.n_writes.tolist() == [800, 800]
    assert flushed.latency.mean_ns - plain.latency.mean_ns > 3_000_000
    assert flushed.breakdown_ns["queue"] > 3_000_000
    assert plain.breakdown_ns["queue"] == 0


def test_writes_that_wait_together_share_a_write_of_the_bitmap() -> None:
    load = {"read_ratio": 0.0, "clients": 32, "span": "2 GB"}
    found = run({"bitmap": {"chunk": "64 KiB", "clear_interval": "1 ms"}}, load, 2000)
    assert 2000 < found.run.devices.n_writes[0] < 2400


def test_reads_need_no_bit() -> None:
    found = run({"bitmap": {"chunk": "64 KiB"}}, {"read_ratio": 1.0, "clients": 2}, 300)
    assert found.run.devices.n_writes.sum() == 0


@pytest.mark.parametrize(
    ("layout", "more"),
    [
        ({}, {}),
        ({"level": "raid10", "disks": 4}, {"queue": {"write_throttle": "linux"}}),
        ({"level": "raid6", "disks": 6, "failed": [2]}, {"controller": {"write_cache": {"size": "1 MiB"}}}),
        ({"level": "raid5", "disks": 5}, {"queue": {"write_throttle": "linux"}}),
    ],
)
def test_both_engines_agree_on_pages_that_are_far_apart(layout: dict[str, Any], more: dict[str, Any]) -> None:
    """4.6 million bits, 140 pages: random cases of small drives have a single page."""
    bitmap = {"chunk": "64 KiB", "clear_interval": "20 ms", "flush": "1 ms"}
    load = {"read_ratio": 0.3, "clients": 6, "size": "128 KiB"}
    one, other = (run(layout | {"bitmap": bitmap}, load, 300, engine, **more) for engine in ("simpy", "native"))
    assert np.array_equal(one.run.completions.parts_ns, other.run.completions.parts_ns)
    assert np.array_equal(one.run.devices.n_writes, other.run.devices.n_writes)


@pytest.mark.parametrize(("rate", "measured"), [(43.17, 2.83), (134.62, 2.03)])
def test_member_writes_of_a_measured_array(rate: float, measured: float) -> None:
    """md RAID 5 of eight disks (fio-plot's history, 2019-11-11): 60 s of random writes into a file of 50,000 MiB.

    At the rates of depth 1 and 2. Nothing is fitted: chunk and daemon are mdadm's defaults. The source does not say
    whether the drives' own caches were on; these are off.
    """
    layout = {"level": "raid5", "disks": 8, "bitmap": {}}
    load = {"read_ratio": 0.0, "rate": f"{rate}/s", "span": "50000 MiB"}
    n = round(60 * rate)
    found = run(layout, load, n, drive="seagate-barracuda-xt", drive_write_cache=False)
    assert found.run.devices.n_writes.sum() / n == pytest.approx(measured, rel=0.04)


def test_when_a_bitmap_costs_everything_and_when_nothing() -> None:
    """md RAID 5 of five NVMe drives (linux-raid, 2024-11-11): 174 and 285 writes/s with chunks of 64 and 512 MiB.

    The flush time follows from the first. With larger chunks bits stay set, and writes need not wait.
    """
    found = {}
    for chunk, n in (("64 MiB", 8000), ("512 MiB", 17_000), ("2 GiB", 120_000)):
        layout = {"level": "raid5", "disks": 5, "member": "2 TB", "bitmap": {"chunk": chunk, "flush": "5.6 ms"}}
        load = {"read_ratio": 0.0, "clients": 1}
        found[chunk] = run(layout, load, n, drive="samsung-pm9a3-7680").iops.mean
    plain = run({"level": "raid5", "disks": 5}, load, 4000, drive="samsung-pm9a3-7680").iops.mean
    assert found["64 MiB"] == pytest.approx(174, rel=0.08)
    assert found["512 MiB"] == pytest.approx(285, rel=0.2)
    assert found["2 GiB"] > 0.95 * plain


@pytest.mark.parametrize(("level", "is_doubted"), [("raid1", True), ("raid10", True), ("raid6", False)])
def test_what_a_bitmap_of_mirrors_costs_beyond_the_rules_is_said(level: str, is_doubted: bool) -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": 4, "bitmap": {}}})
    mix = Workload.parse({"size": "4 KiB", "read_ratio": 0.7, "clients": 8})
    messages = simulate(array, mix, n_requests=200, profile_draws=0).messages
    assert any("waits for the bitmap before it reads" in text for text in messages) == is_doubted
    one_thread = array.model_copy(update={"queue": Queue.parse({"write_throttle": "linux"})})
    no_bitmap = array.model_copy(update={"layout": Layout.parse({"level": level, "disks": 4})})
    assert not one_thread.doubts
    assert not no_bitmap.doubts


@pytest.mark.parametrize("engine", ["simpy", "native"])
def test_a_program_reads_nothing_while_it_waits_for_the_bitmap(engine: Any) -> None:
    """Two clients of one program on mirrors: the read is submitted when the write's bit is set (rules L13, Q11)."""
    layout = {"level": "raid1", "disks": 2, "bitmap": {"chunk": "64 KiB"}}
    found = {}
    for throttle in ("linux", "none"):
        array = Array.parse({"drive": "generic-10k", "layout": layout, "queue": {"write_throttle": throttle}})
        load = Workload.parse({"size": "4 KiB", "read_ratio": 1.0, "clients": 2})
        requests = load.requests(capacity_bytes=array.usable_bytes, n=2, seed=1)
        requests = replace(requests, op=np.array([WRITE, READ], np.uint8))
        parts_ns = run_requests(resolve(array, 1), requests, engine=engine).completions.parts_ns
        found[throttle] = parts_ns[:, PARTS.index("queue")]
    write_ns, read_ns = found["linux"]
    assert write_ns > 0
    assert read_ns >= write_ns
    assert found["none"][1] < write_ns
