"""The engine of caches: what hits, what is written where, what waits for what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.analytic.cache import lru_hit_ratio, zipf_weights
from diskmodel.drive.cached.description import CachedVolume
from diskmodel.engine.cached.contents import FOREVER
from diskmodel.engine.cached.run import Simulation
from diskmodel.engine.cached.start import Held
from diskmodel.engine.cached.trial import steady
from diskmodel.engine.scenario import resolve
from diskmodel.errors import CoverageError
from diskmodel.records import READ

MIB = 1 << 20


def disk(iops: float, us: float = 100.0, capacity: str = "1 GiB") -> dict[str, Any]:
    """A volume with a limit and one latency."""
    time = f"{us} us"
    return {"kind": "cloud", "name": "volume", "capacity": capacity, "iops": iops, "read_p50": time, "read_p95": time,
            "bucket": "0 s", "exact": True}  # fmt: skip


def array(cache_mib: int = 8, behind: float = 1000, **fields: Any) -> Array:
    cache = {"drive": disk(100_000, 20), "size": f"{cache_mib} MiB"}
    drive = {"kind": "cached", "drive": disk(behind, 5000), "layout": {"level": "jbod", "disks": 1}, "cache": cache}
    return Array.parse({"drive": drive | fields, "layout": {"level": "jbod", "disks": 1}})


def load(**fields: Any) -> Workload:
    return Workload.parse({"size": "4 KiB", "queue_depth": 8, "span": "32 MiB", **fields})


def ran(of: Array, workload: Workload, n: int = 4000, *, is_steady: bool = True) -> Simulation:
    scenario = resolve(of, 0)
    held = steady(scenario, workload, capacity_bytes=of.usable_bytes, seed=0) if is_steady else None
    found = Simulation(scenario, workload.requests(capacity_bytes=of.usable_bytes, n=n, seed=0), held)
    found.run()
    return found


def held_of(of: Array, workload: Workload) -> Held:
    return steady(resolve(of, 0), workload, capacity_bytes=of.usable_bytes, seed=0)


ZIPF = {"pattern": "zipf", "theta": 0.8, "granule": "4 KiB"}


def test_hits_of_a_cache_of_what_was_used_last() -> None:
    """As Che's approximation of LRU over all units has it (rule J2)."""
    held = held_of(array(software="open-cas"), load(addresses=ZIPF))
    assert held.read_hits == pytest.approx(lru_hit_ratio(zipf_weights(8192, 0.8), 2048), abs=0.01)


@pytest.mark.parametrize("software", ["open-cas", "bcache"])
def test_a_cache_that_is_filled_comes_to_the_steady_hits(software: str) -> None:
    """Requests through an empty cache that counts its room end with the hits with which a steady one begins."""
    of, workload = array(software=software), load(addresses=ZIPF)
    filled = ran(of, workload, 16_000, is_steady=False)
    late = filled.is_hit[8000:].mean()
    began = ran(of, workload, 4000)
    assert began.n_read_hits / began.n_reads == pytest.approx(late, abs=0.05)


@pytest.mark.parametrize("software", ["bcache", "open-cas", "dm-writecache"])
def test_a_cache_full_of_what_is_dirty_comes_to_the_steady_hits(software: str) -> None:
    """What is dirty takes room from what is read, and leaves when it has been cleaned (rules J3 and J6)."""
    hot = {"pattern": "hot_spot", "access_ratio": 0.7, "space_ratio": 0.1}
    of = array(software=software, mode="writeback", behind=300)
    workload = load(addresses=hot, read_ratio=0.3, queue_depth=64, span="128 MiB")
    filled = ran(of, workload, 16_000, is_steady=False)
    late = filled.is_hit[8000:][filled.requests.op[8000:] == READ].mean()
    began = ran(of, workload, 3000)
    assert began.n_read_hits / began.n_reads == pytest.approx(late, abs=0.06)


def test_a_sweep_never_stays_where_it_is() -> None:
    """Few places stand for many of what is seldom written: cleaning goes on between them (rule J12)."""
    hot = {"pattern": "hot_spot", "access_ratio": 0.9, "space_ratio": 0.01}
    places = held_of(array(mode="writeback"), load(addresses=hot, read_ratio=0.5, span="1 GiB")).places
    steps = np.diff(places[places > 0.02 * (1 << 30)])
    # the last stands for what lies beyond it, too
    assert (steps > 0).mean() > 0.99


def test_what_fits_hits_and_an_empty_cache_is_warm_after_a_while() -> None:
    held = held_of(array(64), load())
    assert (held.stay.requests, held.read_hits) == (FOREVER, pytest.approx(1.0))
    # of 8,192 units with equal chances 95 % have been asked for after 3 times as many requests
    assert held.warm_requests == pytest.approx(3.0 * 8192, rel=0.01)


def test_blocks_that_are_used_often_stay() -> None:
    """What takes an eighth of what misses keeps more of the popular than what takes all."""
    hot = {"pattern": "hot_spot", "access_ratio": 0.5, "space_ratio": 0.15}
    recent = held_of(array(software="open-cas"), load(addresses=hot))
    popular = held_of(array(software="dm-cache", unit="4 KiB"), load(addresses=hot))
    assert popular.read_hits > recent.read_hits + 0.05


def test_a_write_that_must_be_safe_is_two_writes_of_the_cache() -> None:
    """Data, then a commit; and a flush of the array behind at the same time (rules J10 and J11)."""
    of = array(64, software="bcache", mode="writeback", dirty="90%")
    found = ran(of, load(read_ratio=0.0, queue_depth=1, sync="fdatasync"), 500)
    counters = found._arrays.counters(0)
    assert counters["n_writes"][0] == pytest.approx(1000, rel=0.02)
    assert not found.n_cleaned
    assert found.outcome(found.now, 0.0).n_back_end == pytest.approx(1000, rel=0.02)
    took = (found.done_ns - found.issue_ns).mean()
    assert took == pytest.approx(2 * 20_000, rel=0.2)


def test_open_cas_writes_metadata_when_a_line_becomes_dirty() -> None:
    of, empty = array(64, software="open-cas", mode="writeback"), load(read_ratio=0.0, queue_depth=1)
    first = ran(of, empty, 500, is_steady=False)
    later = ran(of, empty, 500)
    assert first._arrays.counters(0)["n_writes"][0] == pytest.approx(1000, rel=0.05)
    assert later._arrays.counters(0)["n_writes"][0] == pytest.approx(500, rel=0.05)


def test_as_much_is_cleaned_as_becomes_dirty() -> None:
    of = array(mode="writeback")
    found = ran(of, load(read_ratio=0.5, queue_depth=1, think="20 ms", span="512 MiB"), 3000)
    assert found.n_cleaned == pytest.approx(found.n_dirtied, rel=0.05)
    assert found.dirty == pytest.approx(0.1 * 2048, abs=70)
    assert found.held is not None
    assert not found.held.is_full


def test_more_than_the_array_behind_takes_passes_by() -> None:
    """Writers that never wait are as fast as the array behind, whatever the cache takes in a burst (rule J6)."""
    of, writers = array(mode="writeback"), load(read_ratio=0.0, queue_depth=32, span="1 GiB")
    lasting = simulate(of, writers, n_requests=4000, profile_draws=0)
    burst = simulate(of, writers, n_requests=1000, profile_draws=0, start="empty")
    assert lasting.iops.mean == pytest.approx(1000, rel=0.1)
    assert burst.iops.mean > 20 * lasting.iops.mean
    assert any("70% of the cache is dirty" in message for message in lasting.messages)


def test_all_that_is_written_stays_dirty_where_it_fits() -> None:
    """No write then waits for the array behind, which takes less than is written (rule J6)."""
    of, writers = array(64, mode="writeback", dirty="1%"), load(read_ratio=0.0, queue_depth=32, span="16 MiB")
    lasting = simulate(of, writers, n_requests=4000, profile_draws=0)
    assert lasting.iops.mean > 20 * 1000
    (said,) = (message for message in lasting.messages if "stay dirty" in message)
    assert "all 0.0168 GB that are ever written stay dirty, 25% of the cache" in said


def test_writers_wait_for_room_where_nothing_passes_by() -> None:
    of = array(software="open-cas", mode="writeback")
    found = simulate(of, load(read_ratio=0.0, queue_depth=32, span="1 GiB"), n_requests=3000, profile_draws=0)
    assert found.iops.mean == pytest.approx(1000, rel=0.15)


def test_written_through_a_write_waits_for_the_array() -> None:
    of = array(64)
    found = ran(of, load(read_ratio=0.0, queue_depth=1), 300)
    assert (found.done_ns - found.issue_ns).mean() == pytest.approx(5_000_000, rel=0.05)
    assert found._arrays.counters(0)["n_writes"][0] >= 300


def test_written_around_what_is_written_is_forgotten() -> None:
    around = held_of(array(64, mode="writearound"), load(read_ratio=0.5))
    assert around.read_hits == pytest.approx(0.5, abs=0.02)


def test_long_runs_in_order_pass_by() -> None:
    of = array(64)
    found = ran(of, load(size="256 KiB", addresses="sequential", span="512 MiB", queue_depth=1), 200)
    assert found.n_bypassed >= 180
    assert not found.n_read_hits


def test_seeds_differ_and_repeat() -> None:
    of, workload = array(), load(addresses=ZIPF)
    one, same, other = (simulate(of, workload, n_requests=500, seed=seed, profile_draws=0) for seed in (1, 1, 2))
    assert np.array_equal(one.run.completions.done_ns, same.run.completions.done_ns)
    assert one.iops.mean != other.iops.mean


def test_what_is_not_modeled_before_a_cache_is_refused() -> None:
    with pytest.raises(CoverageError, match="engine of their own"):
        simulate(array(), load(), engine="simpy", n_requests=100)
    commits = Workload.parse({"kind": "commits", "record": "300 B", "clients": 2})
    with pytest.raises(CoverageError, match="a log of commits"):
        simulate(array(), commits, n_requests=100)


@pytest.mark.parametrize(("slowness", "times"), [((0.3, 0.0), 1.35), ((0.0, 0.3), 1.0)])
def test_draws_make_the_array_behind_or_the_cache_slower(slowness: tuple[float, float], times: float) -> None:
    """What waits for the array behind is slower with it, and not with the cache."""
    drive = array(64).drive
    assert isinstance(drive, CachedVolume)
    assert (drive.spread_class, sorted(drive.quantities)) == ("cached", ["flash_read_time", "flash_write_latency"])
    moved, writes = drive.model_copy(update={"slowness": slowness}), load(read_ratio=0.0, queue_depth=1)
    found = ran(Array(drive=moved, layout={"level": "jbod", "disks": 1}), writes, 200)
    assert (found.done_ns - found.issue_ns).mean() == pytest.approx(5_000_000 * times, rel=0.03)


def test_what_a_cache_holds_at_first_can_be_said() -> None:
    """Uniform reads of 32 MiB hit a cache of 8 MiB a quarter of the time; a cold one of so few requests hardly ever."""
    reads = load(read_ratio=1.0)
    hits = {warm: ran(array(warm_ratio=warm), reads, 1000).is_hit.mean() for warm in (1.0, 0.5, 0.0)}
    assert hits[1.0] == pytest.approx(0.25, abs=0.05)
    assert hits[0.5] == pytest.approx(0.125 + hits[0.0], abs=0.05)
    assert hits[0.0] < 0.1
    writes = load(read_ratio=0.0)
    mode = {"mode": "writeback"}
    full, room = (held_of(array(is_dirty=said, **mode), writes) for said in (True, False))
    assert full.is_full
    assert not room.is_full
    assert full.dirty_units > 5 * room.dirty_units
    assert held_of(array(warm_ratio=0.5, **mode), writes).dirty_units == pytest.approx(room.dirty_units / 2)


def test_a_cache_that_is_lost_does_nothing() -> None:
    found = ran(array(mode="none"), load(read_ratio=0.5, sync="fdatasync"), 500)
    assert found.writes_of(0) == 0
    assert not found.is_hit.any()
    assert found.writes_of(1) == pytest.approx(250, abs=50)


@pytest.mark.parametrize(("software", "is_in_order"), [("bcache", True), ("dm-writecache", False)])
def test_where_what_is_cleaned_lies(software: str, is_in_order: bool) -> None:
    """bcache sweeps; dm-writecache writes back what was written longest ago, which may lie anywhere."""
    of = Array(f"2x generic-7k2 raid1, cached by 1x samsung-pm893-960 ({software} writeback)")
    held = held_of(of, Workload.parse({"size": "4 KiB", "read_ratio": 0, "rate": "20/s"}))
    program = Simulation(resolve(of, 0), load().requests(capacity_bytes=of.usable_bytes, n=1, seed=0), held)
    program.dirty = 2 * held.target_units
    places = np.array([program._next_dirty()[0] for _ in range(200)])
    assert (np.sum(np.diff(places) > 0) > 190) == is_in_order


def test_random_writes_through_dm_writecache_are_no_faster_than_disks_write_them() -> None:
    """In order of place eight disks would take 10,000 a second, as SSDs do; from anywhere they take some hundreds."""
    writes = Workload.parse({"size": "4 KiB", "read_ratio": 0, "clients": 64})
    of = Array("8x generic-7k2 raid10, cached by 2x samsung-pm893-960 raid1 (dm-writecache)")
    found = simulate(of, writes, n_requests=3000, profile_draws=0)
    assert found.iops.mean < 4 * 400  # pairs, and what a queue of 32 in order of place gives one at most
