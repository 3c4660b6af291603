"""The built site, opened from disk: start page, lab and course, by day and by night, on a phone.

DISKMODEL_SITE names the folder, which `make docs` writes; without it the test is skipped.
"""

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
ANSWERED = "#answers dd, #plan-verdict strong, #array-picture .surface:not(.gone), #head"


@pytest.mark.skipif("DISKMODEL_SITE" not in os.environ, reason="DISKMODEL_SITE does not name the built site")
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
            inside.locator(
                "#answers dd, #plan-verdict strong, #array-picture .surface:not(.gone), #head"
            ).first.wait_for()
        page.context.close()
