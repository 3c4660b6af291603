"""The array, the head and the quiz on the site: by keyboard, wide and on a phone, by day and by night."""

import re

import pytest
from playwright.sync_api import Page, expect

from diskmodel.lab.quiz import Quiz
from tests.browser.conftest import Open
from tests.browser.looking import check_looks

pytestmark = pytest.mark.slow


def shown(page: Page) -> None:
    """Waits until the last scene is there."""
    page.wait_for_function(
        "(({ sceneShown, sceneAsked }) => sceneShown && sceneShown === sceneAsked)(document.documentElement.dataset)"
    )


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_the_array(page_url: str, opened: Open, picture, width: int, dark: bool) -> None:
    page = opened(page_url + "#tab=array", width=width, dark=dark, reduced_motion="reduce")
    shown(page)
    expect(page.locator(".play")).to_have_text("Play")
    expect(page.locator("#array-picture .arm")).to_have_count(8)
    expect(page.locator("#array-picture .cell.parity")).to_have_count(12)
    facts = page.locator("#array-facts")
    page.check("#scene-write")
    shown(page)
    expect(facts.locator("li")).to_have_count(4)
    expect(facts).to_contain_text("write parity P")
    page.focus(".play")
    seen = set()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        seen.update(re.findall(r"disk \d: (\w+, \w+)", page.locator("#array-now").inner_text()))
    assert seen >= {"read, rotation", "read, transfer", "write, rotation", "write, transfer"}
    page.select_option("#set-level", "raid6")
    expect(facts.locator("li")).to_have_count(6)
    page.check("#scene-rebuild")
    shown(page)
    expect(page.locator("#array-picture text", has_text="spare")).to_have_count(1)
    page.focus(".place")
    page.keyboard.press("End")
    rows = int(re.findall(r"(\d+) rows? rebuilt", page.locator("#array-now").inner_text())[0])
    # the picture follows the rebuild: at most six rows before its front are on it
    assert 0 < min(rows, 6) == page.locator("#array-picture .cell:not(.free)").count() - 12 * 8
    page.check("#scene-cache")
    shown(page)
    expect(facts).to_contain_text("The cache is full after")
    page.focus(".place")
    page.keyboard.press("End")
    expect(page.locator(".level.full")).to_have_count(1)
    assert "tab=array&level=raid6&scene=cache" in page.url
    check_looks(page)
    picture(page)
    for key, value, said in (("level", "raid0", "keep up"), ("drive", "generic-sas-ssd", "no single arm")):
        page.select_option(f"#set-{key}", value)
        expect(page.locator("#panel-array")).to_contain_text(said)
    page.go_back()
    page.goto(page_url + "#tab=array&scene=failed&level=raid0")
    page.reload()
    expect(page.locator("#array-faults")).to_contain_text("loses its data")


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_the_heat_map(page_url: str, opened: Open, picture, width: int, dark: bool) -> None:
    settings = "drive=generic-7k2&level=jbod&disks=1&outstanding=1&read_ratio=1"
    page = opened(f"{page_url}#tab=heat&{settings}", width=width, dark=dark)
    where = page.locator(".heat-where")
    expect(where).to_contain_text("requests in all")
    # the platter of an idle disk costs less than one revolution
    page.get_by_role("button", name="below 1 revolution").press("Enter")
    expect(where).to_contain_text("marked requests")
    expect(where.locator(".heat-bar").first).to_contain_text("seek")
    expect(page.locator("#heat-status")).to_contain_text("requests, simulated in")
    picture(page)
    check_looks(page)
    page.focus("#set-outstanding")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(where.locator(".heat-bar").first).to_contain_text("waiting in a queue")
    assert "outstanding=8" in page.url
    page.select_option("#set-drive", "generic-sas-ssd")
    expect(page.locator(".heat-bands button")).to_have_count(0)
    page.evaluate("location.hash = '#tab=heat&drive=floppy'")
    expect(page.locator("#heat-faults")).to_contain_text("There is no drive floppy here")


def test_the_head(page_url: str, opened: Open, picture, tmp_path) -> None:
    page = opened(page_url + "#tab=head&left=look")
    inside = page.frame_locator("#head")
    expect(inside.locator(".panel h2")).to_have_text(["look", "sptf"])
    expect(inside.locator("#play")).to_have_text("Pause")
    page.select_option("#right", "fcfs")
    expect(inside.locator(".panel h2")).to_have_text(["look", "fcfs"])
    assert "left=look&right=fcfs" in page.url
    picture(page)
    with page.expect_download() as download:
        page.locator("#save").press("Enter")
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)
    page.locator("input[value=small_write]").check()
    expect(inside.locator("#story li")).to_have_count(4)
    check_looks(page)
    alone = opened(saved.as_uri())
    expect(alone.locator(".panel")).to_have_count(2)


def test_a_quiz_to_its_end(page_url: str, opened: Open, picture, tmp_path) -> None:
    seed = 7
    page = opened(page_url + f"#tab=quiz&seed={seed}", width=390)
    for number in range(10):
        asked = Quiz(number, seed).to_dict()
        expect(page.locator("#quiz-question")).to_have_text(asked["question"])
        if number == 3:
            page.click("#quiz-next")
            continue
        page.locator("input[name=choice]").nth(1).check()
        page.click("#quiz-see")
        expect(page.locator("#quiz-answer strong")).to_be_visible()
        assert page.locator(".choice.right").count() >= 1
        page.click("#quiz-next")
    heading = page.locator("#quiz-end h2")
    expect(heading).to_be_focused()
    right = page.locator("#quiz-end li.right").count()
    expect(heading).to_have_text(f"{right} of 10 right, 1 question skipped")
    expect(page.locator("#quiz-end li")).to_have_count(9)
    page.fill("#quiz-name", "A. Student")
    check_looks(page)
    picture(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save the result").click()
    download.value.save_as(tmp_path / "result.txt")
    text = (tmp_path / "result.txt").read_text()
    assert text.startswith(f"diskmodel quiz {seed}\nname: A. Student\nscore: {right} of 10\n")
