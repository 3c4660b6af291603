"""The example notebooks run from top to bottom in a Jupyter kernel, and show what they talk about."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.docs.test_pictures import DOCS, load

HOOK = load(DOCS / "notebook_pages.py")
NOTEBOOKS = sorted((DOCS.parent / "examples/notebooks").glob("*.ipynb"))


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_came_out(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.slow
@pytest.mark.skipif(
    "DISKMODEL_SITE" in os.environ, reason="the site in DISKMODEL_SITE was built by running all of them"
)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_makes_a_page(path: Path) -> None:
    notebook = HOOK.executed(path)
    page = HOOK.as_page(notebook, path.stem)
    assert page.startswith("# ")
    assert page.count("```python") == sum(cell.cell_type == "code" for cell in notebook.cells)
    assert "<svg" in page or "image/png" in page
    assert "<table>" in page


@pytest.mark.skipif("DISKMODEL_SITE" not in os.environ, reason="DISKMODEL_SITE does not name the built site")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_site_has_what_a_notebook_shows(path: Path) -> None:
    page = (Path(os.environ["DISKMODEL_SITE"]) / "course" / "notebooks" / f"{path.stem}.html").read_text()
    assert "<svg" in page or "image/png" in page
    assert "<table>" in page
