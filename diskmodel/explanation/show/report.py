"""An explanation on a page: the expected bands with the measured points, the causes as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes

from diskmodel.drawing import COLORS, INK, label_in_numbers, style_for_any_page, svg_of
from diskmodel.errors import in_page
from diskmodel.explanation.expected import Compared
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.show.text import (
    NOT_TRIED,
    cause_lines,
    lead_of,
    next_lines,
    percent,
    rest_of,
    table_rows,
    text,
    unseen_in_words,
)
from diskmodel.output import write_text
from diskmodel.version import __version__


def save_report(found: Explanation, path: str | Path) -> None:
    """Write the page.

    Raises
    ------
    OutputError
        Where it cannot be written.
    """
    write_text(path, page(found))


def page(found: Explanation) -> str:
    """Return the explanation as one self-contained HTML page."""
    environment = Environment(
        loader=PackageLoader("diskmodel.explanation.show", "."),
        autoescape=True,
        finalize=in_page,
        undefined=StrictUndefined,
    )
    headline = text(found).partition("\n\n")[0].replace("\n", " ")
    return environment.get_template("report.html.j2").render(
        title=f"Why is it slower? {found.array}",
        headline=headline,
        plots=[Markup(svg) for svg in _plots(found)],
        causes=[cause_lines(one) for one in found.causes],
        rest=rest_of(found),
        next=next_lines(found.next) if found.next is not None else [],
        lead=lead_of(found),
        not_tried_lead=NOT_TRIED,
        not_tried=found.not_tried,
        unseen=unseen_in_words(found) if found.unseen else "",
        loads=[(name, found.described[name]) for name in found.loads],
        is_as_expected=found.is_as_expected,
        rows=table_rows(found),
        notes=found.notes,
        version=__version__,
    )


def figures_html(found: Explanation) -> str:
    """Return what a notebook shows."""
    return "".join(_plots(found))


def _plots(found: Explanation) -> list[str]:
    rates = [one for one in found.compared if one.figure == "iops"]
    others = [one for one in found.compared if one.figure != "iops"]
    plots = [_bands(rates, "requests per second")] if rates else []
    plots += [_bands(others, _latency(others))] if others else []
    if found.causes:
        plots.append(svg_of(lambda axes: _bars(axes, found), height=0.6 + 0.45 * (len(found.causes) + 1)))
    return plots


def _bands(rows: Sequence[Compared], label: str) -> str:
    """Return a plot of the expected interval of each figure, and of what was measured."""

    def draw(axes: Axes) -> None:
        style_for_any_page(axes)
        for place, one in enumerate(reversed(rows)):
            axes.plot([one.low, one.high], [place, place], color=COLORS[5], linewidth=8, solid_capstyle="butt")
            axes.plot([one.expected], [place], "|", color=COLORS[0], markersize=12)
            axes.plot([one.measured], [place], "o", color=COLORS[0] if one.is_inside else COLORS[1])
        names = [_short(one, rows) for one in reversed(rows)]
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(-0.5, len(rows) - 0.5)
        axes.set_xscale("log")
        label_in_numbers(axes.xaxis)
        axes.set_xlabel(label)

    return svg_of(draw, height=0.9 + 0.3 * len(rows))


def _latency(rows: Sequence[Compared]) -> str:
    figures = {one.figure for one in rows}
    return f"{figures.pop().replace('.', ' ')}, ms" if len(figures) == 1 else "latency, ms"


def _short(one: Compared, rows: Sequence[Compared]) -> str:
    name = one.load.rpartition(", ")[2]
    return name if len({row.figure for row in rows}) == 1 else f"{name}, {one.figure.replace('.', ' ')}"


def _bars(axes: Axes, found: Explanation) -> None:
    style_for_any_page(axes)
    names = [" + ".join(one.names) for one in found.causes] + ["none that is known"]
    values = [one.probability for one in found.causes] + [found.unknown]
    places = list(range(len(names)))[::-1]
    axes.barh(places, values, color=[COLORS[0]] * len(found.causes) + [INK])
    for place, value in zip(places, values, strict=True):
        axes.text(value + 0.01, place, percent(value), va="center", color=INK)
    axes.set_yticks(places, names)
    axes.set_xlim(0, 1.1)  # a label stands behind its bar
    axes.set_xlabel("probability")
    assert math.isfinite(sum(values))
