"""Plans and comparisons in a notebook: tables and plots as one piece of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from matplotlib.axes import Axes

from diskmodel.drawing import svg_of
from diskmodel.errors import html_text
from diskmodel.plan.answer.comparison import Comparison
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.show.candidates import candidate_header, candidate_row
from diskmodel.plan.show.cautions import cautions
from diskmodel.plan.show.plot import curves_of, draw_disks, draw_latency, trials_svg
from diskmodel.plan.show.table import comparison_notes, comparison_rows
from diskmodel.plan.show.words import answer, assumed, because, lists


def plan_html(result: PlanResult) -> str:
    """Return the answer, why, every candidate, and p99 latency against the number of disks."""
    rows = [candidate_row(result, candidate) for candidate in result.candidates]
    chosen = [index for index, candidate in enumerate(result.candidates) if candidate is result.best]
    parts = [
        f"<p><strong>{html_text(answer(result))}</strong></p>",
        _list([*assumed(result), *because(result), *map(str, result.caches_instead), *cautions(result)]),
    ]
    parts.append(_table(candidate_header(result), rows, bold=chosen))
    parts.append(_plot(lambda axes: draw_disks(axes, result), height=1.2 + 0.45 * len(rows)))
    parts += [_wrap(drawing) for drawing in trials_svg(result)]
    for title, items in lists(result):
        parts.append(f"<details><summary>{html_text(title)}</summary>{_list(items)}</details>")
    return "".join(parts)


def comparison_html(comparison: Comparison) -> str:
    """Return the arrays side by side, their latency against load, and their differences."""
    header = ["", *(item.name for item in comparison.arrays)]
    rows = [[name, *cells] for name, cells in comparison_rows(comparison)]
    drawn = _plot(lambda axes: draw_latency(axes, curves_of(comparison.arrays), None))
    said = f"<p><strong>{html_text(comparison.verdict)}</strong></p>" if comparison.verdict else ""
    return said + _table(header, rows) + drawn + _list(comparison_notes(comparison))


def _plot(draw: Callable[[Axes], None], *, height: float = 4.2) -> str:
    return _wrap(svg_of(draw, height=height))


def _wrap(drawing: str) -> str:
    return f'<div style="max-width: 45em">{drawing}</div>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, bold: Sequence[int] = ()) -> str:
    head = "".join(f"<th>{html_text(cell)}</th>" for cell in header)
    body = ""
    for index, row in enumerate(rows):
        cells = [f"<strong>{html_text(cell)}</strong>" if index in bold else html_text(cell) for cell in row]
        body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{html_text(item)}</li>" for item in items) + "</ul>"
