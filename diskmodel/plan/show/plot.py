"""Plots of plans and comparisons, drawn without a display."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter, StrMethodFormatter

from diskmodel.plan.search.compare import Compared
from diskmodel.plan.search.crossover import Crossover
from diskmodel.plan.search.fewest_disks import Candidate
from diskmodel.plan.search.headroom import LoadPoint
from diskmodel.plan.search.run import PlanResult

#: Distinguishable without colour vision, and in print by their marks.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P")

PANELS_IN_A_ROW = 3
BOTH = 2

#: Characters of a legend's entries that stand side by side.
_LEGEND_WIDTH = 72


def save_latency_plot(
    curves: Sequence[tuple[str, Sequence[LoadPoint]]], path: str | Path, *, limit_ms: float | None = None
) -> None:
    """Mean and 99th percentile against load, one colour for each array, written as PNG or SVG by the path's ending.

    Parameters
    ----------
    curves : sequence of (name, points)
    path : str or Path
    limit_ms : float, optional
        Objective of the 99th percentile, drawn as a line.
    """
    save_plot(lambda axes: draw_latency(axes, curves, limit_ms), path)


def save_plot(draw: Callable[[Axes], None], path: str | Path) -> None:
    """A plot written as PNG or SVG by the path's ending."""
    if str(path).endswith(".svg"):
        Path(path).write_text(svg_of(draw), encoding="utf-8")
        return
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    draw(figure.subplots())
    FigureCanvasAgg(figure).print_png(str(path))  # type: ignore[no-untyped-call]


def curves_of(compared: Sequence[Compared]) -> list[tuple[str, Sequence[LoadPoint]]]:
    """Names and curves of compared arrays."""
    return [(item.name, item.curve) for item in compared]


def draw_latency(axes: Axes, curves: Sequence[tuple[str, Sequence[LoadPoint]]], limit_ms: float | None) -> None:
    """Latency against load; loads that an array does not hold are marked on the upper edge."""
    highest = 0.0
    for index, (name, points) in enumerate(curves):
        colour, mark = COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)]
        axes.plot([], [], color=colour, marker=mark, markersize=4, label=name)
        for statistic, style in (("p99", "-"), ("mean", ":")):
            x, y, below, above = _responses(points, statistic)
            axes.errorbar(
                x, y, yerr=[below, above], color=colour, marker=mark, linestyle=style, markersize=4, capsize=2
            )
            highest = max([highest, *y])
        for point in points:
            if not point.outcome.is_stable:
                axes.axvline(point.offered, color=colour, linestyle="--", linewidth=0.8)
    if limit_ms is not None:
        axes.axhline(limit_ms, color="black", linewidth=0.8)
        axes.annotate("objective (p99)", (0.01, limit_ms), xycoords=("axes fraction", "data"), va="bottom", fontsize=8)
    axes.plot([], [], color="black", linestyle="-", label="99th percentile")
    axes.plot([], [], color="black", linestyle=":", label="mean")
    if highest > 0:
        _logarithmic(axes)
    is_overloaded = any(not point.outcome.is_stable for _, points in curves for point in points)
    axes.set_xlabel("requests per second" + (" (dashed: overloaded)" if is_overloaded else ""))
    axes.set_ylabel("response, ms")
    axes.grid(True, alpha=0.3)
    _legend_below(axes)


def _responses(points: Sequence[LoadPoint], statistic: str) -> tuple[list[float], ...]:
    """Loads that are held, responses there (ms), and how far their intervals reach below and above."""
    held = [
        (point.outcome.iops.value, point.outcome.latency_ns.get("", {}).get(statistic))
        for point in points
        if point.outcome.is_stable
    ]
    known = [(load, figure) for load, figure in held if figure is not None]
    return (
        [load for load, _ in known],
        [figure.value / 1e6 for _, figure in known],
        [_reach_ms(figure.value, figure.low) for _, figure in known],
        [_reach_ms(figure.high, figure.value) for _, figure in known],
    )


def _reach_ms(upper_ns: float, lower_ns: float) -> float:
    """Length of an arm of an interval; 0 where its end is unknown."""
    return 0.0 if math.isnan(upper_ns - lower_ns) else max(upper_ns - lower_ns, 0.0) / 1e6


def _logarithmic(axes: Axes) -> None:
    """A logarithmic scale of responses whose ticks are plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _legend_below(axes: Axes) -> None:
    """The legend under the drawing, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        columns = min(max(_LEGEND_WIDTH // max(map(len, labels)), 2), 4)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def draw_disks(axes: Axes, result: PlanResult) -> None:
    """Disks of each feasible candidate beside the calculators' count."""
    rows = [c for c in result.candidates if c.disks is not None or c.rule_of_thumb_disks is not None]
    places = range(len(rows))
    axes.barh([p - 0.2 for p in places], [c.disks or 0 for c in rows], 0.38, color=COLOURS[0], label="simulated")
    thumb = [c.rule_of_thumb_disks or 0 for c in rows]
    axes.barh([p + 0.2 for p in places], thumb, 0.38, color=COLOURS[4], label="rule of thumb")
    beside: dict[str, Any] = {"va": "center", "fontsize": 7, "xytext": (3, 0), "textcoords": "offset points"}
    for place, candidate in zip(places, rows, strict=True):
        axes.annotate(str(candidate.disks or "not feasible"), (candidate.disks or 0, place - 0.2), **beside)
        if candidate.rule_of_thumb_disks is not None:
            counted = candidate.rule_of_thumb_disks
            axes.annotate(str(counted), (counted, place + 0.2), **beside)
    axes.set_yticks(list(places), [f"{c.family.drive.name}\n{c.family.level}" for c in rows], fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel("disks")
    _legend_below(axes)


def trials_svg(result: PlanResult) -> list[str]:
    """The drawing of `draw_trials`; none where nothing was tried that was not overloaded."""
    names = _drives_tried(result)
    limit = result.plan.objective.latency.p99_ns
    limit_ms = None if limit is None else limit / 1e6
    height = 0.9 + 2.3 * -(-len(names) // PANELS_IN_A_ROW)
    return [svg_of_figure(lambda figure: draw_trials(figure, result, limit_ms), height=height)] if names else []


def _drives_tried(result: PlanResult) -> list[str]:
    return list(dict.fromkeys(c.family.drive.name for c in result.candidates if _tried(c)))


def _tried(candidate: Candidate) -> list[tuple[int, float]]:
    """Disks and 99th percentile in ms of what was tried, by disks."""
    return sorted(
        (trial.disks, trial.outcome.latency_ns[""]["p99"].value / 1e6)
        for trial in candidate.trials
        if trial.outcome is not None and trial.outcome.is_stable and "p99" in trial.outcome.latency_ns.get("", {})
    )


def draw_trials(figure: Figure, result: PlanResult, limit_ms: float | None) -> None:
    """99th percentile of everything that was tried, against the number of disks; a panel for each drive."""
    names = _drives_tried(result)
    columns = min(len(names), PANELS_IN_A_ROW)
    rows = -(-len(names) // PANELS_IN_A_ROW)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    levels = list(dict.fromkeys(candidate.family.level for candidate in result.candidates))
    for name, axes in zip(names, panels, strict=False):
        for candidate in result.candidates:
            points = _tried(candidate)
            if points and candidate.family.drive.name == name:
                index = levels.index(candidate.family.level)
                axes.plot(
                    *zip(*points, strict=True), color=COLOURS[index % len(COLOURS)], marker=MARKS[index % len(MARKS)],
                    markersize=4, linewidth=1,
                )  # fmt: skip
        if limit_ms is not None:
            axes.axhline(limit_ms, color="black", linewidth=0.8)
        axes.set_title(name, fontsize=8)
        axes.set_xlabel("disks", fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        _logarithmic(axes)
        axes.grid(True, alpha=0.3)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for index, level in enumerate(levels):
        panels[0].plot(
            [], [], color=COLOURS[index % len(COLOURS)], marker=MARKS[index % len(MARKS)], markersize=4, label=level
        )  # fmt: skip
    if limit_ms is not None:
        panels[0].plot([], [], color="black", linewidth=0.8, label="objective")
    for axes in panels[::columns]:
        axes.set_ylabel("p99, ms", fontsize=9)
    _legend_below(panels[0])


def draw_growth(axes: Axes, result: PlanResult) -> None:
    """Required load over the years against what the best array was designed for."""
    objective = result.plan.objective
    years = [objective.years * k / 40 for k in range(41)] if objective.years else [0.0]
    base = objective.iops or result.plan.workload.offered_rate_per_s
    load = [base * (1 + objective.growth_ratio) ** year * objective.peak_factor for year in years]
    axes.plot(years, load, color=COLOURS[0], label="peak load")
    axes.axhline(load[-1], color=COLOURS[1], linewidth=0.9, label="designed for")
    axes.set_xlabel("years from now")
    axes.set_ylabel("requests per second")
    axes.legend(fontsize=8)
    axes.grid(True, alpha=0.3)


def draw_sensitivity(axes: Axes, result: PlanResult) -> None:
    """Disks at either end of each input."""
    rows = [item for item in result.sensitivities if item.disks_low is not None or item.disks_high is not None]
    for place, item in enumerate(rows):
        ends = [(disks, text) for disks, text in ((item.disks_low, item.low), (item.disks_high, item.high)) if disks]
        counts = [disks for disks, _ in ends]
        axes.plot([min(counts), max(counts)], [place, place], color=COLOURS[0], linewidth=6, marker="o", markersize=6)
        is_alike = len(set(counts)) == 1 and len(ends) == BOTH
        if is_alike:
            ends = [(counts[0], f"{item.low} and {item.high} alike")]
        for disks, text in ends:
            axes.annotate(
                text, (disks, place), xytext=(6 if is_alike else 0, 6), textcoords="offset points",
                ha="left" if is_alike else "center", fontsize=7,
            )  # fmt: skip
        if len(ends) < BOTH and len(counts) < BOTH:
            axes.annotate(
                "other end not feasible", (counts[0], place), xytext=(0, -7), textcoords="offset points", ha="center",
                va="top", fontsize=7,
            )  # fmt: skip
    if result.best is not None and result.best.disks is not None:
        axes.axvline(result.best.disks, color="black", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [item.input for item in rows])
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.15)
    axes.set_xlabel("disks")


def draw_front(axes: Axes, result: PlanResult) -> None:
    """Cost (or disks, where a price is not known) against the 99th percentile of what nothing beats in both."""
    points = result.front
    prices = [point.price for point in points]
    axes.plot(prices, [point.latency_ms for point in points], color=COLOURS[0], marker="o", linewidth=1)
    middle = (min(prices) + max(prices)) / 2
    for point in points:
        is_left = point.price <= middle
        axes.annotate(
            f"{point.disks} × {point.family.drive.name}, {point.family.level}", (point.price, point.latency_ms),
            xytext=(6, 4) if is_left else (-6, -4), textcoords="offset points", ha="left" if is_left else "right",
            va="bottom" if is_left else "top", fontsize=7,
        )  # fmt: skip
    axes.set_xlabel("cost, USD" if points[0].is_cost else "disks")
    if not points[0].is_cost:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("p99, ms")
    axes.margins(x=0.12, y=0.15)
    axes.grid(True, alpha=0.3)


def draw_crossover(axes: Axes, crossover: Crossover) -> None:
    """Fewest disks of each level against the share of writes."""
    axes.set_title(crossover.drive, fontsize=9)
    for index, (level, disks) in enumerate(crossover.disks.items()):
        x = [ratio for ratio, n in zip(crossover.write_ratios, disks, strict=True) if n is not None]
        y = [n for n in disks if n is not None]
        axes.step(x, y, where="mid", color=COLOURS[index], marker=MARKS[index], markersize=4, label=level)
    axes.set_xlabel("share of writes")
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_ylabel("fewest disks")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)


def svg_of(draw: Callable[[Axes], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """A plot as an SVG element that scales to its column, the same text every time."""
    return svg_of_figure(lambda figure: draw(figure.subplots()), width=width, height=height)


def svg_of_figure(draw: Callable[[Figure], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """The same of a drawing that divides its figure itself."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        buffer = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]
