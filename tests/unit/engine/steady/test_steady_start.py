"""The state in which a run begins: what is drawn, how it is loaded, and what it does to the answer (rules Z1 to Z9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady import settled, steady
from diskmodel.engine.steady.drives.buffered import by_disk, staggered
from diskmodel.engine.steady.past.history import History, most_recent, waiting_in_round
from diskmodel.engine.steady.start import Level, Start
from diskmodel.engine.steady.steady import filled
from diskmodel.errors import DescriptionError
from diskmodel.layout.written import Written
from diskmodel.records import Op, Requests, Run
from diskmodel.workload import TraceWorkload, Workload
from tests.unit.engine.steady.starting import start_of

DISK: dict[str, Any] = {"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}}
WRITES: dict[str, Any] = {"size": "4 KiB", "read_ratio": 0.0, "clients": 1}
RAID5: dict[str, Any] = {"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 8, "strip": "64 KiB"}}
S = 1_000_000_000
MIXED: dict[str, Any] = {"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"}


def cached(size: str, **more: object) -> Array:
    return Array.parse(RAID5 | {"controller": {"write_cache": {"size": size, "line": "4 KiB", **more}}})


# ---------------------------------------------------------------------- levels without a trial
@pytest.mark.parametrize("sync", ["fdatasync", "fsync", "dsync"])
def test_buffers_hold_little_where_a_flush_follows_each_write(sync: str) -> None:
    """Even in an overload, of which a trial with full buffers would flush them for minutes."""
    array = Array.parse(RAID5)
    workload = Workload.parse({"streams": [WRITES | {"sync": sync}]})

    def no_trial(scenario: Scenario, requests: Requests) -> Run:
        raise AssertionError("a trial was made")

    scenario = resolve(array, 1)
    start = settled(scenario, workload, capacity_bytes=array.usable_bytes, seed=1, engine=no_trial)
    assert start.levels is not None
    assert start.levels.drives is Level.LOW


# ---------------------------------------------------------------------- what is drawn
def test_the_most_recent_blocks_by_hand() -> None:
    assert most_recent(np.array([5, 3, 5, 7, 3, 9]), 3).tolist() == [7, 3, 9]


def test_a_sweep_behind_one_sequential_writer_leaves_its_last_blocks() -> None:
    assert waiting_in_round(np.arange(1000), 100)[0].tolist() == list(range(900, 1000))


def test_a_sweep_leaves_the_more_of_a_sequential_writer_the_sooner_it_comes_by() -> None:
    """Four writers in turn; the sweep is about to reach the first and has just been at the last."""
    uses = (np.arange(1000)[:, None] + np.array([0, 10_000, 20_000, 30_000])).ravel()
    waiting, _ = waiting_in_round(uses, 1000)
    of_writer = [waiting[waiting // 10_000 == i] % 10_000 for i in range(4)]
    assert all(own.tolist() == list(range(1000 - len(own), 1000)) for own in of_writer)
    # a writer at the share x of the places has written for 1 - x of a round since the sweep was there
    assert [len(own) for own in of_writer] == pytest.approx([500, 333, 167, 0], abs=1)


def test_random_blocks_thin_out_behind_the_sweep() -> None:
    """The share `x` ahead of the sweep waits with density 2 (1 - x): a quarter has 7/16 of the blocks."""
    rng = np.random.default_rng(5)
    waiting, _ = waiting_in_round(rng.integers(0, 1 << 40, 40_000), 20_000)
    assert len(waiting) == 20_000
    assert np.mean(waiting < 1 << 38) == pytest.approx(7 / 16, abs=0.015)


def test_every_lane_has_a_sweep_of_its_own() -> None:
    """In each of two lanes a quarter ahead of its own sweep has 7/16 of the blocks."""
    rng = np.random.default_rng(5)
    uses = rng.integers(0, 1 << 40, 40_000)
    lane = uses >> 39
    waiting, _ = waiting_in_round(uses, 20_000, lane)
    for low in (0, 1 << 39):
        own = waiting[(waiting >= low) & (waiting < low + (1 << 39))] - low
        assert len(own) == pytest.approx(10_000, rel=0.05)
        assert np.mean(own < 1 << 37) == pytest.approx(7 / 16, abs=0.02)


def test_no_lane_of_a_sequential_writer_seems_ahead_of_another() -> None:
    """One writer goes through all lanes, 16 blocks in each: its last blocks wait in all of them alike."""
    uses = np.arange(6400)
    waiting, _ = waiting_in_round(uses, 1600, uses // 16 % 4)
    assert waiting.tolist() == list(range(4800, 6400))


def test_the_past_of_a_sequential_stream_ends_where_the_run_begins() -> None:
    load = {"size": ["4 KiB", "16 KiB"], "clients": 3, "addresses": {"pattern": "sequential", "n_readers": 3}}
    workload = Workload.parse(load)
    past = workload.past(capacity_bytes=10**9, n=300, seed=4, n_before=300)
    first = workload.requests(capacity_bytes=10**9, n=3, seed=4, n_before=300).offset
    assert (past.offset + past.length)[-3:].tolist() == first.tolist()
    # no reader has come round from the end of the region
    assert all((np.diff(past.offset[k::3]) > 0).all() for k in range(3))


def test_a_past_that_is_longer_than_the_region_comes_round_from_its_end() -> None:
    workload = Workload.parse({"size": "16 KiB", "clients": 1, "addresses": "sequential"})
    past = workload.past(capacity_bytes=1 << 20, n=10, seed=4, n_before=0)
    assert past.offset.tolist() == [(54 + k) * 16384 for k in range(10)]


def test_the_past_of_strides_ends_where_the_run_begins() -> None:
    load = {"size": "4 KiB", "clients": 1, "addresses": {"pattern": "strided", "stride": "1 MiB"}}
    workload = Workload.parse(load)
    past = workload.past(capacity_bytes=10**9, n=50, seed=4, n_before=50)
    first = workload.requests(capacity_bytes=10**9, n=3, seed=4, n_before=50).offset
    assert np.diff(np.concatenate([past.offset, first])).tolist() == [1 << 20] * 52


@pytest.mark.parametrize(("addresses", "moves"), [({"n_readers": 3}, True), ({"mean_run": 8}, False)])
def test_what_came_before_moves_only_streams_that_go_through_in_order(addresses: dict[str, Any], moves: bool) -> None:
    stream = {"size": "16 KiB", "clients": 1, "weight": 1, "addresses": {"pattern": "sequential"} | addresses}
    workload = Workload.parse({"streams": [stream, MIXED | {"weight": 1}]})
    here, later = (workload.requests(capacity_bytes=10**9, n=40, seed=4, n_before=n) for n in (0, 600))
    moved = (later.offset - here.offset).reshape(20, 2)
    # half of the requests came from the first stream
    assert (moved == [100 * 16384 * moves, 0]).all()


ZIPF: dict[str, Any] = {"size": "4 KiB", "read_ratio": 0.5, "rate": "200/s", "addresses": {"pattern": "zipf"}}


@pytest.mark.parametrize(
    ("load", "is_shared"),
    [
        (MIXED | {"span": "200 GB"}, True),
        ({"streams": [ZIPF | {"offset": "10 GB", "span": "50 GB"}, MIXED | {"span": "1 GB"}]}, True),
        (MIXED, False),
        (MIXED | {"span": "50%"}, False),
        (MIXED | {"offset": "10%", "span": "100 GB"}, False),
        (MIXED | {"span": "200 GB", "addresses": "sequential"}, False),
    ],
)
def test_arrays_with_the_same_region_share_their_past(load: dict[str, Any], is_shared: bool) -> None:
    workload = Workload.parse(load)
    small, large = (History(workload, n * 10**12, 4, 100 * n) for n in (2, 9))
    assert (small.shared == large.shared) is is_shared
    for history in (small, large):
        ours, shared = history.uses(5000, 4096), history.shared.uses(5000, 4096)
        assert ours.tolist() == shared.tolist()


def test_the_past_has_draws_of_its_own() -> None:
    workload = Workload.parse(MIXED)
    past = workload.past(capacity_bytes=10**12, n=4000, seed=4)
    rows = workload.requests(capacity_bytes=10**12, n=4000, seed=4)
    assert len(np.intersect1d(past.offset, rows.offset)) < 5
    assert np.mean(past.op == Op.READ) == pytest.approx(0.7, abs=0.03)


def test_a_region_that_fits_is_cached_whole() -> None:
    array = Array.parse(DISK | {"controller": {"read_cache": {"size": "16 MiB"}}})
    start = start_of(array, Workload.parse({"size": "4 KiB", "clients": 1, "span": "8 MiB"}))
    assert np.unique(start.cached).tolist() == list(range(2048))


# ---------------------------------------------------------------------- levels
def test_a_closed_writer_fills_the_drives_buffer() -> None:
    start = start_of(Array.parse(DISK), Workload.parse(WRITES))
    assert start.buffered[:, 2].sum() * 512 == 32 << 20


@pytest.mark.parametrize(("level", "disks"), [("raid1", 2), ("raid10", 4)])
def test_a_closed_writer_fills_the_buffers_of_what_is_left_of_a_mirror(level: str, disks: int) -> None:
    """A mirror without a disk wrote 43 times too fast, as its other disk began with room."""
    array = Array.parse(DISK | {"layout": {"level": level, "disks": disks, "failed": [0]}, "drive_write_cache": True})
    filled_sectors = np.bincount(*start_of(array, Workload.parse(WRITES)).buffered[:, [0, 2]].T, minlength=disks)
    assert filled_sectors.tolist() == [0, *[(32 << 20) // 512] * (disks - 1)]


def test_a_load_that_is_written_in_idle_time_leaves_the_drives_buffer_empty() -> None:
    start = start_of(Array.parse(DISK), Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "40/s"}))
    assert len(start.buffered) == 0


def test_few_writes_leave_buffers_empty_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of rare requests beside a rebuild went through hours of it, a second each."""
    layout = {"level": "raid5", "disks": 5}
    array = Array.parse({"drive": "generic-7k2", "drive_write_cache": True, "layout": layout})
    rare = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "rate": "3/s"})
    in_order = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "rate": "3/s", "addresses": "sequential"})
    with monkeypatch.context() as patched:
        patched.setattr(steady, "_HARDLY", 0.0)
        tried = start_of(array, rare)
    monkeypatch.setattr(steady._Trials, "_tried", lambda *_: pytest.fail("tried"))
    found = start_of(array, rare)
    assert (found.levels, found.n_before) == (tried.levels, tried.n_before)
    assert not len(found.buffered)
    for other in (rare.scaled(10), in_order):  # that lies on one disk for a while
        with pytest.raises(pytest.fail.Exception):
            start_of(array, other)


FLASH: dict[str, Any] = {"drive": "samsung-pm893-960", "layout": {"level": "jbod", "disks": 1}}


def test_a_buffer_that_is_emptied_slowly_begins_empty() -> None:
    """Half of it would take hours to go, although no more comes than is written: requests waited minutes behind it."""
    array = Array.parse({"drive": "generic-7k2", "drive_write_cache": True, "layout": {"level": "raid6", "disks": 10}})
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.3, "rate": "300/s"})
    assert not len(start_of(array, load).buffered)
    result = simulate(array, load, n_requests=120_000, profile_draws=0)
    assert result.latency.mean_ns == pytest.approx(0.30 * S, rel=0.1)  # as in half a million requests


def test_a_controllers_cache_does_not_fill_because_full_buffers_behind_it_are_emptied() -> None:
    array = Array.parse(
        {
            "drive": "generic-5k4",
            "drive_write_cache": True,
            "layout": {"level": "raid5", "disks": 12},
            "controller": {"write_cache": {"size": "256 MiB", "line": "4 KiB"}},
        }
    )
    zipf = {"pattern": "zipf", "theta": 0.92, "granule": "64 KiB"}
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "rate": "786/s", "span": "800 GB", "addresses": zipf})
    start = start_of(array, load, seed=753)
    assert (len(start.buffered), len(start.dirty)) == (0, (128 << 20) // 4096)
    result = simulate(array, load, n_requests=30_000, seed=753, profile_draws=0)
    assert result.latency.quantiles_ns["p99"] == pytest.approx(0.047 * S, rel=0.15)  # as in half a million requests


def test_a_closed_writer_fills_a_flash_drives_buffer() -> None:
    """1,024 units of 4 KiB, but for the 7 of a page of 8 that may be begun already."""
    array = Array.parse(FLASH)
    start = start_of(array, Workload.parse(WRITES | {"clients": 4}))
    assert start.buffered[:, 2].sum() * 512 == (1024 - 7) * 4096
    # four blocks of 256 units before that, and a quarter more than is needed of everything
    assert start.programmed[:, 2].sum() * 512 >= 1024 * 4096
    assert not len(start_of(array, Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "20000/s"})).buffered)


def test_fresh_flash_has_programmed_the_page_that_it_fills() -> None:
    """Two pages of 8 units, less up to one: large aligned writes begin anywhere on a page, as on a drive in use."""
    fresh = load_drive("samsung-pm893-960").to_dict() | {"state": "fresh"}
    array = Array.parse({"drive": fresh, "layout": {"level": "raid0", "disks": 8}})
    start = start_of(array, Workload.parse({"size": "32 KiB", "read_ratio": 0.0, "clients": 4}))
    n_units = np.bincount(start.programmed[:, 0], start.programmed[:, 2] // 8)
    assert (n_units > 0).all()
    assert len(set(n_units % 8)) >= 5
    assert not len(start.aged)


def test_data_that_are_only_read_lie_in_order() -> None:
    start = start_of(Array.parse(FLASH), Workload.parse({"size": "32 KiB", "clients": 4}))
    assert (start.piece_units, len(start.shifts), len(start.programmed)) == (0, 0, 0)


def test_the_last_writes_of_each_flash_drive_are_in_its_buffer() -> None:
    """Units of 8 sectors, room for three: disk 0 keeps its last two units, disk 1 the end of its last write."""
    writes = Written(np.array([0, 1, 0, 0]), np.array([80, 0, 8, 20]), np.array([8, 60, 8, 16]))
    programmed, buffered = by_disk(writes, 8, 24)
    assert programmed.tolist() == [[0, 80, 8], [0, 8, 8], [1, 0, 40]]
    assert buffered.tolist() == [[0, 20, 16], [1, 40, 20]]


def test_each_flash_drive_leaves_out_a_few_units_of_its_own() -> None:
    """Of 8 units on a page, disk 0 leaves out int(0.5 · 8) = 4, disk 1 int(0.118 · 8) = 0, 2 int(0.736 · 8) = 5."""
    rows = np.array([[0, 8, 16], [1, 0, 8], [2, 20, 44], [0, 40, 24], [2, 80, 8]])
    assert staggered(rows, 8, 8).tolist() == [[0, 56, 8], [1, 0, 8], [2, 56, 8], [2, 80, 8]]


def test_large_aligned_writes_to_flash_do_not_all_begin_at_the_beginning_of_a_page() -> None:
    layout = {"level": "raid10", "disks": 16, "strip": "64 KiB"}
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": layout})
    rows = start_of(array, Workload.parse({"size": "64 KiB", "read_ratio": 0.3, "rate": "20000/s"})).programmed
    begun = [int(rows[rows[:, 0] == disk, 2].sum()) // 8 % 8 for disk in range(16)]
    assert {begun.count(units) for units in range(8)} <= {1, 2, 3}


@pytest.mark.slow
def test_reads_of_mirrored_flash_do_not_depend_on_how_a_run_of_large_writes_began() -> None:
    """From steady and from full caches, and with two seeds: within 3 % of each other. Aligned pages gave 10 %."""
    array = Array.parse(
        {
            "drive": "micron-7450-pro-1920",
            "layout": {"level": "raid10", "disks": 16},
            "controller": {"write_cache": {"size": "1 GiB"}},
        }
    )
    workload = Workload.parse({"size": "64 KiB", "read_ratio": 0.7, "rate": "57520/s", "span": "220 GB"})

    def p95_ms(seed: int, *, is_full: bool) -> float:
        scenario = resolve(array, seed)
        capacity = array.usable_bytes
        begin = (
            filled(scenario, workload, capacity_bytes=capacity, seed=seed)
            if is_full
            else settled(scenario, workload, capacity_bytes=capacity, seed=seed, engine=run)
        )
        requests = workload.requests(capacity_bytes=capacity, n=400_000, seed=seed, n_before=begin.n_before)
        done = run(replace(scenario, start=begin), requests).completions
        return float(np.quantile((done.done_ns - done.issue_ns)[200_000:], 0.95)) / 1e6

    found = [p95_ms(seed, is_full=is_full) for seed in (792, 3_000_809) for is_full in (False, True)]
    assert max(found) < 1.03 * min(found)


@pytest.mark.parametrize(("size", "mib"), [("4 KiB", 2), ("16 KiB", 8), ("64 KiB", 32), ("256 KiB", 32)])
def test_a_line_holds_what_is_written_of_it(size: str, mib: float) -> None:
    """Half of 1,024 lines of 64 KiB wait; each has one random write of less, and a burst finds as much room."""
    load = Workload.parse({"size": size, "read_ratio": 0.5, "rate": "20/s", "span": "1 TB"})
    array = cached("64 MiB", line="64 KiB")
    assert len(np.unique(start_of(array, load).dirty // 16)) == 512
    burst = simulate(array, load, n_requests=4000).burst
    assert burst is not None
    assert burst.n_bytes == pytest.approx(mib * (1 << 20), rel=0.03)


def test_a_log_fills_the_lines_of_the_cache() -> None:
    log = {"size": "4 KiB", "read_ratio": 0.0, "rate": "500/s", "addresses": {"pattern": "sequential"}}
    assert len(start_of(cached("64 MiB", line="64 KiB"), Workload.parse(log)).dirty) == pytest.approx(8192, rel=0.01)


def test_the_controllers_cache_stands_at_its_mark_or_is_full() -> None:
    held = start_of(cached("64 MiB"), Workload.parse(MIXED))
    assert len(held.dirty) == 8192
    closed = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "clients": 16})
    assert len(start_of(cached("64 MiB"), closed).dirty) == 16384


def test_dirty_memory_is_low_at_its_mark_or_full() -> None:
    memory = {"memory": "64 MiB", "dirty_background_ratio": 0.25, "dirty_ratio": 0.5, "writeback_depth": 128}
    array = Array.parse(DISK | {"host": {"is_buffered": True, "page_cache": memory}})

    def pages(load: dict[str, Any], array: Array = array) -> int:
        workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "span": "200 GB"} | load)
        return len(start_of(array, workload).pages_dirty)

    # in waves, which begin with nothing; at its limit
    assert pages({"rate": "20/s"}) == 0
    assert pages({"clients": 4}) == 8192
    # as fast as a disk that buffers no writes: at the background threshold
    drive = load_drive("generic-7k2").to_dict()
    drive["cache"] |= {"write_back": False}
    through = Array.parse(DISK | {"drive": drive, "host": {"is_buffered": True, "page_cache": memory}})
    assert pages({"rate": "250/s"}, through) == 4096


STARTS: tuple[Literal["steady", "empty"], ...] = ("steady", "empty")
SMALL_WRITES: dict[str, Any] = {"size": "512 B", "read_ratio": 0.0, "span": "20 GB", "clients": 1}


def memory(**more: object) -> Array:
    cache = {"memory": "256 MiB", "dirty_expire": "6 s", "dirty_writeback": "1 s", **more}
    return Array.parse(DISK | {"drive": "generic-15k", "host": {"is_buffered": True, "page_cache": cache}})


def test_a_wave_is_as_long_as_memory_fills_and_drains() -> None:
    """300 pages a second fill memory for 6 s; the disk drains it at its own pace until nothing is dirty."""
    array, workload = memory(), Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "span": "20 GB", "rate": "200/s"})
    start = start_of(array, workload)
    result = simulate(array, workload, n_requests=20_000)
    assert start.round_requests == pytest.approx(result.run.round_requests, rel=0.15)
    dirty, clean = result.run.levels[:, 3] // 4096, result.run.levels[:, 3] < 100 * 4096
    assert dirty.max() == pytest.approx(6 * 200, rel=0.1)
    assert np.count_nonzero(clean[1:] & ~clean[:-1]) == pytest.approx(20_000 / result.run.round_requests, abs=1.5)
    assert result.window.n_rounds >= 2
    assert result.is_settled


def test_from_empty_the_long_run_is_the_same() -> None:
    """Where pages grew old one by one there were two long runs: evenly from an even start, in waves from empty."""
    array = memory()
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "span": "20 GB", "rate": "250/s"})
    runs = [simulate(array, workload, n_requests=60_000, start=start).responses_ns() for start in STARTS]
    p95 = [float(np.quantile(run[len(run) // 2 :], 0.95)) for run in runs]
    assert p95[0] == pytest.approx(p95[1], rel=0.05)


@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_what_begins_dirty_is_written_at_once(engine: Literal["native", "simpy"]) -> None:
    array = memory()
    scenario = replace(resolve(array, 0), start=Start(pages_dirty=np.array([70, 9])))
    requests = Workload.parse({"size": "4 KiB", "clients": 1}).requests(capacity_bytes=array.usable_bytes, n=20)
    done = run(scenario, requests, engine)
    assert done.end_ns < S
    assert done.devices.n_writes.tolist() == [2]


@pytest.mark.parametrize("more", [{"sync_every": 10}, {"is_synchronous": True}])
def test_a_program_that_syncs_begins_with_nothing_dirty(more: dict[str, object]) -> None:
    start = start_of(memory(**more), Workload.parse(SMALL_WRITES))
    assert not len(start.pages_dirty)
    assert len(start.pages_clean) == 65_536


def test_a_trace_begins_with_nothing() -> None:
    trace = TraceWorkload.from_arrays([0, 1000], [1, 1], [0, 8192], [4096, 4096])
    array = Array.parse(DISK)
    start = settled(resolve(array, 0), trace, capacity_bytes=array.usable_bytes, seed=0, engine=run)
    assert not start.n_before
    assert not start.round_requests
    assert not start.n_bytes
    assert "began empty" in simulate(array, trace).messages[-1]


# ---------------------------------------------------------------------- what it does
def test_one_disk_is_as_fast_from_the_first_request_on_as_in_the_long_run() -> None:
    """From empty the buffer takes 8,000 writes before the disk sets the pace."""
    array, workload = Array.parse(DISK), Workload.parse(WRITES)
    result = simulate(array, workload, n_requests=40_000)
    empty = simulate(array, workload, n_requests=60_000, start="empty")
    done = empty.run.completions.done_ns
    long_run = 40_000 / (done[-1] - done[20_000 - 1]) * 1e9
    assert result.iops.mean == pytest.approx(long_run, rel=0.03)
    assert simulate(array, workload, n_requests=8000, start="empty").iops.mean > 20 * long_run


@pytest.mark.parametrize("load", [{"clients": 32}, {"clients": 4}, {"clients": 32, "read_ratio": 0.7}])
def test_flash_is_as_fast_from_the_first_request_on_as_in_the_long_run(load: dict[str, Any]) -> None:
    """From empty the buffer takes 1,000 writes, and the first 250 of a drive cause no garbage collection."""
    array, workload = Array.parse(FLASH), Workload.parse(WRITES | load)
    short, long = (simulate(array, workload, n_requests=n) for n in (3000, 60_000))
    assert long.is_converged
    assert short.iops.mean == pytest.approx(long.iops.mean, rel=0.03)
    if not load.get("read_ratio"):
        assert simulate(array, workload, n_requests=1000, start="empty").iops.mean > 1.25 * long.iops.mean


def test_data_lie_as_the_workload_has_written_them() -> None:
    """In order, pages of 8 units would be read whole at first, and in halves once they have been written again."""
    array, workload = Array.parse(FLASH), Workload.parse({"size": "32 KiB", "read_ratio": 0.7, "clients": 16})
    start = start_of(array, workload)
    per_page = array.drive_tables().units_per_page
    assert (start.piece_units, len(start.shifts)) == (8, array.n_devices)
    assert all(0 <= shift < per_page for shift in start.shifts)
    in_order = [{"pattern": "sequential"}, {"pattern": "sequential", "mean_run": 64}]
    for addresses in in_order:
        assert start_of(array, Workload.parse(WRITES | {"clients": 4, "addresses": addresses})).piece_units == 0
    small_and_large = {
        "streams": [
            {"size": "4 KiB", "read_ratio": 0.0, "rate": "900/s"},
            {"size": "64 KiB", "read_ratio": 0.0, "rate": "10/s"},
        ]
    }
    assert start_of(array, Workload.parse(small_and_large)).piece_units == 1


@pytest.mark.slow
def test_reads_are_as_slow_from_the_first_request_on_as_in_the_long_run() -> None:
    """RAID 6 of NVMe drives under popular writes: p99 was 1.1 ms over 60,000 requests, and 3.6 ms over millions."""
    array = Array.from_words("15x micron-7450-pro-1920 raid6")
    addresses = {"pattern": "zipf", "theta": 0.89, "granule": "64 KiB"}
    load = {"size": "32 KiB", "read_ratio": 0.0, "clients": 38, "addresses": addresses, "span": "575 GB"}
    runs = [simulate(array, Workload.parse(load), n_requests=n, seed=3).responses_ns() for n in (60_000, 600_000)]
    mean = [run.mean() for run in runs]
    assert mean[0] == pytest.approx(mean[1], rel=0.01)
    beyond = [(run > 1.82e6).mean() for run in runs]
    assert beyond[0] == pytest.approx(beyond[1], rel=0.15)


def test_large_random_writes_begin_with_their_own_share_of_copies() -> None:
    """They leave blocks emptier than small ones do: from the state of small ones, drives would be busier at first."""
    load = {"size": "64 KiB", "read_ratio": 0.0, "rate": "1200/s"}
    array, workload = Array.parse(FLASH), Workload.parse(load)
    start = start_of(array, workload)
    assert len(start.aged) == 2 * array.drive_tables().ftl.model_units
    busy = [simulate(array, workload, n_requests=n).utilization_ratio for n in (3000, 30_000)]
    assert busy[0] == pytest.approx(busy[1], rel=0.04)


def test_an_array_of_flash_collects_garbage_from_the_first_write_on() -> None:
    """The writes of 1,500 requests do not fill one block of a drive's model: from empty, nothing is ever copied."""
    layout = {"level": "raid5", "disks": 8, "strip": "64 KiB"}
    array, workload = Array.parse(FLASH | {"layout": layout}), Workload.parse(MIXED | {"rate": "60000/s"})
    busy = [
        simulate(array, workload, n_requests=n, start=start).utilization_ratio
        for n, start in ((4000, "steady"), (60_000, "steady"), (1500, "empty"))
    ]
    assert busy[0] == pytest.approx(busy[1], rel=0.06)
    assert busy[2] < 0.4 * busy[1]


def test_a_flash_buffer_that_still_fills_is_not_settled() -> None:
    """Commands come a little faster than they are programmed: the buffer takes 200,000 of them."""
    full = {"write_buffer_bytes": 64 << 20, "write_latency_ns": 6_000}
    array = Array.parse(FLASH | {"drive": load_drive("intel-d7-p5500-7680").to_dict() | full})
    result = simulate(array, Workload.parse(WRITES), n_requests=40_000, start="empty")
    assert not result.is_converged
    assert "the drives' write buffers still fill" in result.messages[0]


@pytest.mark.parametrize("level", ["raid10", "raid5"])
def test_sequential_writes_are_as_fast_from_the_first_request_on(level: str) -> None:
    """A past at the inner end of the disks would cost a seek across all cylinders for each of the first writes.

    The drives take what comes first: others leave the sequence now and then, more often in a longer run.
    """
    layout = {"level": level, "disks": 4, "strip": "64 KiB"}
    drive = load_drive("generic-7k2").to_dict() | {"queue": {"depth": 32, "scheduler": "fcfs"}}
    array = Array.parse({"drive": drive, "layout": layout, "controller": {"write_cache": {"size": "64 MiB"}}})
    workload = Workload.parse({"size": "256 KiB", "read_ratio": 0.0, "clients": 4, "addresses": "sequential"})
    short, long = (simulate(array, workload, n_requests=n) for n in (500, 5000))
    assert short.run_iops.half_width < 0.05 * short.iops.mean
    assert short.iops.mean == pytest.approx(long.iops.mean, rel=0.01)


def test_a_run_of_any_length_has_the_same_requests() -> None:
    workload = Workload.parse({"size": "1 MiB", "read_ratio": 0.0, "clients": 4, "addresses": "sequential"})
    kept, folded = (simulate(Array.parse(DISK), workload, n_requests=300, keep=keep) for keep in ("all", "histogram"))
    assert kept.run.end_ns == folded.run.end_ns


def test_a_cache_of_any_size_sustains_what_its_disks_do() -> None:
    small, large = (simulate(cached(size), Workload.parse(MIXED), n_requests=60_000) for size in ("64 MiB", "1 GiB"))
    assert small.is_stable
    assert large.is_stable
    # the larger cache sorts more blocks: shorter seeks
    assert 1 < small.latency.mean_ns / large.latency.mean_ns < 1.6
    assert large.back_end_per_host == pytest.approx(0.7 + 0.3 * 4, abs=0.12)


def test_what_cannot_be_destaged_is_overloaded_from_the_first_answer_on() -> None:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.3, "rate": "1500/s"})
    assert not simulate(cached("1 GiB"), load).is_stable


def test_a_cache_that_fills_is_overloaded_before_it_is_full() -> None:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.3, "rate": "1500/s"})
    result = simulate(cached("128 MiB"), load, n_requests=25_000, start="empty")
    assert result.writes.n == result.run.completions.is_hit[result.window.rows].sum()
    assert not result.is_stable
    assert "the controller's write cache fills" in result.messages[0]


def test_the_engines_begin_alike() -> None:
    array = Array.parse(
        RAID5
        | {
            "controller": {"write_cache": {"size": "2 MiB"}, "read_cache": {"size": "4 MiB", "policy": "2q"}},
            "drive_write_cache": True,
        }
    )
    load = Workload.parse(MIXED | {"span": "100 MB"})
    native, simpy = (simulate(array, load, n_requests=400, engine=engine) for engine in ("native", "simpy"))
    assert np.array_equal(native.run.completions.done_ns, simpy.run.completions.done_ns)
    assert np.array_equal(native.run.levels, simpy.run.levels)


def test_the_engines_begin_alike_on_flash() -> None:
    array = Array.parse(FLASH | {"layout": {"level": "raid5", "disks": 4, "strip": "64 KiB"}})
    load = Workload.parse({"size": "6 KiB", "read_ratio": 0.2, "clients": 64, "alignment": "512 B"})
    native, simpy = (simulate(array, load, n_requests=600, engine=engine) for engine in ("native", "simpy"))
    assert native.run.levels[:, 2].min() > 0
    assert np.array_equal(native.run.completions.done_ns, simpy.run.completions.done_ns)
    assert np.array_equal(native.run.levels, simpy.run.levels)


def test_only_what_survives_a_power_cut_absorbs_writes_that_are_made_safe() -> None:
    disk = Array.parse({"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}})
    protected = disk.model_copy(update={"controller": cached("64 MiB").controller})
    light = {"size": "4 KiB", "read_ratio": 0.0, "rate": "20/s"}
    for array, durable in ((disk, False), (protected, True)):
        assert simulate(array, Workload.parse(light), n_requests=300, profile_draws=0).burst is not None
        safe = simulate(array, Workload.parse(light | {"sync": "fdatasync"}), n_requests=300, profile_draws=0).burst
        assert (safe is not None) is durable


def test_a_burst_has_the_room_above_the_mark() -> None:
    burst = simulate(cached("64 MiB"), Workload.parse(MIXED), n_requests=20_000).burst
    assert burst is not None
    assert burst.absorbed_by == "controller"
    assert burst.n_bytes == pytest.approx(32 << 20, rel=0.02)
    assert burst.n_requests == burst.n_bytes // 8192
    assert burst.response_ns == 30_000
    full = simulate(Array.parse(DISK), Workload.parse(WRITES), n_requests=20_000).burst
    assert full is not None
    assert full.n_requests < 100


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(DescriptionError, match="steady or empty"):
        simulate(Array.parse(DISK), Workload.parse(WRITES), start="warm")  # type: ignore[arg-type]


def test_history_is_bounded() -> None:
    history = History(Workload.parse(WRITES), 10**12, 0)
    assert len(history.uses(1 << 30, 4096)) == 1 << 21
    assert len(history.writes(1 << 50)[0]) == 1 << 21
    reads = History(Workload.parse({"size": "4 KiB", "clients": 1}), 10**12, 0)
    assert len(reads.uses(1000, 4096, only_writes=True)) == len(reads.writes(1000)[0]) == 0
