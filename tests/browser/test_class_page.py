"""The page of a class: exercises by number, answers to hand in, and solutions behind the teacher's key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diskmodel.lab.exercises import Drawn
from diskmodel.lab.exercises.sheet import class_page
from tests.browser.conftest import Open
from tests.browser.looking import check_looks


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("class") / "class.html"
    path.write_text(class_page(10, range(1, 31), 2, key="open sesame"))
    return path.as_uri()


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_a_student_answers_and_the_key_shows_solutions(
    sealed: str, opened: Open, width: int, dark: bool, tmp_path: Path, picture
) -> None:
    page = opened(sealed, width=width, dark=dark)
    assert page.locator("#exercises > li").count() == 0
    page.fill("#number", "17")
    page.click("text=Show my exercises")
    task = Drawn(10, 0, 17).task()
    page.get_by_text(task.question).wait_for()
    assert page.url.endswith("#student=17")
    assert page.locator("details").count() == 0
    page.fill("#answer-0", f"{task.answer:.3g}")
    with page.expect_download() as download:
        page.click("#save")
    assert download.value.suggested_filename == "answers-10-17.json"
    download.value.save_as(tmp_path / "answers.json")
    handed = json.loads((tmp_path / "answers.json").read_text())
    assert handed == {"lesson": 10, "seed": 17, "answers": [float(f"{task.answer:.3g}"), None]}
    check_looks(page)
    page.goto(f"{sealed}#student=17&key=wrong")
    page.get_by_text("This key does not open the solutions.").wait_for()
    page.goto(f"{sealed}#student=17&key=open+sesame")
    page.get_by_text("With the solutions, for the teacher.").wait_for()
    assert page.locator("details[open]").count() == 2
    for step in task.steps:
        assert page.get_by_text(step).is_visible()
    check_looks(page)
    picture(page)
    page.goto(f"{sealed}#student=99")
    page.get_by_text("There is no number 99 on this page; it has 1 to 30.").wait_for()


def test_without_a_key_the_page_checks(tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "own.html"
    path.write_text(class_page(14, [3], 1, lab="../lab/index.html"))
    page = opened(path.as_uri())
    task = Drawn(14, 0, 3).task()
    page.fill("#answer-0", f"{task.by_hand:.3g}")
    page.click("text=Check")
    page.get_by_text("Right.").wait_for()
    page.fill("#answer-0", f"{2 * task.answer:.3g}")
    page.click("text=Check")
    page.get_by_text("Not yet.").wait_for()
    page.click("summary")
    assert page.get_by_text(task.steps[0]).is_visible()
