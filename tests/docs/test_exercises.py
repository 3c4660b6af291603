"""Every lesson asks for a prediction, shows a live experiment and checks an exercise, by its own tested output."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from diskmodel.lab.site.tables import page_offers
from tests.docs.test_pictures import load

DOCS = Path(__file__).parents[2] / "docs"
HOOK = load(DOCS / "exercise_pages.py")
LESSONS = sorted((DOCS / "course").glob("[0-9]*.md"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_asks_shows_and_checks(lesson: Path) -> None:
    found = HOOK.parts(lesson.read_text(), lesson.stem)
    kinds = [kind for _, kind, _ in found]
    assert kinds.count("predict") == kinds.count("exercise") == 1
    assert "lab" in kinds
    assert all(data["number"] > 0 for _, kind, data in found if kind in ("predict", "exercise"))
    page = HOOK.with_forms(lesson.read_text(), lesson.stem)
    assert page.index('data-kind="predict"') < page.index("## Experiment") < page.index('class="ask-compare"')
    assert page.index('data-kind="exercise"') < page.index('??? success "Answer"')


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_live_experiment_has_settings_that_the_lab_knows(lesson: Path) -> None:
    offers = page_offers()
    listed = {"drive": offers["drives"], "level": offers["levels"], "scheduler": offers["schedulers"]}
    listed["pattern"] = offers["patterns"]
    for _, kind, data in HOOK.parts(lesson.read_text(), lesson.stem):
        if kind == "lab":
            for key, value in parse_qsl(data["state"]):
                if key in listed:
                    assert value in {one["value"] for one in listed[key]}, (key, value)
                else:
                    assert key in {*offers["defaults"], "tab", "scene"} or key.startswith(("need_", "log_")), key


def test_a_block_that_is_wrong_is_refused() -> None:
    output = "```text\n12 IOPS\n13 IOPS\n```\n"
    ask = "```predict\nquestion = 'How many?'\nunit = 'a second'\nanswer = '{}'\n```\n"
    for pattern in (r"(\d+) IOPS", r"(\d+) MB/s"):
        with pytest.raises(ValueError, match="times in the output"):
            HOOK.with_forms(ask.format(pattern) + output, "lesson")
    with pytest.raises(ValueError, match="has the keys"):
        HOOK.with_forms("```exercise\nquestion = 'How many?'\n```\n", "lesson")
    assert 'data-answer="12"' in HOOK.with_forms(ask.format(r"(12) IOPS") + output, "lesson")


def test_the_number_of_exercises_is_counted() -> None:
    assert re.search(f'data-total="{len(LESSONS)}"', HOOK.with_forms("```progress\n```\n", "index"))
