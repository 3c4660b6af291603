"""The page of a heat map: a marked band shows where its time went."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.result.show.heat_map import heat_map_page
from diskmodel.result.statistics.heat_map import heat_map
from diskmodel.workload import Workload
from tests.browser.conftest import Open
from tests.browser.looking import contrasts, outside


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    array = Array.from_words("8x generic-10k raid5, 64MiB write cache")
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"})
    done = simulate(array, load, n_requests=20_000, profile_draws=0).run.completions
    path = tmp_path_factory.mktemp("heat") / "heat.html"
    path.write_text(heat_map_page("RAID 5 behind a cache", [("RAID 5", heat_map(done, revolution_ms=6.0))]))
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_band_is_marked_and_explained(file: str, opened: Open, width: int, picture) -> None:
    page = opened(file, width=width)
    where = page.locator(".heat-where")
    assert where.inner_text().startswith("20,000 requests in all")
    box = page.locator("canvas").bounding_box()
    assert box is not None
    # the lowest band: writes that the cache took
    page.mouse.move(box["x"] + 80, box["y"] + box["height"] - 70)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20)
    page.mouse.up()
    assert "marked requests" in where.inner_text()
    assert where.locator(".heat-bar").first.inner_text().startswith("controller's cache")
    picture(page)
    # by keyboard: what lies between two revolutions
    page.get_by_role("button", name="1 to 2", exact=True).press("Enter")
    between = where.inner_text()
    assert "marked requests" in between
    page.get_by_role("button", name="below 1 revolution").press("Enter")
    assert where.inner_text() != between
    page.get_by_role("button", name="below 1 revolution").press("Enter")
    assert where.inner_text().startswith("20,000 requests in all")
    page.mouse.click(box["x"] + 100, box["y"] + 100)
    assert where.inner_text().startswith("20,000 requests in all")
    assert outside(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [one for one in contrasts(page, "p, h1, .heat-where") if one[0] < 4.5] == []
