"""Drives with a media cache in both engines: rates in the long run, idle cleaning, and what a run begins with."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Result, Workload, simulate
from diskmodel.drive import load_drive
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.mechanics import Arm, Mechanics, Spindle
from diskmodel.drive.media_cache.log import MediaLog
from diskmodel.engine.run import draw_and_run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.drives import media_cache
from diskmodel.engine.steady.drives.media_cache import full_caches, maybe_adjacent
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.shared import steady_start
from diskmodel.errors import CoverageError

ARCHIVE = "seagate-archive-st8000as0002"
SINGLE = Array.from_words(f"1x {ARCHIVE}")
#: With a tenth of the map, for questions about a tenth of the drive.
CACHE = {"size": "2.5 GB", "band": "27.5 MiB", "max_extents": 25_000}
SMALL = Array.parse(SINGLE.to_dict() | {"drive": load_drive(ARCHIVE).to_dict() | {"media_cache": CACHE}})
TENTH = "800 GB"


def ran(array: Array, n: int = 3000, **load: object) -> Result:
    return simulate(array, Workload.parse({"size": "4 KiB", **load}), n_requests=n, profile_draws=0)


def tables() -> HddTables:
    found = load_drive(ARCHIVE).tables()
    assert isinstance(found, HddTables)
    return found


def cleaning_s(first: int, at: tuple[int, ...]) -> float:
    """Seconds for which the arm cleans the band with block `first`, with 4 KiB at these places of the log."""
    drive = tables()
    assert drive.media_cache is not None
    mechanics, spindle, arm, now = Mechanics(drive), Spindle(drive.revolution_ns, 0), Arm(), 0
    log = MediaLog(drive.media_cache, drive.n_sectors)
    for place in range(max(at) + 1):
        log.write(first + 8 * place if place in at else 10**9, 8, in_place=False)
    for op, lba, n in log.clean():
        access = mechanics.access(arm, spindle, op, lba, n, now)
        arm, now = Arm(access.cylinder, access.head), access.end_ns
    return now / 1e9


@pytest.mark.parametrize("place", [0.05, 0.5, 0.99])
def test_cleaning_a_band_takes_about_as_long_as_was_published(place: float) -> None:
    """Skylight found 0.6 to 1.6 s for bands of 15 to 40 MiB."""
    assert 0.45 < cleaning_s(int(place * tables().n_sectors), (0, 3)) < 1.6


@pytest.mark.slow
@pytest.mark.parametrize("span", [None, "1 TB"])
def test_random_writes_wait_for_cleanings_in_the_long_run(span: str | None) -> None:
    """Extents that a cleaning frees, over the time that it takes (`test_bands_are_cleaned_as_often…`)."""
    drive, limits = tables(), {} if span is None else {"span": span}
    assert drive.media_cache is not None
    share = 1.0 if span is None else 1e12 / load_drive(ARCHIVE).capacity_bytes
    per_band = drive.media_cache.max_extents / (share * drive.n_sectors / drive.media_cache.band_sectors)
    freed = per_band + math.sqrt((per_band - 1) ** 2 + 2 * per_band)
    # the extents lie all over their 1 GB of log: as many reads, about 8 ms each
    seconds = np.mean([cleaning_s(int(share * at * drive.n_sectors), (0, 9)) for at in np.arange(0.05, 1, 0.1)])
    found = ran(SINGLE, read_ratio=0.0, clients=32, **limits)
    assert found.is_settled
    assert found.iops.mean == pytest.approx(freed / (seconds + 0.008 * (freed - 2)), rel=0.1)


def test_a_few_random_writes_a_second_are_what_others_measured() -> None:
    """3/s (storj/storj#3854) and 1 to 20/s (a Toshiba of 3 TB, sami-lehtinen.net) were measured of full caches."""
    assert 1 < ran(SINGLE, read_ratio=0.0, clients=1).iops.mean < 20


def test_an_empty_cache_takes_random_writes_fast() -> None:
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 1})
    assert simulate(SMALL, load, n_requests=3000, profile_draws=0, start="empty").iops.mean > 100


def test_the_rate_falls_once_the_cache_is_full() -> None:
    """As of a zoned disk under dm-zoned: fast while the buffer lasts, then as fast as it is cleaned."""
    cache = CACHE | {"max_extents": 600}
    drive = load_drive(ARCHIVE).to_dict() | {"media_cache": cache, "cache": None}
    load = Workload.parse({"size": "64 KiB", "read_ratio": 0.0, "clients": 1, "span": TENTH})
    array = Array.parse(SINGLE.to_dict() | {"drive": drive})
    done_s = simulate(array, load, n_requests=900, profile_draws=0, start="empty").run.completions.done_ns / 1e9
    assert 600 / done_s[599] > 20 * 200 / (done_s[899] - done_s[699])


def test_sequential_writes_are_as_fast_as_without_shingles() -> None:
    load = {"size": "1 MiB", "read_ratio": 0.0, "clients": 2, "addresses": {"pattern": "sequential"}}
    plain = load_drive(ARCHIVE).to_dict() | {"recording": "conventional", "media_cache": None}
    other = ran(Array.parse(SINGLE.to_dict() | {"drive": plain}), **load)
    assert ran(SINGLE, **load).iops.mean == pytest.approx(other.iops.mean, rel=0.02)


@pytest.mark.parametrize(("rate", "is_full"), [("0.1/s", False), ("3/s", True)])
def test_a_cache_begins_empty_where_idle_time_is_enough(rate: str, is_full: bool) -> None:
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "rate": rate})
    start = steady_start(SMALL, load, resolve(SMALL, 0), 0)
    assert (len(start.logged) > 0) is is_full
    assert (start.cleaning_requests > 0) is is_full


@pytest.mark.parametrize(
    "load",
    [
        {"read_ratio": 0.99, "clients": 4},
        {"streams": [{"read_ratio": 0.99, "clients": 4, "size": "4 KiB"}, {"clients": 1, "size": "64 KiB"}]},
        {"read_ratio": 0.9, "clients": 4, "addresses": {"pattern": "reuse_walk"}},
    ],
)
def test_a_full_cache_is_full_however_few_requests_write(load: dict[str, Any]) -> None:
    workload = Workload.parse({"size": "4 KiB", **load} if "streams" not in load else load)
    start = steady_start(SMALL, workload, resolve(SMALL, 0), 0)
    assert len(start.logged) == pytest.approx(25_000, rel=0.01)
    assert 0 < start.cleaning_requests < 10_000


def test_a_small_region_stays_in_the_cache() -> None:
    """10,000 blocks fit into a map of 25,000: nothing has to be cleaned."""
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 4, "span_bytes": 10_000 * 4096})
    start = steady_start(SMALL, load, resolve(SMALL, 0), 0)
    assert len(start.logged) == pytest.approx(10_000, rel=0.01)
    assert start.cleaning_requests == 0
    assert ran(SMALL, read_ratio=0.0, clients=4, span_bytes=10_000 * 4096).iops.mean > 100


def test_a_run_that_sees_few_cleanings_has_not_settled_and_says_so() -> None:
    found = ran(SMALL, 300, read_ratio=0.99, clients=4)
    assert not found.is_settled
    assert any("saw too few cleanings" in line for line in found.messages)


def test_a_failed_disk_and_a_rebuild_change_nothing_about_what_is_in_the_caches() -> None:
    """They share one state, which takes seconds to find for a drive of usual size."""
    drive = tables()
    base = {"level": "raid6", "disks": 8, "strip": "64 KiB"}
    rebuilt = base | {"failed": [1], "spares": 1, "rebuild": {"done_ratio": 0.25}}
    history = History(Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "rate": "50/s"}), 10**12, 4)
    assert drive.media_cache is not None
    small = replace(drive, media_cache=drive.media_cache._replace(max_extents=2000))
    layouts = [resolve(Array.parse({"drive": ARCHIVE, "layout": layout}), 0).layout for layout in (base, rebuilt)]
    whole, other = (full_caches(history, layout, small) for layout in layouts)
    assert other is whole
    assert len(whole.writes)
    wider = resolve(Array.parse({"drive": ARCHIVE, "layout": base | {"disks": 9}}), 0).layout
    assert full_caches(history, wider, small) is not whole


def test_strips_of_a_sector_take_no_more_memory_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of 1 MiB has 2,048 of them, each with a parity strip."""
    drawn: list[int] = []

    def counted(*given: Any) -> Any:
        found = pieces_of(*given)
        drawn.append(len(found[1]))
        return found

    pieces_of = media_cache._pieces_of
    monkeypatch.setattr(media_cache, "_pieces_of", counted)
    monkeypatch.setattr(media_cache, "_MOST_PIECES", 200_000)
    array = Array.parse({"drive": ARCHIVE, "layout": {"level": "raid3", "disks": 5}})
    history = History(Workload.parse({"size": "1 MiB", "read_ratio": 0.0, "clients": 4}), 10**12, 5)
    full_caches(history, resolve(array, 0).layout, tables())
    assert 50_000 < max(drawn) < 250_000


def test_both_engines_begin_with_a_full_cache() -> None:
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.3, "clients": 3})
    native, simpy = (
        simulate(SMALL, load, n_requests=60, profile_draws=0, engine=engine).run for engine in ("native", "simpy")
    )
    assert np.array_equal(native.completions.done_ns, simpy.completions.done_ns)
    assert np.array_equal(native.levels, simpy.levels)


def test_an_overload_is_reported_as_such() -> None:
    found = ran(SMALL, read_ratio=0.5, rate="30/s", span=TENTH)
    assert not found.is_stable


def test_a_conventional_drive_with_a_full_media_cache_writes_in_place() -> None:
    drive = load_drive("wd-ultrastar-hc580").to_dict()
    cached = drive | {"media_cache": {"size": "20 GB", "max_extents": 50_000}}
    plain, full = (
        ran(Array.parse(SINGLE.to_dict() | {"drive": one}), read_ratio=0.0, clients=32) for one in (drive, cached)
    )
    assert full.iops.mean == pytest.approx(plain.iops.mean, rel=0.05)


@pytest.mark.parametrize(("n", "span"), [(0, 10), (1, 5), (5, 8), (400, 3000), (400, 1 << 40)])
def test_writes_beside_others_are_found(n: int, span: int) -> None:
    rng = np.random.default_rng(n)
    first = rng.integers(0, span, n)
    end = first + rng.integers(1, 9, n)
    begins, ends = set(first.tolist()), set(end.tolist())
    expected = {i for i in range(n) if end[i] in begins or first[i] in ends}
    found = maybe_adjacent(first, end).tolist()
    assert expected <= set(found)
    assert found == sorted(set(found))
    if span == 1 << 40:
        assert len(found) < n / 4, "random places are mostly left out"


def test_a_cache_that_is_full_of_sectors_is_a_start() -> None:
    """The last write of a full cache may reach beyond its end, as in a run (rule G6): large writes fill it first."""
    load = Workload.parse({"size": "1 MiB", "read_ratio": 0, "clients": 16, "span": "50%"})
    array = Array.from_words("1x generic-smr")
    scenario = resolve(array, 0)
    begun = steady_start(array, load, scenario, 0)  # its trials begin full
    cache = array.drive_tables().media_cache
    assert cache is not None
    more = np.array([[lba * 1_000_000, 2048] for lba in range(500)])
    n_full = -(-cache.log_sectors // 2048)
    for n in (n_full, n_full + 1):
        logged = np.concatenate([begun.logged, more])[:n]
        full = replace(scenario, start=replace(begun, logged=logged))
        if n == n_full:
            assert draw_and_run(array, load, 8, scenario=full, seed=0, engine="native")[1].end_ns > 0
        else:
            with pytest.raises(CoverageError, match="there is a media cache of"):
                draw_and_run(array, load, 8, scenario=full, seed=0, engine="native")
