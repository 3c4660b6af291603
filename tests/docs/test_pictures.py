"""The pictures of the course can be drawn, say what they show, and are the same each time."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOK = load(DOCS / "course_pictures.py")
#: Where a site that is built already has them.
BUILT = Path(site) / "course" / "pictures" if (site := os.environ.get("DISKMODEL_SITE")) else None


@pytest.mark.parametrize("name", HOOK.names())
def test_a_picture_is_drawn_from_the_model(name: str) -> None:
    picture = (BUILT / f"{name}.svg").read_text() if BUILT else getattr(HOOK.drawings(), name)()
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) > 5, "axes have no words"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 5


def test_the_same_picture_is_the_same_text() -> None:
    assert HOOK.drawings().zones() == HOOK.drawings().zones()


def test_lessons_show_the_moving_head_that_is_made_for_them() -> None:
    pages = {path.stem: path.read_text() for path in BUILT.glob("*.html")} if BUILT else HOOK.moving()
    assert len(pages) > 3
    lessons = "".join(path.read_text() for path in (DOCS / "course").glob("[01]*.md"))
    for name, page in pages.items():
        assert f'src="pictures/{name}.html"' in lessons
        assert "<script" in page
        assert "http://" not in page.replace("http://www.w3.org/", "")
