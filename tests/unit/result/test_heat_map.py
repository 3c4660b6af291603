"""A heat map has every request once, and says where the time of a band went."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.records import PARTS, Completions
from diskmodel.result.show.heat_map import draw_heat_maps, heat_map_page
from diskmodel.result.statistics.heat_map import HeatMap, heat_map
from diskmodel.workload import Workload

ARRAY = Array.from_words("8x generic-10k raid5, 64MiB write cache")
LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"})


@pytest.fixture(scope="module")
def done() -> Completions:
    return simulate(ARRAY, LOAD, n_requests=5_000, profile_draws=0).run.completions


@pytest.fixture(scope="module")
def found(done: Completions) -> HeatMap:
    return heat_map(done, revolution_ms=60e3 / 10_000)


def test_every_request_is_in_one_cell_with_all_of_its_time(done: Completions, found: HeatMap) -> None:
    assert found.counts.sum() == 5_000
    together = sum(values.sum() for values in found.parts_ms.values())
    assert together == pytest.approx((done.done_ns - done.issue_ns).sum() / 1e6)
    assert set(found.parts_ms) <= set(PARTS)


def test_the_cell_of_a_request_by_hand() -> None:
    parts = np.zeros((3, len(PARTS)), np.int64)
    parts[:, PARTS.index("queue")] = [1_000_000, 10_000_000, 100_000_000]
    one = Completions(
        issue_ns=np.array([0, 990_000_000, 1_900_000_000]),
        done_ns=np.array([1_000_000, 1_000_000_000, 2_000_000_000]),
        parts_ns=parts,
        is_hit=np.zeros(3, bool),
    )
    got = heat_map(one, n_times=2, n_latencies=3)
    assert got.start_s.tolist() == [0.0, 1.0, 2.0]
    # a request that ends on an edge belongs to the time before it
    assert got.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert got.of_band(0, 1e9) == {"queue": 1.0}


def test_writes_that_a_cache_takes_are_a_band_of_their_own(found: HeatMap) -> None:
    assert next(iter(found.of_band(0.01, 0.1))) == "cache"
    slow = found.of_band(5, 1e3)
    assert slow.get("cache", 0.0) < 0.05
    assert slow["seek"] + slow["rotation"] + slow["queue"] > 0.9
    assert found.of_band(1e6, 1e7) == {}


def test_responses_that_are_all_the_same_have_a_grid() -> None:
    n = 100
    parts = np.zeros((n, len(PARTS)), np.int64)
    parts[:, 0] = 50_000
    issue = np.arange(n) * 1_000_000
    got = heat_map(Completions(issue, issue + 50_000, parts, np.zeros(n, bool)))
    assert got.counts.sum() == n
    assert got.latency_ms[0] < 0.05 < got.latency_ms[-1]


def test_a_run_without_completions_is_refused() -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="histogram"):
        heat_map(Completions(none, none, np.zeros((0, len(PARTS)), np.int64), np.zeros(0, bool)))


def test_the_page_has_the_same_grid_and_no_markup_in_names(found: HeatMap) -> None:
    page = heat_map_page("<b>array</b>", [("</script><script>alert(1)", found)])
    assert "<b>array</b>" not in page
    assert page.count("<script>") == page.count("</script>") == 1
    data = re.search(r"const MAPS = (.*);\n", page)
    assert data is not None
    (item,) = json.loads(data[1])
    assert item["counts"] == found.counts.tolist()
    assert item["name"] == "</script><script>alert(1)"


def test_the_picture_has_a_row_for_each_array(found: HeatMap) -> None:
    figure = Figure()
    draw_heat_maps(figure, [("one", found), ("another", found)])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == ["one", "another"]
