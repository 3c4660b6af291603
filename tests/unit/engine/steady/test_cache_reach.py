"""Of a large read cache an engine begins with what its run can reach, and gives the same (rule Z4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.messages.large_caches import large_cache_messages
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady import recent, settled
from diskmodel.engine.steady.reach import within_reach
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


def test_of_regions_that_fit_all_that_is_asked_for_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("parts", "contents"):
        monkeypatch.setattr(f"diskmodel.engine.steady.{module}.MAX_USES", 1 << 12)
    assert recent.MAX_USES > 1 << 12
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
