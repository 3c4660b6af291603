"""Predictions and exercises of all lessons on one page: kept and compared, answered right and wrong."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.looking import check_looks
from tests.docs.test_exercises import DOCS, HOOK, LESSONS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Path:
    """A page with the forms of every lesson and one live experiment, beside the lab."""
    forms = []
    for lesson in LESSONS:
        for _, kind, data in HOOK.parts(lesson.read_text(), lesson.stem):
            if kind in ("predict", "exercise"):
                forms.append(HOOK._html(kind, data, lesson.stem))
            if kind == "predict":
                forms.append(f'<p class="ask-compare" data-for="{lesson.stem}" role="status"></p>')
    lab = {"only": "outstanding", "state": "tab=array&scene=write", "title": "One small write"}
    links = "".join(f'<p><a href="{lesson.stem}.html">{lesson.stem}</a></p>' for lesson in LESSONS)
    body = f"<main><h1>Course</h1><article>{links}</article>{''.join(forms)}{HOOK._html('lab', lab, 'x')}"
    progress = HOOK._html("progress", {}, "index")
    page = folder.parent / "course" / "all.html"
    page.parent.mkdir(exist_ok=True)
    head = '<meta charset="utf-8"><title>Course</title><link rel="icon" href="data:,">'
    page.write_text(
        f'<!DOCTYPE html><html lang="en"><head>{head}<style>.live-lab {{ width: 100%; height: 300px }}</style></head>'
        f"<body>{body}{progress}</main><script>{(DOCS / 'assets/course.js').read_text()}</script></body></html>"
    )
    return page


def test_every_prediction_is_kept_and_every_exercise_checked(course: Path, opened: Open) -> None:
    page = opened(course.as_uri(), width=390)
    for lesson in LESSONS:
        predict, exercise = (
            page.locator(f'form[data-kind={k}][data-id="{lesson.stem}"]') for k in ("predict", "exercise")
        )
        answer = float(str(exercise.get_attribute("data-answer")))
        exercise.locator("input").fill(str(2.5 * answer))
        exercise.locator("button").click()
        expect(exercise.locator(".wrong")).to_contain_text("Not yet. ")
        exercise.locator("input").fill(f"{answer:g}")
        exercise.locator("input").press("Enter")
        expect(exercise.locator(".right")).to_contain_text("Right: the model says")
        predict.locator("input").fill("1")
        predict.locator("button").click()
        expect(page.locator(f'.ask-compare[data-for="{lesson.stem}"]')).to_contain_text(
            "You predicted 1, the model says"
        )
    frame = page.locator("iframe.live-lab")
    frame.scroll_into_view_if_needed()
    page.frame_locator("iframe.live-lab").locator("#array-facts li").nth(3).wait_for()
    page.wait_for_function("document.querySelector('iframe.live-lab').clientHeight > 600")
    page.reload()
    expect(page.locator(".ask-progress")).to_have_text(
        f"{len(LESSONS)} of {len(LESSONS)} exercises solved in this browser."
    )
    expect(page.locator("form[data-kind=predict] input").first).to_have_value("1")
    expect(page.locator("a.solved")).to_have_count(len(LESSONS))
    check_looks(page)
