"""A heat map of response times as a picture, and as a page in which a band can be marked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from diskmodel.drawing import COLORS, label_in_numbers
from diskmodel.errors import in_page
from diskmodel.records import PARTS
from diskmodel.result.statistics.heat_map import PART_NAMES, HeatMap

#: Height of the picture of one array, inches.
HEIGHT_INCHES = 3.2
#: Its script and its style, which the lab uses, too.
SCRIPT, STYLE = (Path(__file__).with_name(f"heat_map.{ending}") for ending in ("js", "css"))
#: Color of each part, the same in the picture and on pages.
_COLORS = dict(zip(PARTS, (*COLORS, "#f0e442", "#000000", "#999999"), strict=True))
#: Whole revolutions that are marked.
_REVOLUTIONS = 4


def draw_heat_maps(figure: Figure, maps: Sequence[tuple[str, HeatMap]]) -> None:
    """Draw each array: requests over time and latency, and beside it where the time of each latency went.

    Parameters
    ----------
    figure : matplotlib Figure
    maps : sequence of (name, heat map)
    """
    rows = figure.subplots(len(maps), 2, width_ratios=(3, 1), sharey="row", squeeze=False)
    for (left, right), (name, found) in zip(rows, maps, strict=True):
        shown = np.ma.masked_equal(found.counts.T, 0)
        norm = LogNorm(1, max(int(found.counts.max()), 2))
        mesh = left.pcolormesh(found.start_s, found.latency_ms, shown, cmap="viridis", norm=norm, rasterized=True)
        bar = figure.colorbar(mesh, ax=left, pad=0.01)
        bar.set_label("requests")
        left.set_yscale("log")
        for axis in (left.yaxis, bar.ax.yaxis):
            label_in_numbers(axis)
        left.set_xlabel("time, s")
        left.set_ylabel("response, ms")
        left.set_title(name, fontsize=9, loc="left")
        for turns in _turns(found):
            left.axhline(turns, color="black", linestyle=":", linewidth=0.8)
        _draw_parts(right, found)
        left.set_ylim(found.latency_ms[0], found.latency_ms[-1])


def _turns(found: HeatMap) -> list[float]:
    """Return whole revolutions within the picture, ms."""
    if found.revolution_ms is None:
        return []
    all_turns = [n * found.revolution_ms for n in range(1, _REVOLUTIONS + 1)]
    return [turns for turns in all_turns if found.latency_ms[0] < turns < found.latency_ms[-1]]


def _draw_parts(axes: Axes, found: HeatMap) -> None:
    spent = {part: values.sum(axis=0) for part, values in found.parts_ms.items()}
    total = np.maximum(sum(spent.values()), 1e-12)
    edges, left = found.latency_ms, np.zeros(len(total))
    for part, values in spent.items():
        share = np.where(found.counts.sum(axis=0) > 0, values / total, 0.0)
        axes.barh(edges[:-1], share, np.diff(edges), left=left, align="edge", color=_COLORS[part], linewidth=0)
        left += share
    legend = [Patch(color=_COLORS[part], label=PART_NAMES[part]) for part in spent]
    axes.legend(handles=legend, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the response")


def heat_map_page(title: str, maps: Sequence[tuple[str, HeatMap]]) -> str:
    """Return an HTML page that needs nothing else: marking a rectangle shows where the time of its requests went."""
    environment = Environment(
        loader=PackageLoader("diskmodel.result", "show"), autoescape=select_autoescape(["j2"]), finalize=in_page
    )
    return environment.get_template("heat_map.html.j2").render(
        title=title,
        meaning=meaning(maps),
        headings=[name if len(maps) > 1 else "" for name, _ in maps],
        style=Markup(STYLE.read_text()),
        script=heat_map_script(maps),
    )


def meaning(maps: Sequence[tuple[str, HeatMap]]) -> str:
    """Return what a heat map shows and how it is used, for a page."""
    turns = sorted({found.revolution_ms for _, found in maps if found.revolution_ms is not None})
    marked = f" Dotted lines are whole revolutions of the disks ({turns[0]:.3g} ms each)." if len(turns) == 1 else ""
    marked = " Dotted lines are whole revolutions of the disks." if len(turns) > 1 else marked
    return (
        "Each cell is a moment and a response time; the brighter, the more requests. Beside it all moments together, "
        "the distribution. Mark a rectangle to see where the time of its requests went; a click takes the mark away."
        f"{marked}"
    )


def heat_map_script(maps: Sequence[tuple[str, HeatMap]]) -> Markup:
    """Return the script that fills the elements of class `heat-data` with maps, in their order."""
    data = [{"name": name, **found.to_dict()} for name, found in maps]
    # "<" begins markup inside a script, too
    constants = {"MAPS": data, "NAMES": PART_NAMES, "COLORS": _COLORS}
    lines = [f"const {name} = {_in_script(value)};" for name, value in constants.items()]
    begin = (
        'document.querySelectorAll(".heat-data").forEach((box, i) => showHeatMap(box, MAPS[i], '
        "{ names: NAMES, colorOf: (part) => COLORS[part], title: MAPS[i].name }));"
    )
    body = "\n".join([*lines, SCRIPT.read_text().replace("\nexport function ", "\nfunction "), begin])
    return Markup(f'<script>\n"use strict";\n{body}\n</script>')


def _in_script(data: object) -> str:
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
