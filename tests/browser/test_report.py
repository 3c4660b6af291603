"""The plan's report in a browser: at the desk, on a phone, and printed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PICTURES, Open
from tests.browser.looking import contrasts, outside
from tests.unit.cli.commands import EXAMPLES, run

A4_PX = 718  # 210 mm less two margins of 10 mm, at 96 px an inch


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "plan.html"
    # without the drive whose search takes longest
    drives = ("--drive", "seagate-exos-10e2400-2400", "--drive", "micron-7450-pro-1920")
    done = run("plan", EXAMPLES / "plan-oltp.toml", *drives, "--report", path)
    assert done.exit_code == 0, done.stderr
    return path.as_uri()


def check(page: Page) -> None:
    assert page.locator(".answer").inner_text()
    assert page.locator("table tbody tr").count() >= 3
    assert page.locator("figure svg").count() >= 1
    assert outside(page) == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (A4_PX, True), (390, False), (360, True)])
def test_fits(report: str, opened: Open, width: int, dark: bool, picture) -> None:
    page = opened(report, width=width, dark=dark)
    check(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    table, around = page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.querySelector('.wide'))")
    assert table == around, "the table of candidates does not scroll sideways"
    # a phone has no place for all columns, and says which are elsewhere
    left_out = page.locator(".narrow")
    assert left_out.is_visible() == page.get_by_role("columnheader", name="busy").is_hidden() == (width < 640)
    assert "busy" in left_out.inner_text() or width >= 640
    assert [one for one in contrasts(page, "p, h1, h2, li, td, th, figcaption, pre") if one[0] < 4.5] == []
    picture(page)


def test_a_band_of_the_answer_is_explained(report: str, opened: Open, picture) -> None:
    page = opened(report, width=1400)
    where = page.locator(".heat-where")
    assert "requests in all" in where.inner_text()
    canvas = page.locator(".heat canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    # the lowest band: requests of an idle flash drive wait for nobody
    page.mouse.move(box["x"] + 70, box["y"] + box["height"] - 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 30)
    page.mouse.up()
    assert "marked requests" in where.inner_text()
    assert page.locator(".heat-bar").count() >= 2
    picture(page)


def test_prints(report: str, opened: Open, picture) -> None:
    page = opened(report, width=A4_PX)
    page.emulate_media(media="print")
    check(page)
    assert page.evaluate("document.documentElement.scrollWidth") == A4_PX
    picture(page)
    margin = {"top": "10mm", "bottom": "10mm", "left": "10mm", "right": "10mm"}
    path = Path(PICTURES) / "plan-report.pdf"
    printed = page.pdf(path=path, format="A4", margin=margin)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert pages == 2


def test_the_recommended_row_is_marked(report: str, opened: Open) -> None:
    page = opened(report)
    marked = page.locator("tr.best")
    assert marked.count() == page.get_by_text("recommended", exact=True).count() == 1
    disks, drive = page.locator(".answer").inner_text().rstrip(".").split(" disks of ")
    # the table has the short name
    assert drive.startswith(marked.inner_text().splitlines()[0])
    assert disks in marked.inner_text().split()
