"""Plots of one result, drawn without a display."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diskmodel.drawing import COLORS, svg_of_figure
from diskmodel.records import Op
from diskmodel.result.result import Result

#: Steps of a drawn distribution; more cannot be seen.
STEPS = 400


def draw_distribution(axes: Axes, result: Result) -> None:
    """Share of requests that are done within a time, of reads and writes apart where there are both."""
    responses_ms = result.responses_ns() / 1e6
    ops = result.requests.op[result.window.rows]
    kinds = [("reads", responses_ms[ops == Op.READ]), ("writes", responses_ms[ops == Op.WRITE])]
    shares = np.linspace(0.0, 1.0, STEPS)
    for (name, times), color in zip(kinds, COLORS, strict=False):
        if len(times):
            axes.plot(np.quantile(times, shares), shares, color=color, label=name)
    limit = result.latency.quantiles_ns["p99"] / 1e6
    axes.axvline(limit, color="black", linestyle=":", linewidth=0.9)
    axes.annotate(
        f"p99 {limit:.3g} ms", (limit, 0.02), xytext=(-3, 0), textcoords="offset points", ha="right", fontsize=8
    )
    if responses_ms.min() > 0 and responses_ms.max() > 20 * responses_ms.min():
        axes.set_xscale("log")
    axes.set_xlabel("response, ms")
    axes.set_ylabel("share of requests")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8, loc="upper left")


def draw_parts(axes: Axes, result: Result) -> None:
    """Where the mean response went."""
    spent = [(part, value / 1e6) for part, value in result.breakdown_ns.items() if value > 0]
    bars = axes.barh([part for part, _ in spent], [value for _, value in spent], color=COLORS[0])
    axes.bar_label(bars, [f"{value:.3g}" for _, value in spent], padding=2, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel("mean, ms")


class Drawing(Figure):
    """A figure that notebooks show, also without pyplot."""

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        FigureCanvasAgg(self).print_png(drawn)  # type: ignore[no-untyped-call]
        return drawn.getvalue()


def plotted(result: Result, axes: Axes | None = None) -> Figure:
    """Return a figure of matplotlib with both plots, or `axes` with the distribution alone."""
    if axes is not None:
        draw_distribution(axes, result)
        return axes.get_figure(root=True) or Figure()
    figure = Drawing(figsize=(8, 2.8), layout="constrained")
    _draw(figure, result)
    return figure


def _draw(figure: Figure, result: Result) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    draw_distribution(left, result)
    draw_parts(right, result)


def result_svg(result: Result) -> str:
    """Return both plots beside each other as an SVG element that scales to its column; the same text every time."""
    return svg_of_figure(lambda figure: _draw(figure, result), width=8, height=2.8)
