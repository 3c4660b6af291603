"""Draw one picture for each page that compares predictions with measurements, and fold the long tables behind it.

The pictures are drawn from the tables of the pages when the site is built, so the two cannot disagree, and whoever
writes a page anew writes its picture, too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from diskmodel.drawing import COLORS, INK, MARKS, style_for_any_page, svg_of

FOLDER = Path(__file__).parent / "explanation"
#: A table with more rows than this is folded on the pages with a picture, and on the long one of field measurements.
LONG = 12
#: The part of a figure that is called near on these pages.
BAND = 0.2
#: Pages whose tables nobody looks for either: figures of measurements.
UNSEARCHED = (
    "explanation/speed",
    "explanation/calibration",
    "explanation/how-it-is-tested",
    "explanation/pools/",
    "how-to/field-stories/",
    "course/ostep",
)
FOLDED = ("explanation/validation-", "explanation/validation/", "explanation/audit-")

#: A table of a page, from the beginning of a line on.
_TABLE = re.compile(r"^\|.*\n\|[-:| ]+\n(?:\|.*(?:\n|\Z))*", re.MULTILINE)

#: What is drawn in a row of a picture: name of the series, value.
Marks = list[tuple[str, float]]


@dataclass(frozen=True)
class Picture:
    """Rows by name, and what draws them."""

    rows: dict[str, Marks]
    draw: Callable[[Axes], None]


def tables(markdown: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield each table with the title above it: title, names of the columns, rows."""
    title, block = "", []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif block:
            yield title, block[0], block[2:]
            block = []
        if line.startswith("#"):
            title = line.lstrip("# ")


def ratio(cell: str) -> float:
    """Return predicted over measured, of an error such as `+12%`."""
    return 1 + float(cell.strip("%").replace("+", "").replace(",", "")) / 100


def compare(rows: dict[str, Marks], label: str, tolerances: Sequence[float] = ()) -> Picture:
    """Return a picture of predicted over measured, by name; shaded is ±20 %, or the tolerance of each row."""

    def draw(axes: Axes) -> None:
        style_for_any_page(axes)
        shade: dict[str, Any] = {"color": INK, "alpha": 0.18, "linewidth": 0}
        if tolerances:
            widths = [2 * tolerance for tolerance in tolerances]
            axes.barh(
                range(len(rows)),
                widths,
                0.8,
                left=[1 - tolerance for tolerance in tolerances],
                label="tolerance",
                **shade,
            )
        else:
            axes.axvspan(1 - BAND, 1 + BAND, label=f"within {100 * BAND:.0f} %", **shade)
        axes.axvline(1, color=INK, linewidth=1)
        dots(axes, rows)
        axes.set_xscale("log")
        values = [value for marks in rows.values() for _, value in marks]
        low, high = min([*values, 0.72]) / 1.08, max([*values, 1.4]) * 1.08
        ticks = {0.1: "÷ 10", 0.2: "÷ 5", 0.5: "÷ 2", 0.8: "−20 %", 1: "=", 1.2: "+20 %", 2: "× 2", 5: "× 5"}
        shown = {at: text for at, text in ticks.items() if low < at < high}
        if high / low > 4.5:
            shown = {at: text for at, text in shown.items() if at not in (0.8, 1.2)}
        axes.set_xlim(low, high)
        axes.set_xticks(list(shown), list(shown.values()))
        axes.set_xticks([], minor=True)
        axes.set_xlabel(label)

    return Picture(rows, draw)


def misfits(rows: dict[str, Marks], label: str) -> Picture:
    """Return a picture of figures from 0 on, a row for each name."""

    def draw(axes: Axes) -> None:
        style_for_any_page(axes)
        dots(axes, rows)
        axes.set_xlim(left=0)
        axes.set_xlabel(label)

    return Picture(rows, draw)


def dots(axes: Axes, rows: dict[str, Marks]) -> None:
    """Draw the marks of each row, the series one below the other."""
    series = list(dict.fromkeys(name for marks in rows.values() for name, _ in marks))
    for index, name in enumerate(series):
        below = 0.5 * ((index + 0.5) / len(series) - 0.5)
        points = [(value, y + below) for y, marks in enumerate(rows.values()) for own, value in marks if own == name]
        x, y = zip(*points, strict=True)
        axes.plot(x, y, MARKS[index], color=COLORS[index], markersize=5, alpha=0.9, markeredgewidth=0, label=name)
    _name_rows(axes, list(rows))
    axes.grid(True, axis="y", color=INK, alpha=0.25, linewidth=0.6)


def shares(rows: dict[str, Marks], label: str) -> Picture:
    """Return a picture with a bar for each name, its parts one after the other."""
    hatches = ("", "///", "xxx", "...")

    def draw(axes: Axes) -> None:
        style_for_any_page(axes)
        begins = [0.0] * len(rows)
        for index, (name, _) in enumerate(next(iter(rows.values()))):
            widths = [marks[index][1] for marks in rows.values()]
            axes.barh(
                range(len(rows)),
                widths,
                0.6,
                left=begins,
                label=name,
                color=COLORS[index],
                edgecolor="white",
                linewidth=0.5,
                hatch=hatches[index],
            )
            begins = [begin + width for begin, width in zip(begins, widths, strict=True)]
        _name_rows(axes, list(rows))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(label)

    return Picture(rows, draw)


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(labelsize=10)
    axes.set_ylim(len(names) - 0.4, -0.6)
    assert axes.figure is not None
    written = sum(len(text) for text in axes.get_legend_handles_labels()[1])
    axes.figure.legend(
        frameon=False,
        labelcolor=INK,
        fontsize=10,
        ncols=4 if written < 48 else 2,
        loc="outside upper left",
        columnspacing=1.2,
        handletextpad=0.5,
    )


def shortened(text: str, length: int = 30) -> str:
    """Return the beginning of a text, to the end of a word or clause."""
    text = text.split(" (")[0]
    if len(text) <= length:
        return text
    clause = text[: length + 1].rsplit(", ", 1)[0]
    return (
        clause if len(clause) > length // 2 and ", " in text[: length + 1] else text[:length].rsplit(" ", 1)[0] + " …"
    )


def md_raid(markdown: str) -> Picture:
    """Errors of rate, mean and p99 by array; sequential rows apart, since the tolerances differ."""
    rows: dict[str, Marks] = {}
    for _, head, body in tables(markdown):
        if head[0] != "array":
            continue
        pattern, errors = head.index("pattern"), head.index("model") + 1
        for cells in sorted(body, key=lambda row: "seq" in row[pattern]):
            if not cells[errors]:  # an option that is not modeled
                continue
            # other widths have a table of their own, and a row of the picture for all
            array = re.sub(r" × \d+", " × n", cells[0]) if pattern > 1 else cells[0]
            options = [option for option in cells[1:pattern] if option]
            name = ", ".join([array, *options, *(["sequential"] if "seq" in cells[pattern] else [])])
            rows.setdefault(name, []).extend(zip(("IOPS", "mean", "p99"), map(ratio, cells[errors::3]), strict=True))
    return compare(rows, "model / md RAID")


def published(markdown: str) -> Picture:
    """The error of each figure."""
    found = [cells for _, head, body in tables(markdown) if "measured" in head for cells in body]
    rows: dict[str, Marks] = {}
    for cells in found:
        # "the same, depth 32" needs what it is the same as: the number of the source
        name = f"{shortened(cells[1], 34)} [{cells[0]}]"
        rows.setdefault(name, []).append(("a published figure", ratio(cells[4])))
    return compare(rows, "model / measured; [number of the source]")


def arrays(markdown: str) -> Picture:
    """Errors of rates, means and p99 by measurement."""
    rows: dict[str, Marks] = {}
    for title, head, body in tables(markdown):
        if head[1:3] != ["measured", "predicted"]:
            continue
        for cells in body:
            kind = next((kind for kind in ("mean", "p99") if cells[0].endswith(f", {kind}")), "rate")
            rows.setdefault(shortened(title), []).append((kind, ratio(cells[3])))
    return compare(rows, "predicted / measured")


def firmware(markdown: str) -> Picture:
    """Misfit of each order by drive."""
    rows: dict[str, Marks] = {}
    for _, head, body in tables(markdown):
        if head[0] != "drive" or "misfit" not in head:
            continue
        for cells in body:
            if misfit := cells[head.index("misfit")]:
                rows.setdefault(cells[1].replace("`", ""), []).append((cells[0], float(misfit)))
    return misfits(rows, "misfit: root mean square of ln(predicted / measured)")


def field(markdown: str) -> Picture:
    """Errors of what is not a formula, by case, on the tolerance of the case."""
    rows: dict[str, Marks] = {}
    tolerances: dict[str, float] = {}
    for title, head, body in tables(markdown):
        if head[0] != "row":
            continue
        for row in body:
            cells = dict(zip(head, row, strict=True))
            if cells["kind"] == "formula":
                continue
            kind = cells["kind"] if cells["verdict"] == "within" else "out of tolerance"
            rows.setdefault(title, []).append((kind, ratio(cells["error"])))
            tolerances[title] = max(tolerances.get(title, 0), ratio(cells["tolerance"]) - 1)
    return compare(rows, "ours / author's", list(tolerances.values()))


def synthesis(markdown: str) -> Picture:
    """Errors of mean and p99 by trace, on arrays that the fit saw and on others."""
    rows: dict[str, Marks] = {}
    for title, head, body in tables(markdown):
        if "replay: mean ms" not in head:
            continue
        where = "arrays of the fit" if title == "Result" else "other arrays"
        for cells in body:
            marks = [(f"mean, {where}", ratio(cells[5])), (f"p99, {where}", ratio(cells[8]))]
            rows.setdefault(cells[0], []).extend(marks)
    return compare(rows, "synthetic / replay of the trace")


def audit(markdown: str) -> Picture:
    """What became of the candidates of each kind of question."""
    rows: dict[str, Marks] = {}
    for _, head, body in tables(markdown):
        if head[0] != "kind":
            continue
        for cells in body:
            n = {name: int(cell) for name, cell in zip(head[1:], cells[1:], strict=True)}
            confirmed = n["checked"] - n["narrowly missed"] - n["unsafe"]
            if cells[0] != "all" and n["candidates"]:
                rows[cells[0]] = [
                    ("confirmed", confirmed),
                    ("unsafe", n["unsafe"]),
                    ("narrowly missed", n["narrowly missed"]),
                    ("not checked", n["candidates"] - n["checked"]),
                ]
    return shares(rows, "candidates")


#: The picture of each page, and its height in inches.
PICTURES: dict[str, tuple[Callable[[str], Picture], float]] = {
    "validation-md-raid": (md_raid, 7.6),
    "validation-published": (published, 5.2),
    "validation-arrays": (arrays, 5.8),
    "validation-firmware": (firmware, 3.6),
    "validation-synthesis": (synthesis, 3.8),
    "validation-field": (field, 4.2),
    "audit-of-plans": (audit, 3.2),
}


def picture(name: str) -> str:
    """Return the picture of a page, from the tables that the page has now."""
    of_page, height = PICTURES[name]
    found = of_page((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    return svg_of(found.draw, width=6.2, height=height)


def made(root: Path) -> dict[str, str]:
    """Return the pictures by their places."""
    return {f"explanation/{name}.svg": picture(name) for name in PICTURES}


def fold(markdown: str) -> str:
    """Put tables with many rows behind a line that says how many; no table is among what a search finds."""

    def behind(found: re.Match[str]) -> str:
        table = found[0].rstrip("\n")
        n = table.count("\n") - 1
        if n <= LONG:
            return _unsearched(table)
        opening = f'<details class="table-behind" data-search-exclude markdown><summary>Table of {n} rows</summary>'
        return f"{opening}\n\n{table}\n\n</details>\n"

    return _TABLE.sub(behind, markdown)


def _unsearched(table: str) -> str:
    return f"<div data-search-exclude markdown>\n\n{table}\n\n</div>\n"


def written(markdown: str, place: str) -> str:
    """Return a page that compares with its long tables folded."""
    if place.startswith(UNSEARCHED):
        return _TABLE.sub(lambda found: _unsearched(found[0].rstrip("\n")), markdown)
    return fold(markdown) if place.startswith(FOLDED) else markdown
