"""Run the code and the commands of every page, and compare their output with what the page shows."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from diskmodel.layout.levels import LEVELS
from diskmodel.queue import SCHEDULERS
from tests.docs.blocks import blocks, commands, drawing, files, outputs, pictures, without_trailing_blanks

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "docs/index.md",
        ROOT / "docs/questions-people-asked.md",
        ROOT / "docs/explanation/how-an-answer-is-made.md",
        ROOT / "docs/explanation/what-is-left-out.md",
        ROOT / "docs/reference/errors.md",
        *ROOT.glob("docs/course/*.md"),
        *ROOT.glob("docs/how-to/*.md"),
        *ROOT.glob("docs/how-to/databases/*.md"),
        *ROOT.glob("docs/how-to/measure/*.md"),
        *ROOT.glob("docs/how-to/remote/*.md"),
        *ROOT.glob("docs/how-to/troubleshoot/*.md"),
    ]
)


#: Pages whose commands take a minute or more; the like of each is on another page.
LONG = (
    "docs/how-to/measure/calibrate-inside-an-array.md",
    "docs/how-to/plan-several-volumes.md",
    "docs/how-to/size-from-iostat.md",
    "docs/how-to/sizing-cases.md",
)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def cases(pages: list[Path], long: Sequence[str] = ()) -> list[object]:
    """The pages as parameters of a test, those that are long in that tier."""
    return [pytest.param(page, id=name(page), marks=[pytest.mark.long] * (name(page) in long)) for page in pages]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the examples in it, where the reader works; what a page registers is forgotten after it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    with patch.dict(SCHEDULERS), patch.dict(LEVELS):
        yield tmp_path


def with_python(page: Path) -> bool:
    return any(block.language == "python" and block.is_run for block in blocks(page))


@pytest.mark.parametrize("page", cases([p for p in PAGES if with_python(p)]))
def test_python_of_a_page_runs_and_prints_what_the_page_says(page: Path, reader: Path) -> None:
    for block, printed, shown in outputs(page):
        if shown is not None:
            assert printed == shown.text, f"{name(page)}:{block.first + 1} prints something else"


@pytest.mark.parametrize("page", cases([p for p in PAGES if commands(p)], LONG))
def test_commands_of_a_page_succeed_and_print_what_the_page_shows(page: Path, reader: Path) -> None:
    if importlib.util.find_spec("diskmodel.cli") is None:
        pytest.skip("the command-line tool is not installed")
    for file, text in files(page).items():
        (reader / file).write_text(text)
    for command in commands(page):
        done = command.run()
        assert done.returncode == 0, f"{name(page)}: {command.line}\n{done.stderr}"
        if command.shown is not None:
            printed = without_trailing_blanks(done.stdout)
            assert printed == command.shown, f"{name(page)}:{command.first + 1} prints something else"
    for picture in pictures(page):
        drawn = reader / picture.name
        if drawn.is_file():
            assert drawing(drawn) == drawing(picture), f"{name(page)}: {picture.name} is not what its command draws now"


def lessons() -> list[Path]:
    return [page for page in PAGES if page.parent.name == "course" and page.name[0].isdigit()]


@pytest.mark.parametrize("page", lessons(), ids=name)
def test_a_lesson_has_a_question_an_experiment_a_picture_and_an_exercise(page: Path) -> None:
    text = page.read_text()
    assert text.count("!!! question") == 1, "one exercise"
    assert text.count('??? success "Answer"') == 1, "one answer"
    assert "](pictures/" in text, "one picture"
    assert with_python(page) or commands(page), "one experiment"
    answer = text[text.index("??? success") :]
    assert "    ```text" in answer, "the answer is what the model says"
