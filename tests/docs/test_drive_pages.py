"""Each drive of the catalogue has a page, with everything that was measured of it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from diskmodel.drive import catalogue
from diskmodel.drive.validated import validation_of
from tests.docs import drive_rates
from tests.docs.test_pictures import DOCS, load

HOOK = load(DOCS / "drive_pages.py")
COMPARED = HOOK.compared()


@pytest.mark.parametrize("name", catalogue())
def test_a_page_says_what_a_profile_rests_on(name: str) -> None:
    text = HOOK.page(name, COMPARED.get(name, []))
    assert text.startswith(f"# {catalogue()[name].name}\n")
    assert f"| validation | {validation_of(name)} |" in text
    for fields in catalogue()[name].provenance.values():
        assert all(f"`{field}`" in text for field in fields)
    # what a line of the list counts is on the page
    assert ("published figure" in validation_of(name)) >= bool(COMPARED.get(name))


def test_every_measured_section_is_on_the_page_of_a_drive() -> None:
    text = (DOCS / "explanation" / "validation-arrays.md").read_text(encoding="utf-8")
    assert sum(map(len, COMPARED.values())) == len(re.findall(r"Profile:\s+`", text))
    assert set(COMPARED) <= set(catalogue())


def test_the_picture_has_a_mark_for_every_figure() -> None:
    sections = COMPARED["wd-ultrastar-hc310"]
    ((what, ratio),) = HOOK.ratios(sections)
    assert what == "128 KiB writes, depth 129"
    assert ratio > 3
    root = ElementTree.fromstring(HOOK.picture(sections))
    assert what in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_list_of_profiles_links_to_the_pages() -> None:
    text = (DOCS / HOOK.INDEX).read_text(encoding="utf-8")
    linked = HOOK.written(text, HOOK.INDEX)
    assert all(f"(../reference/drives/{name}.md)" in linked for name in catalogue())


def test_the_list_has_every_drive_and_its_rates() -> None:
    text = HOOK.list_of_drives()
    rows = re.findall(r"^\| \[.*\]\((.+)\.md\) \|", text, re.MULTILINE)
    assert sorted(rows) == sorted(catalogue())
    assert list(HOOK.rates()) == list(catalogue())


@pytest.mark.parametrize("name", ["generic-7k2", "intel-x25-m-g2-160"])
def test_kept_rates_are_those_of_today(name: str) -> None:
    header, cells = drive_rates.COLUMNS, drive_rates.row(name)
    assert HOOK.rates()[name] == dict(zip(header, cells, strict=True))
