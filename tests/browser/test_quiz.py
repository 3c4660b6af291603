"""The quiz in a browser: predict, see, go on, open in the lab; by mouse and by keyboard."""

import re

from playwright.sync_api import expect

from diskmodel.lab.quiz import Quiz
from diskmodel.lab.quiz_questions import QUESTIONS
from tests.browser.conftest import Open
from tests.browser.looking import answered

SEED = 11


def test_all_questions_right(lab: str, opened: Open, picture) -> None:
    page = opened(f"{lab}&seed={SEED}#tab=quiz")
    for number in range(len(QUESTIONS)):
        expect(page.locator("#quiz-number")).to_have_text(f"Question {number + 1}")
        asked = Quiz(number, SEED)
        expect(page.locator("#quiz-question")).to_have_text(asked.to_dict()["question"])
        expect(page.locator("#quiz-see")).to_be_disabled()
        expect(page.locator("#quiz-answer")).to_be_empty()
        right = asked.reveal(0)["right"][0]
        page.locator("input[name=choice]").nth(right).check()
        page.click("#quiz-see")
        expect(page.locator("#quiz-answer")).to_contain_text("Right.")
        expect(page.locator("#quiz-score")).to_have_text(f"{number + 1} of {number + 1} right")
        expect(page.locator(".choice.right").first).to_be_visible()
        if number == 1:
            picture(page)
        page.click("#quiz-next")


def test_a_wrong_prediction_by_keyboard_and_into_the_lab(lab: str, opened: Open) -> None:
    page = opened(f"{lab}&seed={SEED}#tab=quiz")
    revealed = Quiz(0, SEED).reveal(0)
    wrong = next(n for n in range(5) if n not in revealed["right"])
    choices = page.locator("input[name=choice]")
    choices.first.wait_for()
    choices.first.focus()
    page.keyboard.press("Space")
    for _ in range(wrong):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#quiz-answer")).to_contain_text("Wrong.")
    expect(page.locator(".choice.wrong")).to_have_count(1)
    expect(page.locator("#quiz-score")).to_have_text("0 of 1 right")
    expect(page.locator("#quiz-next")).to_be_focused()
    for disabled in choices.all():
        expect(disabled).to_be_disabled()
    # the next Tab stop opens what was asked
    page.keyboard.press("Tab")
    expect(page.locator("#quiz-open")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-curves")).to_be_visible()
    answered(page)
    expect(page.locator("#set-drive")).to_have_value("generic-7k2")
    expect(page.locator("label[for=set-outstanding] output")).to_have_text(str(revealed["settings"]["outstanding"]))


def test_skipping_costs_nothing_and_the_number_stays_on_screen(lab: str, opened: Open) -> None:
    page = opened(f"{lab}&seed={SEED}#tab=quiz")
    expect(page.locator("#quiz-number")).to_have_text("Question 1")
    page.click("#quiz-next")
    expect(page.locator("#quiz-number")).to_have_text("Question 2")
    expect(page.locator("#quiz-score")).to_be_empty()
    expect(page.locator("input[name=choice]").first).to_be_focused()
    page.click("#tab-curves")
    page.click("#tab-quiz")
    expect(page.locator("#quiz-number")).to_have_text("Question 2")


def test_without_a_seed_readers_get_different_quizzes(lab: str, opened: Open) -> None:
    texts = set()
    for _ in range(4):
        page = opened(f"{lab}#tab=quiz")
        expect(page.locator("#quiz-number")).to_have_text(re.compile("Question 1"))
        texts.add(
            page.evaluate(
                "performance.getEntriesByType('resource').map((e) => e.name).find((n) => n.includes('/quiz/'))"
            )
        )
    assert len(texts) > 1
