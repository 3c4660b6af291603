"""Each story's page says what the model says now, and can be rerun by the command that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.validation.field.cases import FIELD, ROOT
from tests.validation.field.stories import STORIES
from tests.validation.field.story import PAGES, figures_of, main, page_of

#: Stories that take longer than a few seconds.
SLOW = {"sorted-writes", "sorted-writes-fsync", "threads", "interference"}


def test_there_are_six_and_their_index_names_them() -> None:
    assert set(STORIES) == {
        "sorted-writes",
        "sorted-writes-fsync",
        "threads",
        "strip-size",
        "read-ahead",
        "interference",
    }
    index = (ROOT / "docs" / "how-to" / "read-the-field-stories.md").read_text(encoding="utf-8")
    assert set(re.findall(r"field-stories/([a-z-]+)\.md", index)) == set(STORIES)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in STORIES])
def test_page_is_what_the_story_says_now(name: str) -> None:
    story = STORIES[name]
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page == page_of(story, figures_of(story))
    assert f"]({name}.svg)" in page
    assert (PAGES / f"{name}.svg").is_file()


def test_every_run_names_files_that_exist() -> None:
    for story in STORIES.values():
        for line in story.lines:
            assert (FIELD / f"{line.array}.toml").is_file(), line
            assert (FIELD / f"{line.workload}.toml").is_file(), line


def test_the_command_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["strip-size", "--out", str(tmp_path)]) == 0
    assert "128 KiB" in capsys.readouterr().out
    assert (tmp_path / "story-strip-size.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(SystemExit):
        main([])
