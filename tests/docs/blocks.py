"""Code blocks of a documentation page, and how they are run.

`python` blocks of a page run in order in one namespace. A `text` block that follows one is its exact output. In
`console` blocks the lines `$ diskmodel …` run, and must succeed; lines below a command are its exact standard output.
A `toml` block with a title is a file of that name in the folder where they run. A comment `<!-- not run: why -->` on
the line before a block keeps it from running.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z]*)(?P<options>[^`]*)$")


@dataclass
class Block:
    """A fenced block: its language, text, and lines (from 0; of the opening and the closing fence)."""

    language: str
    options: str
    text: str
    indent: str
    first: int
    last: int
    is_run: bool


def blocks(page: Path) -> list[Block]:
    """Fenced blocks of a page in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        match = _FENCE.match(lines[at])
        if match:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            text = "\n".join(line.removeprefix(match["indent"]) for line in lines[at + 1 : end])
            is_run = not (at and lines[at - 1].strip().startswith("<!-- not run:"))
            found.append(Block(match["language"], match["options"].strip(), text, match["indent"], at, end, is_run))
            at = end
        at += 1
    return found


@dataclass
class Command:
    """A `diskmodel` command line of a page, and the output that the page shows for it.

    Attributes
    ----------
    line : str
        The command without its prompt, continuation lines joined.
    shown : str or None
        Standard output on the page, lines without trailing blanks; None if the page shows none.
    first, last : int
        Lines of the page from the one after the command to the one after its output.
    """

    line: str
    shown: str | None
    first: int
    last: int

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run the command in the current folder, with the width of a file and not that of a terminal."""
        words = [sys.executable, "-c", "from diskmodel.cli import main; main()", *shlex.split(self.line)[1:]]
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=environment)


def commands(page: Path) -> list[Command]:
    """Return the `diskmodel` command lines of a page in order."""
    found: list[Command] = []
    for block in blocks(page):
        if block.language != "console" or not block.is_run:
            continue
        lines = block.text.splitlines()
        at = 0
        while at < len(lines):
            line = lines[at]
            while line.endswith("\\"):
                at += 1
                line = f"{line[:-1]} {lines[at]}"
            at += 1
            end = next((i for i in range(at, len(lines)) if lines[i].startswith("$ ")), len(lines))
            if line.startswith("$ diskmodel "):
                shown = "\n".join(lines[at:end]) if end > at else None
                found.append(Command(line[2:], shown, block.first + 1 + at, block.first + 1 + end))
            at = end
    return found


def without_trailing_blanks(text: str) -> str:
    """Return the lines of an output as a page shows them."""
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def files(page: Path) -> dict[str, str]:
    """Return the files that a reader of the page writes: `toml` blocks with a title, by name."""
    found = {}
    for block in blocks(page):
        title = re.search(r'title="([\w.-]+)"', block.options)
        if block.language == "toml" and title:
            found[title[1]] = block.text
    return found


def outputs(page: Path) -> list[tuple[Block, str, Block | None]]:
    """Run the `python` blocks of a page; return each block, what it printed, and the `text` block right behind it."""
    found: list[tuple[Block, str, Block | None]] = []
    namespace: dict[str, object] = {"__name__": "__page__"}
    all_blocks = blocks(page)
    for i, block in enumerate(all_blocks):
        if block.language != "python" or not block.is_run:
            continue
        printed = io.StringIO()
        # the line numbers of a failure are those of the page
        code = compile("\n" * (block.first + 1) + block.text, str(page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        behind = all_blocks[i + 1] if i + 1 < len(all_blocks) else None
        if behind is None or behind.language != "text" or behind.first > block.last + 2:
            behind = None
        found.append((block, printed.getvalue().rstrip("\n"), behind))
    return found


def renewed(page: Path) -> str:
    """Return the page with the output that its Python blocks and its commands print now."""
    lines = page.read_text().splitlines()
    fresh: list[tuple[int, int, list[str]]] = []
    for _, printed, behind in outputs(page):
        if behind is not None:
            fresh.append((behind.first + 1, behind.last, textwrap.indent(printed, behind.indent).splitlines()))
    shown = commands(page)
    if pictures(page) or any(command.shown is not None for command in shown):
        for command in shown:
            done = command.run()
            if command.shown is not None:
                fresh.append((command.first, command.last, without_trailing_blanks(done.stdout).splitlines()))
    for first, last, text in sorted(fresh, reverse=True):
        lines[first:last] = text
    return "\n".join(lines) + "\n"


def pictures(page: Path) -> list[Path]:
    """Return the files that a page shows as pictures."""
    return [page.parent / name for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())]


def drawing(path: Path) -> str:
    """Return an SVG file without its metadata, which names the version that drew it."""
    return re.sub(r"<metadata>.*?</metadata>", "", path.read_text(), flags=re.DOTALL)
