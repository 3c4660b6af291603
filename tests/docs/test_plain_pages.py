"""The pages of the site are plain files: any builder of Markdown can read them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import markdown
import pytest

from tests.docs.test_pictures import load

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def step() -> ModuleType:
    """The program that writes the pages, which finds its neighbors as when it is run."""
    sys.path.insert(0, str(DOCS))
    try:
        return load(DOCS / "plain_pages.py")
    finally:
        sys.path.remove(str(DOCS))


def test_the_builder_runs_none_of_our_code_but_the_words_of_the_search() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    assert "hooks:" not in text
    assert "docs_dir: build/pages" in text
    assert re.findall(r"^  - search_words$", text, re.MULTILINE) == ["  - search_words"]
    for path in DOCS.glob("*.py"):
        assert "mkdocs" not in re.sub(r'"""|#.*', "", path.read_text()).replace("mkdocstrings", ""), path


def test_copied_pages_have_their_forms_and_folded_tables(step: ModuleType) -> None:
    found = step.copied()
    assert not any(place.endswith((".py", ".bib")) for place in found)
    assert ".nav.yml" in found
    lesson = found["course/04-knee.md"]
    assert isinstance(lesson, str)
    assert "```predict" not in lesson
    assert '<form class="ask"' in lesson
    table = found["explanation/validation-published.md"]
    assert isinstance(table, str)
    assert "<details" in table or "data-search-exclude" in table


def test_every_file_that_makes_pages_is_asked(step: ModuleType) -> None:
    makers = {path.stem for path in DOCS.glob("*.py") if re.search(r"^def made\(", path.read_text(), re.MULTILINE)}
    writers = {path.stem for path in DOCS.glob("*.py") if re.search(r"^def written\(", path.read_text(), re.MULTILINE)}
    assert makers == {module.__name__ for module in step.MAKERS}
    assert writers == {module.__name__ for module in step.WRITERS}


def test_a_folder_holds_the_pages_and_no_others(step: ModuleType, tmp_path: Path) -> None:
    assert step.write(tmp_path, {"a/b.md": "text", "c.bin": b"\0"}) == 2
    before = (tmp_path / "a/b.md").stat().st_mtime_ns
    assert step.write(tmp_path, {"a/b.md": "text"}) == 0
    assert (tmp_path / "a/b.md").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert step.write(tmp_path, {"d.md": "new"}) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["d.md"]


def test_long_blocks_are_kept_out_of_the_search() -> None:
    extension = load(DOCS / "search_words.py").makeExtension()
    made = markdown.Markdown(extensions=["pymdownx.highlight", "pymdownx.superfences", extension])
    short, long = (made.convert("```text\n" + "line\n" * n + "```\n") for n in (5, 30))
    assert "data-search-exclude" not in short
    assert "data-search-exclude" in long


def test_the_home_page_begins_with_an_answer(step: ModuleType) -> None:
    lab = next(module for module in step.WRITERS if module.__name__ == "lab_pages")
    home = (DOCS / "index.md").read_text()
    assert home.index("{first_answer}") < home.index("<iframe")
    answer = lab.first_answer()
    found = re.findall(r"(\d+) disks of [^()]+? in RAID (?:5|10)", answer)
    assert len(found) == 2
    assert all(int(disks) >= 3 for disks in found)
    assert lab.written("{version}", "other.md") == "{version}"
    # the question is that of the controls
    controls = (ROOT / "diskmodel/lab/page/controls.js").read_text()
    assert "need_iops: 500, need_reads: 0.7, need_size: 8192, need_tb: 2, need_p99: 80" in controls
    address = re.findall(r'src="lab/index.html\?[^"]*#([^"]*)"', home)[0]
    for drive in lab.QUESTION["candidates"]["drives"]:
        assert drive in address
    assert "need_levels=raid10%2Craid5" in address
