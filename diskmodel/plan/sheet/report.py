"""The answer of a plan of one kind on paper: one self-contained HTML file, Markdown, or CSV."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from textwrap import fill
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from diskmodel.drawing import COLORS, svg_of
from diskmodel.engine.simulate import simulate
from diskmodel.plan.answer.load_curve import LoadPoint
from diskmodel.plan.question.short_toml import short_text
from diskmodel.plan.sheet.sheet import Row, Sheet
from diskmodel.plan.show.plot import draw_opening
from diskmodel.plan.show.report import csv_cell, html_of, markdown_of, write_by_ending
from diskmodel.plan.trial.simulated import outcome_of
from diskmodel.version import __version__

#: Loads of the drawing, as multiples of the load that is asked about; the first overload ends it.
_LOADS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
#: Requests of each of its runs.
_REQUESTS = 3000
#: Letters of a line beside a bar; values from which on they are whole numbers.
_LABEL, _WHOLE = 22, 10
#: Parts of a record that a spreadsheet has no use for.
_NOT_IN_CSV = ("array", "messages", "working_sets")


def write_sheet(sheet: Sheet, path: str | Path) -> None:
    """Write a report; the path's ending decides: .html, .md or .csv.

    Parameters
    ----------
    sheet : Sheet
    path : str or Path

    Raises
    ------
    DescriptionError
        For another ending.
    OutputError
        Where it cannot be written.
    """
    day = f"{date.today().isoformat()}, diskmodel {__version__}"
    write_by_ending(
        path,
        {
            ".html": lambda: sheet_html(sheet, day),
            ".md": lambda: markdown_of(content(sheet)),
            ".csv": lambda: sheet_csv(sheet),
        },
    )


def sheet_html(sheet: Sheet, day: str = "") -> str:
    """Return the report as one self-contained HTML file."""
    shown = content(sheet)
    shown |= {"asked": shown["title"], "is_named": False, "when": day}
    shown["best"] = next((at for at, row in enumerate(sheet.rows) if row.is_best), None)
    return html_of(shown, _drawings(sheet), [])


def sheet_csv(sheet: Sheet) -> str:
    """Return the candidates as CSV, one row each, unrounded."""
    rows = [dict(_flat(row.record)) for row in sheet.rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([csv_cell(row.get(name)) for name in columns])
    return text.getvalue()


def _flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if name in _NOT_IN_CSV:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}_")
        else:
            yield before + name, value


def content(sheet: Sheet) -> dict[str, Any]:
    """Return what a report says, as `markdown_of` takes it."""
    groups = list(dict.fromkeys(row.group for row in sheet.rows))
    # what all rows have in common is said once
    common = groups[0] if len(groups) == 1 else ""
    header = [*([] if common else [sheet.heading]), *(column.name for column in sheet.columns), "what fewer miss"]
    toml = []
    if sheet.array is not None:
        toml = ["# array.toml", short_text(sheet.array), "# workload.toml", short_text(sheet.workload)]
    again = "save the two parts of the text at the end of this file as array.toml and workload.toml"
    return {
        "title": sheet.question,
        "answer": " ".join(sheet.answer),
        "because": sheet.because,
        "facts": sheet.facts,
        "heading": f"Candidates: {common}" if common else "Candidates",
        "header": header,
        "rows": [_cells(sheet, row)[bool(common) :] for row in sheet.rows],
        "note": "; ".join(sheet.notes),
        "lists": [("What there is to say about the answer", list(sheet.said))] if sheet.said else [],
        "toml": "\n".join(toml),
        "reproduce": [
            f"diskmodel {__version__}, Python {platform.python_version()}",
            *([f"{again}, and run: diskmodel simulate array.toml --workload workload.toml"] if toml else []),
        ],
    }


def _cells(sheet: Sheet, row: Row) -> list[str]:
    cells = [*row.cells, *([row.last] if row.feasible and row.last else [])]
    missing = [""] * (len(sheet.columns) - len(cells))
    if row.last and not row.feasible and missing:
        missing[-1] = row.last
    return [row.group, *cells, *missing, (row.limit or "–") if row.feasible else f"no: {row.limit}"]


# ---------------------------------------------------------------------- drawings
def _drawings(sheet: Sheet) -> list[Markup]:
    drawn = []
    points = _load_points(sheet)
    if points:
        limit = sheet.objective.latency.p99_ns
        limit_ms = None if limit is None else limit / 1e6
        rate = sheet.workload.offered_rate_per_s
        drawn.append(svg_of(lambda axes: draw_opening(axes, points, limit_ms, rate), width=4.6, height=3.4))
    if sheet.bars:
        drawn.append(svg_of(lambda axes: _draw_bars(axes, sheet), width=4.6, height=3.4))
    return [Markup(svg) for svg in drawn]


def _load_points(sheet: Sheet) -> list[LoadPoint]:
    """Return latency of the answer at loads up to an overload; none of clients, who have no rate."""
    load = sheet.workload
    if sheet.array is None or not load.is_open or load.queue_depth:
        return []
    points = []
    for factor in _LOADS:
        result = simulate(sheet.array, load.scaled(factor), n_requests=_REQUESTS, profile_draws=0)
        points.append(LoadPoint(factor, load.offered_rate_per_s * factor, outcome_of(result, sheet.array, load)))
        if not result.is_stable:
            break
    return points


def _draw_bars(axes: Axes, sheet: Sheet) -> None:
    names, values = [name for name, _ in sheet.bars], [value for _, value in sheet.bars]
    axes.barh(range(len(values)), values, 0.6, color=COLORS[0])
    for place, value in enumerate(values):
        text = f"{value:,.0f}" if value >= _WHOLE else f"{value:.3g}"
        axes.annotate(text, (value, place), xytext=(3, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(names)), [fill(name, _LABEL) for name in names], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * max(values))
    axes.set_xlabel(sheet.bars_title)
