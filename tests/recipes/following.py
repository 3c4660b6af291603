"""A copy of the package to which a recipe of the documentation is applied, and a process that uses it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.docs.blocks import blocks

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"


def titled_block(page: str, name: str) -> tuple[Path, str]:
    """Path and text of the code block of a how-to page whose title ends in `name`."""
    for block in blocks(HOW_TO / page):
        title = re.search(r'title="([^"]+)"', block.options)
        if title and title[1].endswith(name):
            return Path(title[1]), block.text + "\n"
    raise AssertionError(f"{page} has no block titled {name}")


def copy_of_package(folder: Path) -> Path:
    """The Python package, without the sources of the kernel, in `folder`."""
    ignored = shutil.ignore_patterns("kernel", "__pycache__")
    shutil.copytree(ROOT / "diskmodel", folder / "diskmodel", ignore=ignored)
    return folder


def insert(path: Path, before: str, line: str) -> None:
    """Write `line` in front of the first line of a file that is `before`."""
    lines = path.read_text().splitlines()
    lines.insert(lines.index(before), line)
    path.write_text("\n".join(lines) + "\n")


def answer(folder: Path, program: str) -> Any:
    """The JSON that a program prints which imports the package in `folder`."""
    check = f"import diskmodel; assert diskmodel.__file__.startswith({str(folder)!r}), diskmodel.__file__\n"
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", check + program], cwd=folder, env=variables, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
