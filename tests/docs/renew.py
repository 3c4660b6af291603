"""Writes what the code of documentation pages prints now into these pages.

Usage: python -m tests.docs.renew docs/course/01-random-io.md …; then read the difference: text around it may lie now.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.blocks import renewed

if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        page.write_text(renewed(page))
