"""The table of published arrays is whole, its figures agree, and the page is what the model says now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.validation import published_arrays

ROWS = published_arrays.rows()


def test_every_measurement_is_predicted_or_has_a_reason() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 49
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


@pytest.mark.slow
def test_the_page_is_what_the_script_writes() -> None:
    assert published_arrays.PAGE.read_text(encoding="utf-8") == published_arrays.page()
