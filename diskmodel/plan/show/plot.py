"""Plots of plans and comparisons, drawn without a display."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

from diskmodel.drawing import COLORS, MARKS, MIN_TICKS, label_in_numbers, save_plot, svg_of_figure
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.comparison import Compared
from diskmodel.plan.answer.crossover import Crossover
from diskmodel.plan.answer.load_curve import LoadPoint
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.answer.waterfall import Waterfall
from diskmodel.units import in_digits

PANELS_IN_A_ROW = 3
BOTH = 2
#: Points that make a curve: a line between two says nothing that two figures do not.
CURVE = 3

#: How many times as high as the lowest bar a drawing may be on a plain axis: a bar of a twentieth is still seen.
_FAR = 20.0
#: Characters of a legend's entries that stand side by side.
_LEGEND_WIDTH = 72


def save_latency_plot(
    curves: Sequence[tuple[str, Sequence[LoadPoint]]], path: str | Path, *, limit_ms: float | None = None
) -> None:
    """Write mean and p99 latency against load as PNG or SVG, by the path's ending; one color for each array.

    Parameters
    ----------
    curves : sequence of (name, points)
    path : str or Path
    limit_ms : float, optional
        Objective of p99 latency, drawn as a line.
    """
    save_plot(lambda axes: draw_latency(axes, curves, limit_ms), path)


def curves_of(compared: Sequence[Compared]) -> list[tuple[str, Sequence[LoadPoint]]]:
    """Return the names and curves of compared arrays."""
    return [(item.name, item.curve) for item in compared]


def draw_latency(axes: Axes, curves: Sequence[tuple[str, Sequence[LoadPoint]]], limit_ms: float | None) -> None:
    """Draw latency against load; loads that overload an array are dashed lines."""
    highest = 0.0
    for index, (name, points) in enumerate(curves):
        color, mark = COLORS[index % len(COLORS)], MARKS[index % len(MARKS)]
        axes.plot([], [], color=color, marker=mark, markersize=4, label=name)
        for statistic, style in (("p99", "-"), ("mean", ":")):
            x, y, below, above = _responses(points, statistic)
            axes.errorbar(x, y, yerr=[below, above], color=color, marker=mark, linestyle=style, markersize=4, capsize=2)
            highest = max([highest, *y])
        for point in points:
            if not point.outcome.is_stable:
                axes.axvline(point.offered, color=color, linestyle="--", linewidth=0.8)
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
    _loads(axes)
    axes.grid(True, alpha=0.3)
    _legend_below(axes)


def _responses(points: Sequence[LoadPoint], statistic: str) -> tuple[list[float], ...]:
    """Return the stable loads, latencies there (ms), and how far their intervals reach below and above."""
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
    """Return the length of an arm of an interval, ms; 0 where its end is unknown."""
    return 0.0 if math.isnan(upper_ns - lower_ns) else max(upper_ns - lower_ns, 0.0) / 1e6


def _loads(axes: Axes) -> None:
    """Label requests per second with plain numbers."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=MIN_TICKS))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _logarithmic(axes: Axes) -> None:
    """Give latencies a logarithmic scale whose ticks are plain numbers."""
    axes.set_yscale("log")
    label_in_numbers(axes.yaxis)


def _legend_below(axes: Axes) -> None:
    """Put the legend below the drawing, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        columns = min(max(_LEGEND_WIDTH // max(map(len, labels)), 2), 4)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def draw_disks(axes: Axes, result: PlanResult) -> None:
    """Draw the disks of each feasible candidate beside the rule of thumb's."""
    rows = [c for c in result.candidates if c.disks is not None or c.rule_of_thumb_disks is not None]
    places = range(len(rows))
    axes.barh([p - 0.2 for p in places], [c.disks or 0 for c in rows], 0.38, color=COLORS[0], label="simulated")
    thumb = [c.rule_of_thumb_disks or 0 for c in rows]
    axes.barh([p + 0.2 for p in places], thumb, 0.38, color=COLORS[4], label="rule of thumb")
    beside: dict[str, Any] = {"va": "center", "fontsize": 7, "xytext": (3, 0), "textcoords": "offset points"}
    for place, candidate in zip(places, rows, strict=True):
        axes.annotate(str(candidate.disks or "not feasible"), (candidate.disks or 0, place - 0.2), **beside)
        if candidate.rule_of_thumb_disks is not None:
            counted = candidate.rule_of_thumb_disks
            axes.annotate(str(counted), (counted, place + 0.2), **beside)
    axes.set_yticks(list(places), [f"{c.family.drive.name}\n{c.level}" for c in rows], fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel("disks")
    _legend_below(axes)


def draw_waterfall(axes: Axes, waterfall: Waterfall) -> None:
    """Draw the disks of each step; a bar between two steps is what the assumption costs or saves."""
    places = range(len(waterfall))
    before = 0
    for place, step in zip(places, waterfall, strict=True):
        is_end = place in (0, len(waterfall) - 1)
        disks = before if step.disks is None else step.disks
        low, high = (0, disks) if is_end else sorted((before, disks))
        color = COLORS[4] if place == 0 else COLORS[0] if is_end else COLORS[1] if disks > before else COLORS[2]
        axes.barh(place, max(high - low, 0), left=low, height=0.6, color=color)
        if place:
            axes.plot([before, before], [place - 1 + 0.3, place - 0.3], color="black", linewidth=0.6)
        if not is_end and high == low:
            axes.plot([disks, disks], [place - 0.3, place + 0.3], color="black", linewidth=1.5)
        change = "" if not place else f" ({disks - before:+d})" if disks != before else " (same)"
        text = "more than allowed" if step.disks is None else f"{step.disks}{change}"
        axes.annotate(text, (high, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
        before = disks
    axes.set_yticks(list(places), [step.step for step in waterfall], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * max(step.disks or 0 for step in waterfall))  # room for the figures at the bars
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("fewest disks")


def draw_opening(axes: Axes, points: Sequence[LoadPoint], limit_ms: float | None, load: float) -> None:
    """Draw p99 latency of the answer against the load, with the objective and today's load."""
    x, y, below, above = _responses(points, "p99")
    axes.errorbar(x, y, yerr=[below, above], color=COLORS[0], marker="o", markersize=4, capsize=2, label="p99 latency")
    if limit_ms is not None:
        axes.axhline(limit_ms, color=COLORS[1], linewidth=1.2, label=f"objective, {limit_ms:g} ms")
    axes.axvline(load, color="black", linewidth=0.9, linestyle="--", label=f"load to carry, {load:,.0f}/s")
    if y:
        _logarithmic(axes)
    axes.set_xlim(left=0)
    axes.set_xlabel("requests per second")
    axes.set_ylabel("p99 latency, ms")
    _loads(axes)
    axes.grid(True, alpha=0.3)
    _legend_below(axes)


def draw_states(axes: Axes, candidate: Candidate, limit_ms: float | None) -> None:
    """Draw p99 latency healthy, with a disk failed, and during its rebuild."""
    safety = candidate.safety
    healthy = candidate.trial.outcome if candidate.trial else None
    states = [("healthy", healthy)]
    if safety is not None and safety.degraded is not None:
        states += [("disk failed", safety.degraded), ("rebuilding", safety.rebuilding)]
    figures = [None if outcome is None or not outcome.is_stable else outcome.latency_of("p99") for _, outcome in states]
    known = [figure.value / 1e6 for figure in figures if figure is not None]
    least, most = min(known, default=0.0), max([*known, limit_ms or 0.0])
    is_far = least > 0 and most > _FAR * least
    bottom = least / 3 if is_far else 0.0
    for place, figure in enumerate(figures):
        value = bottom if figure is None else figure.value / 1e6
        color = COLORS[1] if limit_ms is not None and value > limit_ms else COLORS[0]
        axes.bar(place, value, 0.6, color=color)
        text = "overloaded" if figure is None else f"{in_digits(value)} ms"
        over_the_line = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        above: dict[str, Any] = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center", "fontsize": 9}
        axes.annotate(text, (place, value), bbox=over_the_line, **above)
    if limit_ms is not None:
        axes.axhline(limit_ms, color=COLORS[1], linewidth=1.2, label=f"objective when healthy, {limit_ms:g} ms")
    axes.set_xticks(range(len(states)), [name for name, _ in states])
    axes.set_ylabel("p99 latency, ms")
    if is_far:  # bars that nobody sees below a line that is far above them
        _logarithmic(axes)
        axes.set_ylim(bottom, 2 * most)
    else:
        axes.margins(y=0.18)
        axes.set_ylim(bottom=0)
    _legend_below(axes)


def trials_svg(result: PlanResult) -> list[str]:
    """Return the drawing of `draw_trials`; none where every trial was overloaded."""
    names = _drives_tried(result)
    limit = result.plan.objective.latency.p99_ns
    limit_ms = None if limit is None else limit / 1e6
    height = 0.9 + 2.3 * -(-len(names) // PANELS_IN_A_ROW)
    return [svg_of_figure(lambda figure: draw_trials(figure, result, limit_ms), height=height)] if names else []


def _drives_tried(result: PlanResult) -> list[str]:
    """Return the drives with a curve to see: at least three counts of one family."""
    return list(dict.fromkeys(c.family.drive.name for c in result.candidates if len(_tried(c)) >= CURVE))


def _tried(candidate: Candidate) -> list[tuple[int, float]]:
    """Return disks and p99 latency (ms) of all trials, by disks."""
    return sorted(
        (trial.disks, trial.outcome.latency_ns[""]["p99"].value / 1e6)
        for trial in candidate.trials
        if trial.outcome is not None and trial.outcome.is_stable and "p99" in trial.outcome.latency_ns.get("", {})
    )


def draw_trials(figure: Figure, result: PlanResult, limit_ms: float | None) -> None:
    """Draw p99 latency of all trials against the number of disks; a panel for each drive."""
    names = _drives_tried(result)
    columns = min(len(names), PANELS_IN_A_ROW)
    rows = -(-len(names) // PANELS_IN_A_ROW)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    levels = list(dict.fromkeys(candidate.family.level for candidate in result.candidates))
    for name, axes in zip(names, panels, strict=False):
        for candidate in result.candidates:
            points = _tried(candidate)
            if len(points) >= CURVE and candidate.family.drive.name == name:
                index = levels.index(candidate.family.level)
                axes.plot(
                    *zip(*points, strict=True),
                    color=COLORS[index % len(COLORS)],
                    marker=MARKS[index % len(MARKS)],
                    markersize=4,
                    linewidth=1,
                )
        if limit_ms is not None:
            axes.axhline(limit_ms, color="black", linewidth=0.8)
        axes.set_title(name, fontsize=8)
        axes.tick_params(labelleft=True)
        axes.set_xlabel("disks", fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        _logarithmic(axes)
        axes.grid(True, alpha=0.3)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for index, level in enumerate(levels):
        panels[0].plot(
            [], [], color=COLORS[index % len(COLORS)], marker=MARKS[index % len(MARKS)], markersize=4, label=level
        )
    if limit_ms is not None:
        panels[0].plot([], [], color="black", linewidth=0.8, label="objective")
    for axes in panels[::columns]:
        axes.set_ylabel("p99, ms", fontsize=9)
    _legend_below(panels[0])


def draw_growth(axes: Axes, result: PlanResult) -> None:
    """Draw the load over the years and the load that the best array is designed for."""
    objective = result.plan.objective
    years = [objective.years * k / 40 for k in range(41)] if objective.years else [0.0]
    base = objective.iops or result.plan.workload.offered_rate_per_s
    load = [base * (1 + objective.growth_ratio) ** year * objective.peak_factor for year in years]
    axes.plot(years, load, color=COLORS[0], label="peak load")
    axes.axhline(load[-1], color=COLORS[1], linewidth=0.9, label="designed for")
    axes.set_xlabel("years from now")
    axes.set_ylabel("requests per second")
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.legend(fontsize=8)
    axes.grid(True, alpha=0.3)


def draw_sensitivity(axes: Axes, result: PlanResult) -> None:
    """Draw the disks at either end of each input."""
    rows = [item for item in result.sensitivities if item.disks_low is not None or item.disks_high is not None]
    for place, item in enumerate(rows):
        ends = [(disks, text) for disks, text in ((item.disks_low, item.low), (item.disks_high, item.high)) if disks]
        counts = [disks for disks, _ in ends]
        axes.plot([min(counts), max(counts)], [place, place], color=COLORS[0], linewidth=6, marker="o", markersize=6)
        is_alike = len(set(counts)) == 1 and len(ends) == BOTH
        if is_alike:
            ends = [(counts[0], f"{item.low} and {item.high} both")]
        for disks, text in ends:
            axes.annotate(
                text,
                (disks, place),
                xytext=(6 if is_alike else 0, 6),
                textcoords="offset points",
                ha="left" if is_alike else "center",
                fontsize=7,
            )
        if len(ends) < BOTH and len(counts) < BOTH:
            axes.annotate(
                "other end not feasible",
                (counts[0], place),
                xytext=(0, -7),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7,
            )
    if result.best is not None and result.best.disks is not None:
        axes.axvline(result.best.disks, color="black", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [item.input for item in rows])
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.15)
    axes.set_xlabel("disks")


def draw_front(axes: Axes, result: PlanResult) -> None:
    """Draw the front: cost (or disks, where a price is not known) against p99 latency."""
    points = result.front
    prices = [point.price for point in points]
    axes.plot(prices, [point.latency_ms for point in points], color=COLORS[0], marker="o", linewidth=1)
    middle = (min(prices) + max(prices)) / 2
    for point in points:
        is_left = point.price <= middle
        axes.annotate(
            f"{point.disks} × {point.family.drive.name}, {point.family.level}",
            (point.price, point.latency_ms),
            xytext=(6, 4) if is_left else (-6, -4),
            textcoords="offset points",
            ha="left" if is_left else "right",
            va="bottom" if is_left else "top",
            fontsize=7,
        )
    axes.set_xlabel("cost, USD" if points[0].is_cost else "disks")
    if not points[0].is_cost:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("p99, ms")
    axes.margins(x=0.12, y=0.15)
    axes.grid(True, alpha=0.3)


def draw_crossover(axes: Axes, crossover: Crossover) -> None:
    """Draw the fewest disks of each level against the share of writes."""
    axes.set_title(crossover.drive, fontsize=9)
    for index, (level, disks) in enumerate(crossover.disks.items()):
        x = [ratio for ratio, n in zip(crossover.write_ratios, disks, strict=True) if n is not None]
        y = [n for n in disks if n is not None]
        axes.step(x, y, where="mid", color=COLORS[index], marker=MARKS[index], markersize=4, label=level)
    axes.set_xlabel("share of writes")
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_ylabel("fewest disks")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
