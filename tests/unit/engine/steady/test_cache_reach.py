"""Of a large read cache an engine begins with what its run can reach, and gives the same (rule Z4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.controller import ZfsArc
from diskmodel.controller.arc import ONE
from diskmodel.engine import native
from diskmodel.engine.compiled import kernel
from diskmodel.engine.messages.large_caches import large_cache_messages
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.run import Engine, run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady import settled
from diskmodel.engine.steady.past import history
from diskmodel.engine.steady.pools import arc
from diskmodel.engine.steady.pools.arc import in_row, numbers_in_row
from diskmodel.engine.steady.reach import within_reach
from diskmodel.host import Host
from diskmodel.records import Requests
from diskmodel.workload import Workload

UNIFORM = {"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s", "span": "1 GB"}
POPULAR = {"size": "8 KiB", "read_ratio": 0.7, "clients": 8, "span": "1 GB", "addresses": {"pattern": "zipf"}}
MIXED = {
    "streams": [
        {"size": "64 KiB", "clients": 2, "span": "2 GB", "addresses": {"pattern": "sequential"}},
        {"size": "12 KiB", "rate": "100/s", "read_ratio": 0.5, "alignment": "512 B", "span": "300 MB"},
    ]
}


def begun(controller: dict[str, Any], load: dict[str, Any], n: int = 1500) -> tuple[Scenario, Requests]:
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 4}, "controller": controller})
    workload, scenario = Workload.parse(load), resolve(array, 1)
    start = settled(scenario, workload, capacity_bytes=array.usable_bytes, seed=1, engine=run)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1, n_before=start.n_before)
    return replace(scenario, start=start), requests


@pytest.mark.parametrize("load", [UNIFORM, POPULAR, MIXED])
@pytest.mark.parametrize("more", [{}, {"write_cache": {"size": "16 MiB"}}, {"read_ahead": "1 MiB"}])
def test_a_run_is_the_same_with_what_it_can_reach_of_its_cache(load: dict[str, Any], more: dict[str, Any]) -> None:
    # with 320 MiB some of what is asked for has been evicted, and more is during the run
    whole, requests = begun({"read_cache": {"size": "320 MiB"}, **more}, load)
    few = within_reach(whole, requests)
    assert few.start.cached_apart + len(few.start.cached) == len(whole.start.cached)
    if not ("read_ahead" in more and load is MIXED):  # what is read ahead of one in order is too much to leave out
        assert len(few.start.cached) < len(whole.start.cached) // 2
    expected, found = native.run(whole, requests), native.run(few, requests)
    assert np.array_equal(found.completions.done_ns, expected.completions.done_ns)
    assert np.array_equal(found.completions.is_hit, expected.completions.is_hit)
    assert 0 < expected.completions.is_hit.mean() < 1


@pytest.mark.parametrize("load", [UNIFORM, POPULAR, MIXED, UNIFORM | {"read_ratio": 0.0, "rate": "90/s"}])
def test_a_run_is_the_same_with_what_it_can_reach_of_a_memory_that_does_not_fill(load: dict[str, Any]) -> None:
    """Memory of 512 GiB began each run with eight million pages, a second and half a gigabyte each time."""
    host = {"is_buffered": True, "page_cache": {"memory": "16 GiB", "dirty_background_ratio": 0.01}}
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 4}, "host": host})
    workload, scenario = Workload.parse(load), resolve(array, 1)
    start = settled(scenario, workload, capacity_bytes=array.usable_bytes, seed=1, engine=run)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=1500, seed=1, n_before=start.n_before)
    whole = replace(scenario, start=start)
    few = within_reach(whole, requests)
    assert len(few.start.pages_clean) < len(start.pages_clean)
    expected, found = native.run(whole, requests), native.run(few, requests)
    assert np.array_equal(found.completions.done_ns, expected.completions.done_ns)
    assert np.array_equal(found.devices.write_bytes, expected.devices.write_bytes)
    # a memory that is full evicts what no request asks for
    full = {"is_buffered": True, "page_cache": {"memory": "64 MiB"}}
    small = resolve(array.model_copy(update={"host": Host.parse(full)}), 1)
    filled = replace(small, start=settled(small, workload, capacity_bytes=array.usable_bytes, seed=1, engine=run))
    assert within_reach(filled, requests) is filled


def listed(scenario: Scenario) -> Scenario:
    """The scenario of a pool with all that its cache holds in lists."""
    arc = scenario.start.arc
    assert arc is not None
    rows = [] if arc.spread is None else zip(arc.spread.rows, arc.spread.again, strict=True)
    older = [np.delete(in_row(row, np.arange(row[1])), again) for row, again in rows]
    recent = np.concatenate([*older, arc.recent])
    return replace(scenario, start=replace(scenario.start, arc=replace(arc, recent=recent, spread=None)))


#: Engines, which do not look for what a run can reach.
ENGINES = {"native": native.run, "simpy": simpy_engine.run}


@pytest.mark.parametrize(
    "load",
    [
        UNIFORM | {"span": "4 GB"},
        POPULAR | {"span": "4 GB"},
        {
            "streams": [
                {"size": "8 KiB", "clients": 4, "read_ratio": 0.6, "span": "2 GB"},
                {"size": "64 KiB", "clients": 2, "addresses": {"pattern": "sequential"}, "offset": "2 GB"},
                {"size": "4 KiB", "rate": "300/s", "offset": "6 GB", "span": "3 GB"},
            ]
        },
    ],
)
@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_a_pool_is_the_same_with_what_it_can_reach_of_its_cache(
    load: dict[str, Any], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arc, "uses_to_fill_arc", lambda n, _: n // 5)
    layout = {"level": "raidz1", "disks": 4, "record": "16 KiB"}
    controller = {"read_cache": {"size": "320 MiB"}}
    pool = Array.parse({"drive": "samsung-pm893-960", "layout": layout, "controller": controller})
    workload, scenario = Workload.parse(load), resolve(pool, 1)
    start = settled(scenario, workload, capacity_bytes=pool.usable_bytes, seed=1, engine=run)
    requests = workload.requests(capacity_bytes=pool.usable_bytes, n=300, seed=1, n_before=start.n_before)
    spread = replace(scenario, start=start)
    few = within_reach(spread, requests)
    assert few.start.arc is not None
    assert few.start.arc.apart[0] > 4_000
    assert spread.start.arc is not None
    assert spread.start.arc.spread is not None
    expected, found = (ENGINES[engine](one, requests) for one in (listed(spread), few))
    assert np.array_equal(found.completions.done_ns, expected.completions.done_ns)
    assert np.array_equal(found.completions.is_hit, expected.completions.is_hit)
    assert 0 < expected.completions.is_hit.mean() < 1


STREAMS = {"streams": [{"size": "4 MiB", "read_ratio": 0.7, "rate": "20/s", "span": "3 GB"}]}


@pytest.mark.parametrize("load", [STREAMS, POPULAR | {"read_ratio": 0.8, "span": "6 GB"}])
@pytest.mark.parametrize("engine", ["native", "simpy"])
def test_lists_of_an_arc_are_as_long_as_a_run_can_reach(
    load: dict[str, Any], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = {"level": "raidz1", "disks": 4, "record": "16 KiB"}
    controller = {"read_cache": {"size": "320 MiB"}}
    pool = Array.parse({"drive": "samsung-pm893-960", "layout": layout, "controller": controller})
    workload, scenario = Workload.parse(load), resolve(pool, 1)
    start = settled(scenario, workload, capacity_bytes=pool.usable_bytes, seed=1, engine=run)
    n = 3 if load is STREAMS else 300
    requests = workload.requests(capacity_bytes=pool.usable_bytes, n=n, seed=1, n_before=start.n_before)
    whole = listed(replace(scenario, start=start))
    few = within_reach(whole, requests)
    all_of, arc = whole.start.arc, few.start.arc
    assert all_of is not None
    assert arc is not None
    assert arc.n_listed < all_of.n_listed / 2
    assert arc.n_held == all_of.n_held == 20_480
    expected, found = (ENGINES[engine](one, requests) for one in (whole, few))
    assert np.array_equal(found.completions.done_ns, expected.completions.done_ns)
    assert np.array_equal(found.completions.is_hit, expected.completions.is_hit)


def test_the_kernel_fills_an_arc_as_the_reference_does() -> None:
    rng = np.random.default_rng(1)
    uses = rng.zipf(1.3, 20_000) % 3_000
    is_written = rng.random(len(uses)) < 0.3
    expected = ZfsArc(500)
    for block, writes in zip(uses.tolist(), is_written.tolist(), strict=True):
        (expected.write if writes else expected.insert)(block)
    lists, share = kernel.arc_after(500, uses.astype(np.int64), np.flatnonzero(is_written))
    wanted = (expected.recent, expected.frequent, expected.was_recent, expected.was_frequent)
    assert [found.tolist() for found in lists] == [list(blocks) for blocks in wanted]
    assert share == expected.share != ONE // 2


def test_records_at_equal_distances_have_numbers() -> None:
    for row in ([7, 5, 16], [0, 3, 3], [100, 7, 1_000_003]):
        records = in_row(np.array(row), np.arange(row[1]))
        assert len(set(records.tolist())) == row[1]
        assert row[0] <= records[0] <= records[-1] < row[0] + row[2]
        assert numbers_in_row(np.array(row), records, np.ones_like(records)).tolist() == list(range(row[1]))
        others = np.setdiff1d(np.arange(row[0] - 3, min(row[0] + row[2], row[0] + 50) + 3), records)
        assert not len(numbers_in_row(np.array(row), others, np.ones_like(others)))
        ends = np.array([row[0] - 3, row[0] + row[2] // 2]), np.array([3 + row[2] // 3, row[2]])
        runs = [range(first, first + count) for first, count in zip(*ends, strict=True)]
        expected = [n for n, record in enumerate(records) if any(record in one for one in runs)]
        assert numbers_in_row(np.array(row), *ends).tolist() == expected


def test_of_regions_that_fit_all_that_is_asked_for_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("controller", "past.blocks"):
        monkeypatch.setattr(f"diskmodel.engine.steady.{module}.MAX_USES", 1 << 12)
    assert history.MAX_USES > 1 << 12
    scenario, requests = begun({"read_cache": {"size": "2 GiB"}}, UNIFORM | {"read_ratio": 1.0}, n=200)
    assert scenario.start.cached_regions.tolist() == [[0, -(-1_000_000_000 // 4096)]]
    done = run(scenario, requests).completions
    assert done.is_hit.all()


def test_a_cache_that_begins_with_less_than_it_would_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = begun({"read_cache": {"size": "320 MiB"}}, UNIFORM, n=1)
    assert not large_cache_messages(whole)
    half = replace(whole, start=replace(whole.start, cached=whole.start.cached[::2]))
    monkeypatch.setattr("diskmodel.engine.messages.large_caches.MAX_ROWS", 1 << 12)
    (said,) = large_cache_messages(half)
    assert (
        said == "the read cache begins with the 160 MiB that were used last; a full one of 320 MiB may have more hits"
    )
