"""The moving head plays, pauses, steps; saved as a file and inside the lab; its times add up."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page, expect

from diskmodel.array import Array
from diskmodel.lab import commits_page, schedulers_page, small_write_page
from diskmodel.workload import Workload
from tests.browser.conftest import Open
from tests.browser.looking import answered, contrasts, nameless, outside

ARRAY = Array.parse({"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}})
RAID5 = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 8}})
LOAD = Workload.parse({"size": "4 KiB", "clients": 16, "read_ratio": 0.7})
PAGES = {
    "commits": lambda: commits_page(ARRAY),
    "elevators": lambda: schedulers_page(ARRAY, LOAD, n_requests=60),
    "small-write": lambda: small_write_page(RAID5),
}


@pytest.fixture(params=PAGES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / f"{request.param}.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path.as_uri()


def clock_ms(page: Page | Frame) -> float:
    return float(page.locator("#clock").inner_text().split()[0])


def pixels(page: Page | Frame) -> str:
    return str(page.evaluate("document.querySelector('canvas.disk').toDataURL()"))


def test_plays_pauses_and_ends(file: str, opened: Open, picture) -> None:
    page = opened(file)
    expect(page.locator("#play")).to_have_text("Pause")
    first = clock_ms(page)
    page.wait_for_function("(t) => parseFloat(document.getElementById('clock').textContent) > t", arg=first + 0.3)
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Play")
    stopped, drawn = clock_ms(page), pixels(page)
    page.wait_for_timeout(300)
    assert (clock_ms(page), pixels(page)) == (stopped, drawn)
    picture(page)
    page.click("#play")
    page.wait_for_function("(t) => parseFloat(document.getElementById('clock').textContent) > t", arg=stopped + 0.3)
    assert pixels(page) != drawn
    for _ in range(10):
        page.keyboard.press("+")
    expect(page.locator("#slow")).to_have_text("real time")
    expect(page.locator("#play")).to_have_text("Play", timeout=20_000)
    for served in page.locator(".panel .head span").all():
        done, of = re.findall(r"\d+", served.inner_text())[:2]
        assert done == of
    page.keyboard.press("Home")
    assert clock_ms(page) == 0


def test_steps_go_from_phase_to_phase_and_back(file: str, opened: Open) -> None:
    page = opened(file + "#paused")
    expect(page.locator("#play")).to_have_text("Play")
    places, phases = [clock_ms(page)], set()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        places.append(clock_ms(page))
        phases |= {text.split(": ")[-1] for text in page.locator(".now").all_inner_texts()}
    assert places == sorted(places)
    moves = set() if "commits" in file else {"seek"}  # a log stays on its track
    assert {"rotation", "transfer"} | moves <= phases
    page.click("#back")
    assert clock_ms(page) == places[-2]


@pytest.mark.parametrize("at", [0.7, 5, 11])
def test_the_times_of_a_disk_add_up_to_the_clock(file: str, opened: Open, at: float) -> None:
    page = opened(f"{file}#paused&at={at}")
    for panel in page.locator(".panel").all():
        *parts, together = [float(text.split()[0]) for text in panel.locator("td.value").all_inner_texts()]
        assert sum(parts) == pytest.approx(together, abs=0.21 if "elevators" in file else 0.021), "rounded for display"
        assert together == pytest.approx(at, abs=0.06)


def test_the_small_write_tells_of_its_four_ios(tmp_path: Path, opened: Open, picture) -> None:
    path = tmp_path / "write.html"
    path.write_text(small_write_page(RAID5), encoding="utf-8")
    page = opened(path.as_uri() + "#paused")
    rows = page.locator("#story li")
    expect(rows).to_have_count(4)
    assert all("not yet" in row for row in rows.all_inner_texts()[2:])
    page.keyboard.press("Home")
    page.locator("#place").fill("1000")
    names = [re.sub(r"^\d\. |, disk \d+\s[^$]*$", "", row.replace("\n", " ")) for row in rows.all_inner_texts()]
    assert sorted(names) == ["read old data", "read old parity", "write new data", "write new parity"]
    assert all("done at" in row for row in rows.all_inner_texts())
    text = page.locator("#story p").inner_text()
    total, reading, writing, waiting, revolution = map(float, re.findall(r"([\d.]+) ms", text))
    assert reading + writing == pytest.approx(total, abs=0.011)
    assert revolution == 4.0
    assert 0.5 * revolution < waiting < revolution
    # the arm stands where the sector is: all but the transfer of the last part is the wait for the platter
    assert writing == pytest.approx(waiting, abs=0.5)
    picture(page)


@pytest.mark.parametrize("dark", [False, True])
def test_fits_a_phone_by_day_and_by_night(file: str, opened: Open, dark: bool, picture) -> None:
    page = opened(file + "#paused&at=5", width=360, height=740, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert outside(page) == []
    assert nameless(page) == []
    assert [one for one in contrasts(page, "p, h1, h2, span, div.now, th, td, label, button") if one[0] < 4.5] == []
    picture(page)


def test_who_wants_no_motion_gets_none(file: str, opened: Open) -> None:
    page = opened(file, reduced_motion="reduce")
    expect(page.locator("#play")).to_have_text("Play")
    page.wait_for_timeout(200)
    assert clock_ms(page) == 0


def test_in_the_lab_it_follows_the_settings(lab: str, opened: Open, picture) -> None:
    page = opened(lab)
    answered(page)
    page.click("#tab-head")
    inside = page.frame_locator("#head")
    expect(inside.locator(".panel h2").first).to_have_text("fcfs")
    expect(inside.locator("#play")).to_have_text("Pause")
    page.select_option("#left", "sstf")
    expect(inside.locator(".panel h2").first).to_have_text("sstf")
    page.select_option("#set-drive", "generic-7k2")
    expect(inside.locator("p").first).to_contain_text("7.2k")
    frame = page.locator("#head").element_handle().content_frame()
    assert frame is not None
    first = clock_ms(frame)
    frame.wait_for_function("(t) => parseFloat(document.getElementById('clock').textContent) > t", arg=first)
    # as tall as what is in it: only the page scrolls
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    picture(page)
    page.locator("input[value=small_write]").check()
    expect(inside.locator("#story li")).to_have_count(4)
    expect(page.locator("#pair")).to_be_hidden()
    page.select_option("#set-drive", "generic-sas-ssd")
    expect(page.locator("#armless")).to_contain_text("no single arm")
    expect(page.locator("#head")).to_be_hidden()
    page.select_option("#set-drive", "generic-10k")
    expect(page.locator("#armless")).to_be_empty()
    expect(inside.locator("#story li")).to_have_count(4)


def test_it_can_be_saved_and_played_without_the_lab(lab: str, opened: Open, tmp_path: Path) -> None:
    page = opened(lab + "#tab=head")
    page.frame_locator("#head").locator(".panel").nth(1).wait_for()
    with page.expect_download() as download:
        # by the keyboard: the frame above grows with its content, and a link that moves may be missed by a click
        page.locator("#save").press("Enter")
    assert download.value.suggested_filename == "schedulers.html"
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)
    alone = opened(saved.as_uri())
    expect(alone.locator("#play")).to_have_text("Pause")
    expect(alone.locator(".panel")).to_have_count(2)
