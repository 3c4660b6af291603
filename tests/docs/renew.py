"""Write the output that the code and the commands of documentation pages print now into these pages.

A picture of a page that one of its commands draws is renewed as well.
Usage: python -m tests.docs.renew docs/course/01-random-io.md …; then read the difference and fix the text around it.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import files, pictures, renewed

if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("examples").symlink_to(Path(__file__).parents[2] / "examples")
            for file, text in files(page).items():
                Path(file).write_text(text)
            page.write_text(renewed(page))
            for picture in pictures(page):
                if Path(picture.name).is_file():
                    picture.write_text(Path(picture.name).read_text())
