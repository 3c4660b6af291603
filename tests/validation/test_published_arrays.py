"""The table of published arrays is whole, its figures agree, and the page is what the model says now."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.validation import published_arrays

ROWS = published_arrays.rows()


def test_every_measurement_is_predicted_or_has_a_reason() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 61
    for row in ROWS:
        assert ("why_not" in row) != ("points" in row or "rebuilds" in row), row["id"]
        assert "why_not" in row or (row["meaning"] and row["drive_is"] in ("known", "class")), row["id"]


@pytest.mark.parametrize("row", [row for row in ROWS if "points" in row], ids=lambda row: row["id"])
def test_measured_figures_obey_littles_law(row: dict[str, Any]) -> None:
    """Outstanding requests are rate times mean latency: a slip of the pen would show. fio itself needs up to 5 us."""
    for point in row["points"]:
        if "iops" in point and "mean_ms" in point:
            slack = max(0.03 * point["depth"], point["iops"] * 5e-6)
            assert point["iops"] * point["mean_ms"] / 1e3 == pytest.approx(point["depth"], abs=slack), point


def test_what_the_text_says_of_128_streams_in_turn() -> None:
    (row,) = [row for row in ROWS if row["id"] == "mg04aca600e-128-streams"]
    array = Array.parse(
        {
            "drive": row["drive"],
            "layout": published_arrays.SINGLE,
            "queue": row["queue"] | {"drive_depth": 1},
            "drive_write_cache": False,
        }
    )
    streams = {"pattern": "sequential", "n_readers": 128}
    load = {"size": "128 KiB", "read_ratio": 0, "clients": 128, "span": row["span"], "addresses": streams}
    rate = float(simulate(array, Workload.parse(load), n_requests=6_000, profile_draws=0).iops.mean)
    measured = row["points"][0]["iops"]
    assert f"{rate:.0f} writes a second ({rate / measured - 1:+.0%})" in row["meaning"]


@pytest.mark.slow
@pytest.mark.long
def test_the_page_is_what_the_script_writes() -> None:
    assert published_arrays.PAGE.read_text(encoding="utf-8") == published_arrays.page()
