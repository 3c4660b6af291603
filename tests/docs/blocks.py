"""Code blocks of a documentation page, and how they are run.

`python` blocks of a page run in order in one namespace. A `text` block that follows one is its exact output. In
`console` blocks the lines `$ diskmodel …` run, and have to succeed. A `toml` block with a title is a file of that name
in the folder where they run. A comment `<!-- not run: why -->` on the line before a block keeps it from running.
"""

from __future__ import annotations

import contextlib
import io
import re
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


def commands(page: Path) -> list[str]:
    """The `diskmodel` command lines of a page, continuation lines joined."""
    found = []
    for block in blocks(page):
        if block.language == "console" and block.is_run:
            joined = block.text.replace("\\\n", " ")
            found += [line[2:] for line in joined.splitlines() if line.startswith("$ diskmodel ")]
    return found


def files(page: Path) -> dict[str, str]:
    """Files that a page tells its reader to write: `toml` blocks with a title, by name."""
    found = {}
    for block in blocks(page):
        title = re.search(r'title="([\w.-]+)"', block.options)
        if block.language == "toml" and title:
            found[title[1]] = block.text
    return found


def outputs(page: Path) -> list[tuple[Block, str, Block | None]]:
    """Runs the `python` blocks of a page: each block, what it printed, and the `text` block right behind it."""
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
    """The page with the `text` blocks that follow `python` blocks holding what these print now."""
    lines = page.read_text().splitlines()
    for _, printed, behind in reversed(outputs(page)):
        if behind is not None:
            fresh = textwrap.indent(printed, behind.indent).splitlines()
            lines[behind.first + 1 : behind.last] = fresh
    return "\n".join(lines) + "\n"
