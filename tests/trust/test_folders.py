"""Folders stay small enough to be read at a glance."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Files in a folder. At half of it related files would be torn apart; at twice it nobody finds the one they need.
MOST_FILES = 22
#: Folders that hold many files of one kind: drives of the catalogue, the modules of one web page, and decisions.
LARGE = {"diskmodel/drive/catalogue", "diskmodel/lab/page", "docs/decisions"}
SOURCES = ("diskmodel", "calibrate", "docs", "tests", "examples", "benchmarks", "requirements")
BUILT = {"__pycache__", "_cache", "node_modules", "target"}


def sizes(root: Path) -> dict[str, int]:
    """Return how many source files each folder under the root's source folders holds; what is built does not count."""
    folders = (folder for source in SOURCES for folder in [root / source, *(root / source).rglob("*/")])
    return {
        folder.relative_to(root).as_posix(): sum(file.is_file() and file.suffix != ".so" for file in folder.iterdir())
        for folder in folders
        if not BUILT & set(folder.parts)
    }


def too_large(root: Path) -> dict[str, int]:
    """Return the folders with too many files."""
    return {folder: n for folder, n in sizes(root).items() if n > MOST_FILES and folder not in LARGE}


def test_no_folder_holds_too_many_files() -> None:
    assert too_large(ROOT) == {}


@pytest.mark.parametrize("folder", sorted(LARGE))
def test_an_exception_that_is_no_longer_needed_is_removed(folder: str) -> None:
    assert sizes(ROOT)[folder] > MOST_FILES


def test_a_large_folder_is_found(tmp_path: Path) -> None:
    for source in SOURCES:
        (tmp_path / source / "inner").mkdir(parents=True)
    for n in range(MOST_FILES + 1):
        (tmp_path / "tests" / "inner" / f"{n}.py").touch()
    assert too_large(tmp_path) == {"tests/inner": MOST_FILES + 1}
