"""The answer about several volumes on paper: HTML, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
import platform
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from diskmodel.drawing import COLORS, svg_of
from diskmodel.plan.answer.arrangement import ServerResult
from diskmodel.plan.question.short_toml import short_toml
from diskmodel.plan.show import server_words as words
from diskmodel.plan.show.candidates import short
from diskmodel.plan.show.report import csv_cell, html_of, markdown_of, write_by_ending
from diskmodel.version import __version__


def write_server_report(result: ServerResult, path: str | Path) -> None:
    """Write a report; the path's ending decides: .html, .md or .csv.

    Raises
    ------
    DescriptionError
        For another ending.
    OutputError
        Where it cannot be written.
    """
    write_by_ending(
        path,
        {
            ".html": lambda: server_html(result),
            ".md": lambda: server_markdown(result),
            ".csv": lambda: server_csv(result),
        },
    )


def server_html(result: ServerResult) -> str:
    """Return the report as one self-contained HTML file; the same text for the same answer."""
    drawn = [svg_of(lambda axes: draw_disks(axes, result), width=4.6, height=3.4)]
    if any(array.sharing for item in result.arrangements for array in item.arrays):
        drawn.append(svg_of(lambda axes: draw_sharing(axes, result), width=4.6, height=3.4))
    return html_of(_content(result), [Markup(svg) for svg in drawn] if result.is_feasible else [], [])


def server_markdown(result: ServerResult) -> str:
    """Return the report as Markdown, without plots."""
    return markdown_of(_content(result))


def server_csv(result: ServerResult) -> str:
    """Return every array of every arrangement as CSV, one row each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*words.header(result), "feasible", "p99_ms"])
    for item in result.arrangements:
        for array in item.arrays:
            row = next(cells for cells in words.rows(_only(result, item.name)) if cells[1] == ", ".join(array.volumes))
            best = array.result.best
            p99 = math.nan if best is None or best.p99_ms is None else best.p99_ms
            writer.writerow([*map(csv_cell, [item.name, *row[1:]]), array.result.is_feasible, p99])
    return text.getvalue()


def _only(result: ServerResult, name: str) -> ServerResult:
    """Return the result with one arrangement."""
    kept = tuple(item for item in result.arrangements if item.name == name)
    return ServerResult(result.plan, kept, result.best, result.minimized)


def draw_disks(axes: Axes, result: ServerResult) -> None:
    """Draw the disks of each arrangement as a bar, divided among its arrays."""
    for at, item in enumerate(result.arrangements):
        left = 0
        for number, array in enumerate(item.arrays):
            axes.barh(at, array.disks, left=left, color=COLORS[number % len(COLORS)], alpha=0.6, edgecolor="white")
            if array.disks:
                axes.text(left + array.disks / 2, at, "\n".join(array.volumes), ha="center", va="center", fontsize=8)
            left += array.disks
        if not item.is_feasible:
            axes.text(left, at, " not feasible", va="center", fontsize=8)
    axes.set_yticks(range(len(result.arrangements)), [item.name for item in result.arrangements])
    axes.invert_yaxis()
    axes.set_xlabel("disks")
    axes.set_title("Disks of each arrangement", fontsize=10)


def draw_sharing(axes: Axes, result: ServerResult) -> None:
    """Draw p99 of each volume on the shared disks, alone and beside the others, with its limit."""
    arrays = [array for item in result.arrangements for array in item.arrays if array.sharing]
    shown = [(item, array.disks) for array in arrays for item in array.sharing]
    for at, (item, _) in enumerate(shown):
        axes.bar(at - 0.2, item.alone.value, width=0.4, color=COLORS[2], label="alone" if not at else None)
        axes.bar(at + 0.2, item.shared.value, width=0.4, color=COLORS[1], label="beside the others" if not at else None)
        limit = result.plan.volume(item.volume).objective.latency.p99_ns
        if limit is not None:
            axes.hlines(
                limit / 1e6, at - 0.45, at + 0.45, color="black", linewidth=1.2, label="limit" if not at else ""
            )
    axes.set_yscale("log")
    axes.set_xticks(range(len(shown)), [item.volume for item, _ in shown])
    axes.set_ylabel("p99, ms")
    counts = sorted({disks for _, disks in shown})
    axes.set_title(f"What sharing {' or '.join(map(str, counts))} disks does", fontsize=10)
    axes.legend(fontsize=8, frameon=False)


def _content(result: ServerResult) -> dict[str, Any]:
    plan = result.plan
    results = [array.result for item in result.arrangements for array in item.arrays]
    engines = sorted({t.outcome.method for one in results for c in one.candidates for t in c.trials if t.outcome})
    best = result.best
    facts = [] if best is None else [("disks", str(best.disks)), ("arrays", str(len(best.arrays)))]
    if best is not None and math.isfinite(best.cost_usd):
        facts.insert(0, ("price", f"{short(best.cost_usd)} USD"))
    latencies = [
        f"{row[0]} (at most {row[1]}): "
        + ", ".join(f"{name} {cell}" for name, cell in zip(words.latency_header(result)[2:], row[2:], strict=True))
        for row in words.latency_rows(result)
    ]
    notes = [*plan.notes, *plan.preset_notes]
    return {
        "title": plan.name,
        "warning": " ".join(words.warnings(result)),
        "answer": words.answer(result),
        "because": words.because(result),
        "facts": facts,
        "heading": "Arrays",
        "header": words.header(result),
        "rows": words.rows(result),
        "note": words.note(result),
        "lists": [
            ("p99 of each volume, ms", latencies),
            *([("The question", notes)] if notes else []),
            *words.explained_volumes(result),
        ],
        "toml": short_toml(plan),
        "reproduce": [
            f"diskmodel {__version__}, Python {platform.python_version()}, engine {', '.join(engines)}",
            f"seed {plan.search.seed}; runs of {plan.search.requests:,} to {plan.search.max_requests:,} requests; "
            f"{sum({id(one): one.n_runs for one in results}.values())} runs; 95 % intervals",
            "save the text below as plan.toml and run: diskmodel plan plan.toml --report report.html",
        ],
    }
