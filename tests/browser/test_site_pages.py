"""The built site, opened from disk: start page, lab and course, by day and by night, on a phone.

DISKMODEL_SITE names the folder, which `make docs` writes; without it the test is skipped.
"""

import gzip
import os
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.browser.looking import faults

pytestmark = pytest.mark.slow

#: Parts of the theme that axe-core objects to: the labels of tabbed blocks scroll, and their links are not in the order
#: of the keyboard.
OF_THE_THEME = "tabbed-labels"
#: What a live experiment shows when it has answered, in each of its views.
ANSWERED = "#answers dd, #plan-verdict strong, #array-picture .surface:not(.gone), #head, #commits-table td"


needs_site = pytest.mark.skipif(
    "DISKMODEL_SITE" not in os.environ, reason="DISKMODEL_SITE does not name the built site"
)


@needs_site
def test_no_page_of_the_course_scrolls_sideways_or_has_faults(opened: Open) -> None:
    site = Path(os.environ["DISKMODEL_SITE"])
    pages = [site / "index.html", site / "lab.html", *sorted((site / "course").glob("*.html"))]
    assert len(pages) > 16
    for i, path in enumerate(pages):
        page = opened(path.as_uri(), width=390, dark=bool(i % 2))
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path
        assert [one for one in faults(page) if OF_THE_THEME not in one] == [], path
        if (frame := page.locator("iframe.live-lab").first).count():
            frame.scroll_into_view_if_needed()
            inside = page.frame_locator("iframe.live-lab").first
            inside.locator(ANSWERED).first.wait_for()
        page.context.close()


@needs_site
def test_the_index_of_the_search_is_small_since_every_page_downloads_it() -> None:
    index = (Path(os.environ["DISKMODEL_SITE"]) / "search" / "search_index.json").read_bytes()
    assert len(gzip.compress(index)) < 400_000
    assert b"plan_server" in index or b"run_server" in index, "names of the interface are found"


@needs_site
@pytest.mark.parametrize("width", [1400, 390])
def test_the_first_answer_is_whole_on_the_start_page(opened: Open, width: int) -> None:
    page = opened((Path(os.environ["DISKMODEL_SITE"]) / "index.html").as_uri(), width=width)
    frame = page.frame_locator("iframe.live-plan")
    frame.locator("#plan-verdict strong").wait_for()
    inside = page.locator("iframe.live-plan").bounding_box()
    p99 = frame.locator("#plan-table th", has_text="p99").bounding_box()
    assert inside is not None
    assert p99 is not None
    assert p99["x"] + p99["width"] <= inside["x"] + inside["width"]


@needs_site
@pytest.mark.parametrize("width", [1400, 390])
def test_a_validation_page_begins_with_its_picture(opened: Open, width: int) -> None:
    page = opened(
        (Path(os.environ["DISKMODEL_SITE"]) / "explanation" / "validation-md-raid.html").as_uri(), width=width
    )
    picture = page.locator("article img")
    assert picture.evaluate("(one) => one.complete && one.naturalWidth > 0")
    table = page.locator("article details.table-behind table").last
    assert not table.is_visible()
    page.locator("article details.table-behind summary").last.click()
    table.wait_for()


@needs_site
@pytest.mark.parametrize("width", [1400, 390])
def test_the_list_of_drives_is_sorted_by_the_head_that_is_clicked(opened: Open, width: int) -> None:
    page = opened((Path(os.environ["DISKMODEL_SITE"]) / "reference" / "drives" / "index.html").as_uri(), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    sizes = page.locator(".sortable tbody tr td:nth-child(4)")
    head = page.locator(".sortable th button", has_text="TB")
    for sign in (1, -1):
        head.click()
        found = [sign * float(text) for text in sizes.all_inner_texts()]
        assert len(found) > 80
        assert found == sorted(found)
    assert page.locator("th[aria-sort]").count() == 1
    page.locator(".sortable td a").first.click()
    assert "What it rests on" in page.locator("article").inner_text()
