"""Write all pages of the site as plain files that any builder of Markdown can read.

    python docs/plain_pages.py build/pages

Pages are copied from this folder, with the forms of lessons and the links of drives in them. What is drawn, described
or simulated (pictures, the interface, drives, notebooks, slides, exercises, the lab) is written beside them. A file
that has not changed keeps its time, so that a server of the pages shows only what is new.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import api_pages
import choices_page
import course_pictures
import drive_pages
import exercise_pages
import file_pages
import lab_pages
import logo_page
import notebook_pages
import slides_page
import validation_pictures

DOCS = Path(__file__).parent
ROOT = DOCS.parent
#: What makes files, and what changes pages that are written by hand.
MAKERS = (
    api_pages,
    choices_page,
    course_pictures,
    drive_pages,
    exercise_pages,
    file_pages,
    lab_pages,
    logo_page,
    notebook_pages,
    slides_page,
    validation_pictures,
)
WRITERS = (drive_pages, exercise_pages, lab_pages, validation_pictures)
#: Programs, and what belongs to the paper, not to the site.
_LEFT_OUT = {".py", ".pyc", ".bib"}


def copied() -> dict[str, str | bytes]:
    """Return the files of this folder by their places, pages with what is made of their blocks."""
    found: dict[str, str | bytes] = {}
    for path in sorted(DOCS.rglob("*")):
        if not path.is_file() or path.suffix in _LEFT_OUT:
            continue
        place = path.relative_to(DOCS).as_posix()
        if path.suffix != ".md":
            found[place] = path.read_bytes()
            continue
        text = path.read_text(encoding="utf-8")
        for writer in WRITERS:
            text = writer.written(text, place)
        found[place] = text
    return found


def pages() -> dict[str, str | bytes]:
    """Return all files of the site by their places.

    Raises
    ------
    ValueError
        When two of them have the same place.
    """
    found = copied()
    for maker in MAKERS:
        made = maker.made(ROOT)
        if twice := found.keys() & made.keys():
            raise ValueError(f"{maker.__name__}: {', '.join(sorted(twice))}: there is such a page already")
        found |= made
    return found


def write(folder: Path, found: dict[str, str | bytes]) -> int:
    """Make a folder hold these files and no others; return how many were new or had changed."""
    n_written = 0
    for place, content in found.items():
        path, data = folder / place, content.encode() if isinstance(content, str) else content
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        n_written += 1
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(folder).as_posix() not in found:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)
    return n_written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    everything = pages()
    print(f"{folder}: {len(everything)} files, {write(folder, everything)} of them new")
