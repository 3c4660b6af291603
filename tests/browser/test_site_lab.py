"""The lab as plain files, opened from disk and served: both views, by hand and keyboard, wide and on a phone."""

import gzip
import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looking import answered, check_looks, curve

pytestmark = pytest.mark.slow

#: A question that is answered in a few runs.
QUICK = "#tab=plan&need_drives=generic-15k&need_levels=raid5"
WIDTHS = [(1400, False), (390, True)]


def planned(page: Page) -> None:
    """Waits until the last question is answered."""
    page.wait_for_function(
        "(({ planShown, planAsked }) => planShown && planShown === planAsked)(document.documentElement.dataset)"
    )


@pytest.mark.parametrize(("width", "dark"), WIDTHS)
def test_curves_follow_their_sliders(page_url: str, opened: Open, picture, width: int, dark: bool) -> None:
    page = opened(page_url, width=width, dark=dark)
    answered(page)
    expect(page.locator("#status")).to_contain_text("in this page")
    expect(page.locator("#set-write_cache_bytes")).to_have_count(0)
    for key, keys in (("disks", "End"), ("read_ratio", "ArrowLeft"), ("size_bytes", "PageUp")):
        before = curve(page)
        page.focus(f"#set-{key}")
        page.keyboard.press(keys)
        answered(page)
        assert curve(page) != before, key
        assert f"{key}=" in page.url
    for drive in ("generic-sas-ssd", "generic-7k2"):
        before = curve(page)
        page.select_option("#set-drive", drive)
        answered(page)
        assert curve(page) != before
    check_looks(page)
    picture(page)


@pytest.mark.parametrize(("width", "dark"), WIDTHS)
def test_how_many_disks(page_url: str, opened: Open, picture, width: int, dark: bool) -> None:
    page = opened(page_url + QUICK, width=width, dark=dark)
    planned(page)
    expect(page.locator("#plan-verdict strong")).to_have_text("10 disks of Generic 15k rpm SAS in RAID 5.")
    expect(page.locator("#plan-verdict")).to_contain_text("9 have too little space.")
    expect(page.locator("#plan-table tbody tr")).to_have_count(1)
    # capacity decides, so that nothing lies between the rule of thumb and the answer
    expect(page.locator("#plan-why")).to_contain_text("The rule of thumb is right here")
    expect(page.locator(".waterfall")).to_have_count(0)
    # the most important figures are in sight without scrolling
    p99 = page.locator("#plan-table th", has_text="p99").bounding_box()
    assert p99 is not None
    assert p99["x"] + p99["width"] <= width
    page.focus("#set-need_iops")
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    page.check("#set-need_levels-raid10")
    planned(page)
    expect(page.locator("#plan-table tbody tr")).to_have_count(2)
    assert re.search(r"need_iops=\d+", page.url)
    assert "need_levels=raid10%2Craid5" in page.url
    check_looks(page)
    picture(page)
    disks = page.locator("#plan-table .best td").nth(2).inner_text()
    page.get_by_role("button", name="See the curves of this array").click()
    answered(page)
    expect(page.locator("label[for=set-disks] output")).to_have_text(disks)


def test_an_address_restores_its_question_and_its_settings(page_url: str, opened: Open) -> None:
    page = opened(page_url + QUICK + "&need_p99=40&level=raid6&disks=12")
    planned(page)
    expect(page.locator("label[for=set-need_p99] output")).to_have_text("40 ms")
    page.keyboard.press("Escape")
    page.focus("#tab-plan")
    page.keyboard.press("ArrowLeft")
    answered(page)
    expect(page.locator("label[for=set-disks] output")).to_have_text("12")
    assert "need_p99=40" in page.url


def test_what_lies_between_the_rule_of_thumb_and_the_answer(page_url: str, opened: Open) -> None:
    page = opened(page_url + QUICK + "&need_p99=40&need_iops=1000")
    planned(page)
    expect(page.locator(".waterfall li")).to_have_count(6)


def test_a_kept_curve_is_in_the_address(page_url: str, opened: Open) -> None:
    page = opened(page_url + "#level=raid10")
    answered(page)
    page.click("#keep")
    page.select_option("#set-level", "raid6")
    answered(page)
    assert "level=raid6&kept=level%3Draid10" in page.url
    page.reload()
    answered(page)
    expect(page.locator("#chart-iops .legend")).to_contain_text("kept: 8 × seagate-exos-10e2400-2400, RAID 10")
    expect(page.locator("#set-level")).to_have_value("raid6")
    page.click("#drop")
    expect(page.locator("#chart-iops path.line.kept")).to_have_count(0)
    assert "kept" not in page.url


def test_on_a_phone_the_figures_stay_in_sight_of_their_sliders(page_url: str, opened: Open) -> None:
    page = opened(page_url + "#tab=array", width=390)
    brief = page.locator("#array-brief")
    expect(brief).to_contain_text("longest")
    before = brief.inner_text()
    page.focus("#set-disks")
    page.keyboard.press("ArrowRight")
    expect(brief).not_to_have_text(before)
    expect(brief).to_contain_text("longest")
    expect(brief).to_be_in_viewport()
    page.keyboard.press("End")
    expect(brief).to_contain_text("use fewer")
    expect(page.locator("#array-now")).to_be_empty()
    page.click("#tab-curves")
    expect(brief).to_be_hidden()


@pytest.mark.parametrize("width", [720, 350])
def test_inside_of_a_lesson(folder: Path, opened: Open, picture, width: int) -> None:
    """A few controls above the curves; the others keep what the lesson has set, after a reset, too."""
    state = "arrivals=rate&rate_per_s=39&drive=generic-7k2&level=jbod&disks=1&read_ratio=1&scheduler=fcfs"
    page = opened(f"{(folder / 'index.html').as_uri()}?refine=no&only=rate_per_s,scheduler#{state}", width=width)
    answered(page)
    visible = page.locator("#controls input:visible, #controls select:visible")
    assert [one.get_attribute("id") for one in visible.all()] == ["set-rate_per_s", "set-scheduler"]
    expect(page.locator("header")).to_be_hidden()
    before = curve(page, "p99")
    page.select_option("#set-scheduler", "sptf")
    answered(page)
    assert curve(page, "p99") != before
    page.click("#reset")
    answered(page)
    assert curve(page, "p99") == before
    check_looks(page)
    picture(page)


def test_a_bad_address_is_explained(page_url: str, opened: Open) -> None:
    page = opened(page_url)
    answered(page)
    for address, said in (
        ("#drive=floppy", "There is no drive floppy here"),
        ("#level=raid3", "There is no level raid3 here"),
        ("#size_bytes=1000", "multiples of 512"),
        ("#outstanding=100000", "outstanding=100000: must be 1 to 512"),
        ("#pattern=zipf", "only in `diskmodel lab`"),
    ):
        page.evaluate("(address) => { location.hash = address; }", address)
        expect(page.locator("#faults")).to_contain_text(said)


def test_the_same_when_it_is_served(served: str, opened: Open, record_property) -> None:
    page = opened(served)
    answered(page, "refined")
    expect(page.locator("#status")).to_contain_text("refined in")
    record_property("answer_ms", page.evaluate("document.documentElement.dataset.answerMs"))
    addresses = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    # as hosts of static pages send them: what is written as text is compressed again
    loaded = [len(gzip.compress(urlopen(address).read())) for address in addresses]
    assert 300_000 < sum(loaded) < 1_000_000, "a lesson's download is below 1 MB"


def test_what_is_not_asked_for_is_not_loaded(served: str, opened: Open) -> None:
    page = opened(served + "?refine=no")
    answered(page)
    drives = [
        url
        for url in page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
        if "/drives/" in url
    ]
    assert [url.rsplit("/", 1)[1] for url in drives] == ["seagate-exos-10e2400-2400.js"]
    assert json.loads(page.evaluate("JSON.stringify(Object.keys(diskmodelLab.drives))")) == [
        "seagate-exos-10e2400-2400"
    ]


@pytest.mark.parametrize(("width", "dark"), WIDTHS)
def test_what_a_commit_costs(page_url: str, opened: Open, picture, width: int, dark: bool) -> None:
    page = opened(page_url + "#tab=commits&log_drive=generic-7k2&log_clients=1", width=width, dark=dark)
    committed(page)
    rows = page.locator("#commits-table tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.nth(1)).to_contain_text("write cache on")
    # one a revolution of 7,200 rpm, and a thousand behind what survives a power cut
    assert 115 < commits_of(rows.nth(1).locator("td").nth(1).inner_text()) <= 120
    assert commits_of(rows.nth(3).locator("td").nth(1).inner_text()) > 800
    page.focus("#set-log_clients")
    page.keyboard.press("End")
    committed(page)
    assert commits_of(rows.nth(1).locator("td").nth(1).inner_text()) > 5000
    assert "log_clients=128" in page.url
    page.focus("#set-log_load")
    page.keyboard.press("ArrowRight")
    committed(page)
    expect(page.locator("#panel-commits")).not_to_contain_text("unknown")
    check_looks(page)
    picture(page)


def committed(page: Page) -> None:
    """Waits until the last question about commits is answered."""
    page.wait_for_function(
        "(({ commitsShown, commitsAsked }) => commitsShown && commitsShown === commitsAsked)"
        "(document.documentElement.dataset)"
    )


def commits_of(text: str) -> float:
    """A figure of the page."""
    return float(text.replace(",", ""))
