"""The pages that compare have a picture of their own tables, and long tables wait behind a line."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def _hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validation_pictures", DOCS / "validation_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = _hook()


def _page(name: str) -> str:
    return (DOCS / "explanation" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES.PICTURES)
def test_a_page_shows_its_picture_and_says_what_it_shows(name: str) -> None:
    found = re.findall(rf"!\[([^\]]+)\]\({name}\.svg\)", _page(name))
    assert len(found) == 1
    assert len(found[0]) > 20


@pytest.mark.parametrize("name", PAGES.PICTURES)
def test_it_has_a_row_and_a_mark_for_whatever_the_tables_have(name: str) -> None:
    rows = PAGES.PICTURES[name][0](_page(name)).rows
    text = PAGES.picture(name)
    words = [element.text for element in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert set(rows) <= set(words)
    marks = sum(len(found) for found in rows.values())
    errors = {
        # three errors in a row of the table, if there is a model
        "validation-md-raid": 3 * len(re.findall(r"^\| (?:single|RAID).*%", _page(name), re.MULTILINE)),
        "validation-published": len(re.findall(r"^\| \d+ \|", _page(name), re.MULTILINE)),
        "validation-arrays": len(re.findall(r"^\|.*(?:/s|ms) \| [+-]\d+% \|$", _page(name), re.MULTILINE)),
        "validation-firmware": len(re.findall(r"^\|.*\| \d\.\d{3} \|", _page(name), re.MULTILINE)),
        "validation-synthesis": 2
        * len(re.findall(r"^\|.* \d+% \| [\d.e+]+ \| [+-][\d.]+% \|", _page(name), re.MULTILINE)),
        "validation-field": len(re.findall(r"\| (?:within|OUT) \| (?:predicted|fitted) \|", _page(name))),
    }
    if name in errors:
        assert marks == errors[name] > 10


def test_the_audit_counts_every_candidate_once() -> None:
    rows = PAGES.PICTURES["audit-of-plans"][0](_page("audit-of-plans")).rows
    everything = re.search(r"^\| all \| \d+ \| (\d+) \|", _page("audit-of-plans"), re.MULTILINE)
    assert everything is not None
    assert sum(value for marks in rows.values() for _, value in marks) == int(everything[1])


def test_an_error_is_a_ratio() -> None:
    assert [PAGES.ratio(cell) for cell in ("+25%", "-50.0%", "+1,844%")] == pytest.approx([1.25, 0.5, 19.44])


def test_long_tables_are_folded_and_short_ones_are_not() -> None:
    head, row = "| a | b |\n|---|--:|\n", "| 1 | 2 |\n"
    short, long = (head + row * n for n in (PAGES.LONG, PAGES.LONG + 1))
    assert "<details" not in PAGES.fold(f"Text.\n\n{short}")
    folded = PAGES.fold(f"Text.\n\n{short}\nMore.\n\n{long}")
    assert folded.count("<details") == 1
    assert f"<summary>Table of {PAGES.LONG + 1} rows</summary>\n\n{long}\n</details>" in folded
    # none of their numbers is among what a search finds
    assert folded.count("data-search-exclude") == 2
    assert PAGES.fold("No table | here\n") == "No table | here\n"
