"""The lab in a browser: controls change curves, by hand and by keyboard, on a phone and in the dark."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Watch
from tests.browser.looking import answered, contrasts, curve, nameless, outside
from tests.unit.lab.serving import serving

TABS = ("curves", "commits", "heat", "array", "head", "quiz")


def show(page: Page, tab: str) -> None:
    page.click(f"#tab-{tab}")
    expect(page.locator(f"#panel-{tab}")).to_be_visible()
    if tab == "head":
        page.frame_locator("#head").locator("#panels .panel").nth(1).wait_for()
    if tab == "heat":
        page.locator("#heat-box .heat-bar").first.wait_for()
    if tab == "commits":
        page.locator("#commits-table tbody tr").nth(4).wait_for()
    if tab == "quiz":
        page.locator("input[name=choice]").first.wait_for()


def test_an_answer_is_there_at_once_and_then_refined(lab: str, opened: Open, picture, record_property) -> None:
    page = opened(lab.replace("?refine=no", ""))
    answered(page)
    record_property("answer_ms", page.evaluate("document.documentElement.dataset.answerMs"))
    expect(page.locator("#status")).to_contain_text("native kernel")
    quick = page.locator("#answers").inner_text()
    answered(page, "refined")
    assert page.locator("#answers").inner_text() != quick
    expect(page.locator("#status")).to_contain_text("refined in")
    expect(page.locator("#beside")).to_contain_text("The rule of thumb predicts")
    assert page.locator("#chart-iops circle.now-dot").count() == 9
    for chart in ("iops", "p99"):
        expect(page.locator(f"#chart-{chart} path.now-band")).to_have_count(1)
    picture(page)


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("read_ratio", "ArrowLeft"),
        ("size_bytes", "End"),
        ("span_ratio", "Home"),
        ("disks", "End"),
        ("strip_bytes", "Home"),
        ("read_hit_ratio", "PageUp"),
        ("write_cache_bytes", "ArrowRight"),
        ("outstanding", "ArrowRight"),
    ],
)
def test_each_slider_changes_the_curve_by_keyboard(lab: str, opened: Open, key: str, keys: str) -> None:
    # requests larger than a strip, so that the strip matters, too
    page = opened(lab + "#size_bytes=65536")
    answered(page)
    drawn, said = curve(page), page.locator("#answers").inner_text()
    slider = page.locator(f"#set-{key}")
    value_before = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press(keys)
    assert slider.get_attribute("aria-valuetext") != value_before
    answered(page)
    assert page.locator("#answers").inner_text() != said
    assert key in page.url
    if key != "outstanding":  # it moves the mark, and the curve stays what it was
        assert curve(page) != drawn


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("level", "raid10"),
        ("drive", "generic-7k2"),
        ("drive", "generic-sas-ssd"),
        ("scheduler", "sptf"),
        ("pattern", "sequential"),
    ],
)
def test_each_list_changes_the_curve(lab: str, opened: Open, key: str, value: str) -> None:
    page = opened(lab)
    answered(page)
    drawn = curve(page)
    page.select_option(f"#set-{key}", value)
    answered(page)
    assert curve(page) != drawn


def test_requests_that_come_by_chance_have_a_knee_and_an_overload(lab: str, opened: Open, picture) -> None:
    page = opened(lab + "#drive=generic-7k2&read_ratio=1")
    answered(page)
    page.select_option("#set-arrivals", "rate")
    answered(page)
    expect(page.locator("#set-rate_per_s")).to_be_visible()
    expect(page.locator("#set-outstanding")).to_be_hidden()
    expect(page.locator("#chart-p99")).to_contain_text("overloaded")
    expect(page.locator("#chart-p99 .legend")).to_contain_text("rule of thumb")
    picture(page)
    page.locator("#set-rate_per_s").press("End")
    answered(page)
    # a short run does not claim more than it can know
    expect(page.locator("#answers")).to_contain_text("a longer run decides")
    page.goto(page.url.replace("?refine=no", "?"))
    answered(page, "refined")
    expect(page.locator("#answers")).to_contain_text("the backlog grows without limit")


def test_a_slider_that_is_dragged_is_answered_on_the_way(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    page.locator("#set-read_ratio").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("label[for=set-read_ratio] output")).to_have_text("10 %")
    answered(page)
    # what is shown in the end is what was set in the end: 10 % reads cost 0.1 + 0.9 * 4
    expect(page.locator("#answers")).to_contain_text("rule of thumb: 3.7")


def test_two_arrays_beside_each_other(lab: str, opened: Open, picture) -> None:
    page = opened(lab)
    answered(page)
    page.click("#keep")
    kept = page.locator("#chart-iops path.line.kept")
    expect(kept).to_have_count(1)
    page.select_option("#set-level", "raid10")
    answered(page)
    assert kept.get_attribute("d") != curve(page)
    expect(page.locator("#chart-iops .legend")).to_contain_text("kept: 8 × seagate-exos-10e2400-2400, RAID 5")
    picture(page)
    page.click("#drop")
    expect(kept).to_have_count(0)


def test_charts_are_read_by_keyboard_and_pointer(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    chart, readout = page.locator("#chart-p99 svg"), page.locator("#chart-p99 .readout")
    chart.focus()
    page.keyboard.press("Home")
    expect(readout).to_have_text(re.compile(r"^at 1 outstanding: [\d.]+ ms$"))
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("at 4 outstanding")
    page.keyboard.press("End")
    expect(readout).to_contain_text("at 256 outstanding")
    chart.hover(position={"x": 70, "y": 100})
    expect(readout).to_contain_text("at 1 outstanding")


def test_a_level_takes_only_numbers_of_disks_that_it_can_have(lab: str, opened: Open) -> None:
    page = opened(lab + "#disks=7")
    answered(page)
    disks = page.locator("label[for=set-disks] output")
    expect(disks).to_have_text("7")
    page.select_option("#set-level", "raid10")
    answered(page)
    assert int(disks.inner_text()) % 2 == 0
    expect(page.locator("#faults")).to_be_empty()


def test_a_disk_fails_only_where_the_data_survive_it(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    drawn = curve(page)
    failed = page.get_by_label("one disk has failed")
    failed.check()
    answered(page)
    assert curve(page) != drawn
    page.select_option("#set-level", "raid0")
    answered(page)
    expect(failed).to_be_hidden()
    expect(page.get_by_role("alert")).to_be_empty()


def test_settings_stand_in_the_address(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    page.select_option("#set-level", "raid6")
    page.select_option("#set-drive_write_cache", "on")
    answered(page)
    said = page.locator("#answers").inner_text()
    page.reload()
    answered(page)
    expect(page.locator("#set-level")).to_have_value("raid6")
    expect(page.locator("#set-drive_write_cache")).to_have_value("on")
    assert page.locator("#answers").inner_text() == said
    page.click("#reset")
    expect(page.locator("#set-level")).to_have_value("raid5")
    assert page.url == lab, "defaults need not be said"


def test_an_address_with_nonsense_is_reported(lab: str, opened: Open, watch: Watch, picture) -> None:
    page = opened(lab + "#drive=steam-drum")
    expect(page.get_by_role("alert")).to_contain_text("steam-drum")
    expect(page.get_by_role("alert")).to_contain_text("catalogue")
    expect(page.locator("#keep")).to_be_disabled()
    picture(page)
    assert all("422" in error for error in watch.errors)
    watch.errors.clear()
    page.select_option("#set-drive", "generic-10k")
    answered(page)
    expect(page.get_by_role("alert")).to_be_empty()


def test_a_lab_that_was_ended_is_reported(opened: Open, watch: Watch) -> None:
    with serving() as url:
        page = opened(url + "?refine=no")
        answered(page)
    page.locator("#set-read_ratio").press("ArrowLeft")
    expect(page.get_by_role("alert")).to_contain_text("has it stopped?")
    page.close()  # another refusal may still arrive
    assert all("ERR_CONNECTION_REFUSED" in error for error in watch.errors)
    watch.errors.clear()


def test_everything_is_reached_by_keyboard_alone(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("((e) => e.id || e.parentElement.id || e.tagName)(document.activeElement)"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or reached[-1] == "BODY", f"focus is not seen on {reached[-1]}"
    visible = page.evaluate(
        "[...document.querySelectorAll('input, select, button:not([tabindex=\"-1\"])')]"
        ".filter((e) => e.checkVisibility()).map((e) => e.id)"
    )
    assert set(visible) <= set(reached)
    assert {"chart-iops", "chart-p99"} <= set(reached)


def test_tabs_move_by_arrow_keys(lab: str, opened: Open) -> None:
    page = opened(lab)
    answered(page)
    page.focus("#tab-curves")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-commits")).to_be_visible()
    expect(page.locator("#tab-commits")).to_be_focused()
    expect(page.locator("#tab-commits")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.locator("#panel-quiz")).to_be_visible()
    expect(page.locator("#controls")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-curves")).to_be_visible()


@pytest.mark.parametrize("tab", TABS)
def test_every_control_has_a_name(lab: str, opened: Open, tab: str) -> None:
    page = opened(lab)
    answered(page)
    show(page, tab)
    assert nameless(page) == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("tab", TABS)
def test_text_stands_out_by_day_and_by_night(lab: str, opened: Open, tab: str, dark: bool, picture) -> None:
    page = opened(lab, dark=dark)
    answered(page)
    show(page, tab)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", light)[:3])) < 200) == dark
    found = contrasts(page, "p, h1, h2, dt, dd, span, label, output, legend, button, select, text, summary, li, a")
    assert len(found) > 15
    assert [one for one in found if one[0] < 4.5] == []
    picture(page)


@pytest.mark.parametrize("tab", TABS)
def test_fits_a_phone(lab: str, opened: Open, tab: str, picture) -> None:
    page = opened(lab, width=360, height=740, has_touch=True, is_mobile=True)
    answered(page)
    show(page, tab)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert outside(page) == []
    if tab == "curves":
        page.locator("details summary").click()
        assert outside(page) == [], "the table scrolls by itself"
        # while a slider at the bottom moves, the figures stay in sight
        page.locator("#set-read_hit_ratio").scroll_into_view_if_needed()
        expect(page.locator("#brief")).to_be_in_viewport()
    small = page.evaluate("""[...document.querySelectorAll("button, select, input[type=range]")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).map((e) => e.id)""")
    assert small == [], "fingers need 24 px"
    picture(page)
