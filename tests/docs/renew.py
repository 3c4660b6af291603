"""Writes what the code of documentation pages prints now into these pages.

Usage: python -m tests.docs.renew docs/course/01-random-io.md …; then read the difference: text around it may lie now.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import renewed

if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("examples").symlink_to(Path(__file__).parents[2] / "examples")
            page.write_text(renewed(page))
