"""Cache devices of a pool (rules X27 and Z13): what is on the L2ARC, how it is read, and what it takes of the ARC."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.analytic.backend import back_end
from diskmodel.array import Array
from diskmodel.controller.arc import ZfsArc
from diskmodel.drive import Flash, load_drive
from diskmodel.engine import native
from diskmodel.engine.run import Engine
from diskmodel.engine.run import run as run_on
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady import EMPTY
from diskmodel.engine.steady.past import history
from diskmodel.engine.steady.steady import settled
from diskmodel.errors import DescriptionError
from diskmodel.layout.pools.l2arc import CacheDeviceTables, Devices, L2arc, L2arcTables, Region
from diskmodel.records import Run
from diskmodel.workload import Workload

DEVICE = "micron-7450-pro-1920"
POOL = f"2x6 generic-7k2 raidz2, 64GiB read cache, cache on {DEVICE}"
MIB = 1 << 20
FIGURES = CacheDeviceTables(dies=3, pages=2, sense_ns=50, send_ns=10, latency_ns=7)
TABLES = L2arcTables(
    slots=4,
    feed=2,
    headroom=3,
    feed_ns=1000,
    busy_feed_ns=200,
    devices=2,
    figures=FIGURES,
)


def pool(slots: int, arc: int, record: int = MIB, cache: Any = None, **fields: Any) -> Array:
    """Mirrors of flash with so many records on a cache device and in the ARC."""
    cache = cache or {"drive": DEVICE, "size_bytes": slots * record}
    layout = {"level": "mirror", "disks": 16, "vdevs": 8, "record_bytes": record, "cache": cache}
    read = {"size_bytes": arc * record}
    return Array.parse({"drive": "generic-sas-ssd", "layout": layout, "controller": {"read_cache": read}, **fields})


def load(n_records: int, record: int = MIB, **fields: Any) -> Workload:
    return Workload.parse({"size_bytes": record, "span_bytes": n_records * record, "read_ratio": 1.0, **fields})


def run(array: Array, workload: Workload, n: int, *, is_empty: bool = False) -> Run:
    scenario, capacity = resolve(array, 1), array.usable_bytes
    if not is_empty:
        start = settled(scenario, workload, capacity_bytes=capacity, seed=1, engine=native.run)
    requests = workload.requests(capacity_bytes=capacity, n=n, seed=1)
    return native.run(replace(scenario, start=EMPTY if is_empty else start), requests)


def test_the_record_that_came_first_makes_room() -> None:
    l2arc = L2arc(TABLES)
    for record in (1, 2, 3, 4, 5):
        l2arc.insert(record)
    assert [record in l2arc for record in range(7)] == [False, False, True, True, True, True, False]
    l2arc.invalidate(2)
    l2arc.insert(6)  # takes the slot that 2 still had
    assert [record in l2arc for record in range(7)] == [False, False, False, True, True, True, True]


def test_records_from_the_beginning_make_room_first() -> None:
    """Of ten records three, in steps of seven: 10, 13 and 16."""
    l2arc = L2arc(TABLES, [Region(10, 10, 7, (3,))], 3)
    on = {10 + b for b in range(10) if b * 7 % 10 < 3}
    assert {record for record in range(30) if record in l2arc} == on == {10, 13, 16}
    l2arc.insert(1)  # one slot is free
    assert all(record in l2arc for record in (1, 10, 13, 16))
    l2arc.invalidate(16)
    l2arc.insert(2)
    l2arc.insert(3)
    assert [record in l2arc for record in (10, 13, 16, 1, 2, 3)] == [False, False, False, True, True, True]


def test_records_of_some_ages_make_room_sooner() -> None:
    """Of eight slots the older half has three records, the newer one."""
    l2arc = L2arc(TABLES._replace(slots=10), [Region(0, 7, 3, (3, 1))], 8)
    found = []
    for record in range(100, 110):
        l2arc.insert(record)
        found.append(sum(other in l2arc for other in range(7)))
    # two slots are free
    assert found == [4, 4, 4, 3, 2, 1, 1, 1, 1, 0]


def test_a_feed_takes_what_is_evicted_next() -> None:
    arc = ZfsArc(4)
    for record in (1, 2, 3, 4, 1):
        arc.insert(record)
    slots = TABLES._replace(slots=100)
    l2arc = L2arc(slots)
    assert l2arc.feed(arc)  # a record that was used twice, and the least recently used of the others
    assert [record in l2arc for record in (1, 2, 3, 4)] == [True, True, False, False]
    assert l2arc.feed(arc)
    assert [record in l2arc for record in (1, 2, 3, 4)] == [True, True, True, True]
    assert not l2arc.feed(arc)
    cold = ZfsArc(5)
    for record in (1, 2, 3):
        cold.insert(record)
    l2arc = L2arc(slots._replace(feed=1))
    l2arc.feed(cold)  # with room it is twice as many, the latest first
    assert [record in l2arc for record in (1, 2, 3)] == [False, True, True]


def test_how_long_a_read_takes() -> None:
    """Two pages in two dies, 50 ns each; 10 ns on the link; 7 ns more."""
    devices = Devices(FIGURES, 2)
    assert devices.read(0, 0) == 50 + 10 + 7  # device 0, dies 0 and 1
    assert devices.read(1, 0) == 67  # device 1
    assert devices.read(2, 0) == 2 * 50 + 10 + 7  # device 0, dies 2 and 0
    assert devices.read(4, 0) == 2 * 50 + 10 + 7  # device 0, dies 1 and 2: both were taken once
    assert devices.read(6, 1000) == 1067


def l2arc_of(record: int, **stated: Any) -> L2arcTables:
    tables = pool(1 << 20, 1 << 15, record, cache={"drive": DEVICE, **stated}).tables().pool
    assert tables is not None
    assert tables.l2arc is not None
    return tables.l2arc


def test_figures_of_a_drive() -> None:
    """64 dies, four pages of 32 KiB, 6,800 MB/s, and 50 us a page as stated; a small record takes a whole page."""
    figures = l2arc_of(131_072, read="50 us").figures
    assert figures is not None
    assert (figures.dies, figures.pages, figures.sense_ns) == (64, 4, 50_000)
    drive = load_drive(DEVICE)
    assert isinstance(drive, Flash)
    assert figures.send_ns == math.ceil(131_072 * 1e9 / drive.interface_bytes_per_s)
    assert figures.send_ns == pytest.approx(131_072 / 6.8, rel=0.005)
    assert figures.latency_ns == drive.read_overhead_ns + drive.read_latency_ns
    small = l2arc_of(4096, read="50 us").figures
    assert small is not None
    assert (small.pages, small.send_ns) == (1, drive.read_overhead_ns)


def test_a_drive_has_no_figures() -> None:
    tables = l2arc_of(131_072)
    assert tables.figures is None
    assert (tables.devices, tables.slots) == (1, 1_920_383_410_176 // 131_072)


@pytest.mark.parametrize("engine", ["simpy", "native"])
def test_a_record_is_read_as_from_its_drive(engine: Engine) -> None:
    """One after the other, of a device that has them all: what a hit takes is a read of the drive on its own."""
    array = pool(64, 4, 131_072)
    scenario, workload = resolve(array, 1), load(32, 131_072, clients=1)
    start = settled(scenario, workload, capacity_bytes=array.usable_bytes, seed=1, engine=native.run)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=200, seed=1)
    found = run_on(replace(scenario, start=start), requests, engine)
    took = found.completions.done_ns - found.completions.issue_ns
    alone = Array(DEVICE, "jbod", 1)
    read = run_on(resolve(alone, 1), workload.requests(capacity_bytes=alone.usable_bytes, n=200, seed=1), engine)
    expected = read.completions.done_ns - read.completions.issue_ns
    assert np.median(took) == np.median(expected)


def test_headers_take_room_of_the_arc_and_limit_the_l2arc() -> None:
    array = Array(POOL)
    read = array.front_controller.read_cache
    assert read is not None
    left = (64 << 30) - 96 * array.l2arc_slots
    assert read.size_bytes == left // 131_072 * 131_072
    small = Array(f"2x6 generic-7k2 raidz2, record 8KiB, 16GiB read cache, cache on 2x {DEVICE}")
    assert small.l2arc_slots == int((16 << 30) * 0.33) // 96 < 2 * 1_920_383_410_176 // 8192
    result = simulate(small, load(1000, 8192, clients=1), n_requests=300, profile_draws=0, start="empty")
    assert any(
        "headers of their records take" in message and "only 484 GB are used" in message for message in result.messages
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"2x6 generic-7k2 raidz2, cache on {DEVICE}", 'add the size of the ARC, for example "64GiB read cache"'),
        (f"8x generic-7k2 raid6, cache on {DEVICE}", "belongs to pools of OpenZFS"),
        ("2x6 generic-7k2 raidz2, 1GiB read cache, cache on wd-ultrastar-hc620", "zones that the host writes in order"),
        (f"2x6 generic-7k2 raidz2, 128KiB read cache, cache on {DEVICE}", "has no room for a record"),
    ],
)
def test_what_cannot_have_a_cache_device(words: str, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Array(words)


def test_words_and_tables_describe_the_same() -> None:
    words = Array(f"2x6 generic-7k2 raidz2, 1GiB read cache, cache on 2x {DEVICE}")
    layout = {"level": "raidz2", "disks": 12, "vdevs": 2, "cache": {"drive": DEVICE, "count": 2}}
    fields = {"drive": "generic-7k2", "layout": layout, "controller": {"read_cache": {"size": "1 GiB"}}}
    assert Array.parse(fields).layout == words.layout
    assert words.layout.cache is not None
    assert words.layout.cache.all_bytes == 2 * 1_920_383_410_176
    with_size = Array.parse({**fields, "layout": {**layout, "cache": {"drive": DEVICE, "size": "100 GB"}}})
    assert with_size.layout.cache is not None
    assert with_size.layout.cache.size_bytes == 10**11
    assert Array.parse({**fields, "layout": {**layout, "cache": "none"}}).layout.cache is None


def test_hits_of_uniform_reads() -> None:
    """A record is in the ARC with the share of the data that fits, and on the L2ARC with its share, in it or not."""
    array, workload = pool(3_000, 1_000), load(10_000, clients=8)
    found = run(array, workload, 6_000)
    assert found.completions.is_hit.mean() == pytest.approx(0.1, abs=0.02)
    assert found.l2_hit_ratio == pytest.approx(0.3, abs=0.03)


def test_more_records_than_the_past_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_ROWS", 4_000)
    found = run(pool(60_000, 1_000, 131_072), load(100_000, 131_072, clients=8), 4_000)
    assert found.l2_hit_ratio == pytest.approx(0.6, abs=0.03)


def test_all_records_that_fit_are_there() -> None:
    assert run(pool(12_000, 500), load(10_000, clients=8), 4_000).l2_hit_ratio == 1.0


def test_hits_of_popular_records() -> None:
    """As an L2ARC that is fed with all that an ARC evicts, worked out here from the requests alone."""
    workload = load(20_000, 131_072, clients=8, addresses={"pattern": "zipf", "theta": 0.9})
    found = run(pool(3_000, 1_500, 131_072), workload, 6_000)
    requests = workload.requests(capacity_bytes=20_000 * 131_072, n=60_000, seed=9)
    arc, l2arc, hits, misses = ZfsArc(1_500), OrderedDict[int, None](), 0, 0
    for number, record in enumerate((requests.offset // 131_072).tolist()):
        if number >= 40_000 and record not in arc:
            hits, misses = hits + (record in l2arc), misses + (record not in l2arc)
        evicted = arc.insert(record)
        if evicted is not None and evicted not in l2arc:
            l2arc[evicted] = None
            if len(l2arc) > 3_000:
                l2arc.popitem(last=False)
    assert found.l2_hit_ratio == pytest.approx(hits / (hits + misses), abs=0.04)


@pytest.mark.parametrize("rate", [150.0, 900.0])
def test_writes_make_a_full_l2arc_less_useful(rate: float) -> None:
    """An L2ARC of N of R records goes round in T = N / f; a record that is written w times a second lasts for a share
    (1 - e^-wT) / wT of that. It is fed with what comes new, at most 160 records of 1 MiB a second (rule X27)."""
    n_all, slots, n_arc, written = 20_000, 6_000, 1_500, 0.3
    found = run(pool(slots, n_arc), load(n_all, rate_per_s=rate, read_ratio=1 - written), 8_000)
    entering, each_s = rate * (1 - n_arc / n_all), rate * written / n_all
    share = slots / n_all
    for _ in range(50):
        of_new = written + (1 - written) * (1 - share)
        turn_s = slots / min(entering * of_new, 160)
        share = slots / n_all * -math.expm1(-each_s * turn_s) / (each_s * turn_s)
    assert share < 0.29
    assert found.l2_hit_ratio == pytest.approx(share, abs=0.035)


@pytest.mark.parametrize(
    ("arc", "slots", "theta"), [(400, 4_000, 0.8), (400, 60_000, 0.8), (1_500, 4_000, 0.8), (1_500, 60_000, 0.0)]
)
def test_a_short_run_has_the_hits_of_a_long_one(arc: int, slots: int, theta: float) -> None:
    """Records come onto the L2ARC, are written and make room before a run as they do in it.

    What is on the ring does not depend on the disks: hard disks are simulated faster than the pages of flash.
    Feeds look at all of an ARC of 400 records of 1 MiB; 60,000 slots are more than there are records, and fill up with
    what was written.
    """
    addresses = {"addresses": {"pattern": "zipf", "theta": theta}} if theta else {}
    workload = load(20_000, rate_per_s=100.0, read_ratio=0.7, **addresses)
    short, long = (run(pool(slots, arc, drive="generic-7k2"), workload, n) for n in (6_000, 80_000))
    assert short.l2_hit_ratio == pytest.approx(long.l2_hit_ratio, abs=0.025)
    assert long.l2_hit_ratio < 0.995


def test_flushes_alone_leave_a_l2arc_empty() -> None:
    flushes = Workload.parse({"streams": [{"kind": "flushes", "rate": "20/s"}]})
    result = simulate(pool(300, 100), flushes, n_requests=200, profile_draws=0)
    assert result.n_requests == 200


def test_both_engines_and_the_messages() -> None:
    array, workload = pool(300, 100), load(1_000, clients=4)
    native_run, simpy = (
        simulate(array, workload, n_requests=600, engine=engine, profile_draws=0) for engine in ("native", "simpy")
    )
    assert native_run.l2_hit_ratio == simpy.l2_hit_ratio > 0.1
    assert native_run.latency.mean_ns == simpy.latency.mean_ns
    assert native_run.to_dict()["l2_hit_ratio"] == native_run.l2_hit_ratio
    assert any("of devices that have long been in use: from empty it takes about" in one for one in native_run.messages)
    without = simulate(Array("2x2 generic-sas-ssd mirror"), workload, n_requests=300, profile_draws=0)
    assert without.to_dict()["l2_hit_ratio"] is None


def test_the_formula_counts_what_devices_have() -> None:
    arrays = (pool(3_000, 1_000), pool(1, 1_000))
    hits = [back_end(array, load(10_000, clients=1), n_sample=2_000).hit_share for array in arrays]
    assert hits[0] - hits[1] == pytest.approx(0.3, abs=0.05)


def test_a_title_names_vdevs_and_devices() -> None:
    words = f"2x6 generic-7k2 raidz2, 1GiB read cache, cache on {DEVICE}, log on {DEVICE}, special on 2x {DEVICE}"
    assert Array(words).title == "2 × 6 × Generic 7.2k rpm SATA, raidz2 with a log, a special vdev and a cache device"
    assert (
        Array(f"6x generic-7k2 raid5, journal on {DEVICE}").title == "6 × Generic 7.2k rpm SATA, raid5 with a journal"
    )
    assert Array("12x generic-7k2 raid6").title == "12 × Generic 7.2k rpm SATA, raid6"


def test_the_slowest_device_is_within_what_the_kernel_takes() -> None:
    """A record of 16 MiB from a device of 4 MB/s takes 4.2 s; a slower one is refused where it is described."""
    device: dict[str, Any] = {"size_bytes": 1 << 30, "page_bytes": 512, "dies": 1, "read_ns": 10**9}
    device |= {"command_ns": 10**9, "latency_ns": 10**9}
    pool = {"level": "raidz1", "disks": 3, "record_bytes": 16 << 20}

    def of(bytes_per_s: float) -> Array:
        layout = {**pool, "cache": {**device, "bytes_per_s": bytes_per_s}}
        return Array.parse(
            {"drive": "generic-7k2", "layout": layout, "controller": {"read_cache": {"size_bytes": 1 << 30}}}
        )

    load = Workload.parse({"size": "1 MiB", "rate": "5/s"})
    array = of(4e6)
    requests = load.requests(capacity_bytes=array.usable_bytes, n=5, seed=0)
    assert native.covers(resolve(array, 0), requests) is None
    assert native.run(resolve(array, 0), requests).end_ns > 0
    with pytest.raises(DescriptionError, match="bytes_per_s"):
        of(3e6)
