"""Answers about several volumes in a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from diskmodel.plan.answer.arrangement import ServerResult
from diskmodel.plan.show import server_words as words
from diskmodel.plan.show.narrow import TableOrList

_LEFT = 2
#: Columns of words; the others are figures.
_TEXT = ("arrangement", "volumes", "drive", "level", "limited by", "p99 ms")


def server_table(result: ServerResult) -> RenderableType:
    """Return the answer, at most three reasons, every array in a line, and the latency of every volume."""
    parts: list[RenderableType] = [Text(before, style="bold yellow") for before in words.warnings(result)]
    parts.append(Text(words.answer(result), style="bold green" if result.is_feasible else "bold red"))
    parts += [Padding(Text(line), (0, 0, 0, _LEFT), expand=False) for line in words.because(result)]
    best = "" if result.best is None else result.best.name
    parts.append(_table(result.plan.name, words.header(result), words.rows(result), best))
    if note := words.note(result):
        parts.append(Text(note))
    parts.append(_table("", words.latency_header(result), words.latency_rows(result), ""))
    notes = [*result.plan.notes, *result.plan.preset_notes]
    if notes:
        parts.append(Text("The question", style="bold"))
        parts += [Padding(Text(line), (0, 0, 0, _LEFT), expand=False) for line in notes]
    return Group(*parts)


def server_explanation(result: ServerResult) -> RenderableType:
    """Return what the answer rests on, array by array."""
    parts: list[RenderableType] = []
    for title, items in words.explained_volumes(result):
        parts.append(Text(f"\n{title}", style="bold"))
        parts += [Padding(Text(line), (0, 0, 0, _LEFT), expand=False) for line in items]
    return Group(*parts)


def _table(title: str, header: list[str], rows: list[list[str]], best: str) -> TableOrList:
    short_names = {"rule of thumb": "rule", "arrangement": ""}
    names = [short_names.get(name, name) for name in header]
    table = TableOrList(title, names, [short_names.get(name, name) for name in header if name in _TEXT])
    group = ""
    for row in rows:
        group = row[0] or group
        table.rows.append((row, "bold" if best and group == best else ""))
    return table
