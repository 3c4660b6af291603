"""Runs over time as a picture: arrivals, latency, requests in the system, utilization."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from diskmodel.drawing import COLORS
from diskmodel.result.timeline import Timeline

#: Height of the picture in inches: four panels above each other.
HEIGHT_INCHES = 8.0


def draw_timelines(figure: Figure, arrays: Sequence[tuple[str, Timeline]]) -> None:
    """Draw arrays over the same trace, one color each; the worst window of each is shaded in the panel of latency.

    Parameters
    ----------
    figure : matplotlib Figure
    arrays : sequence of (name, timeline)
    """
    arrivals, latency, outstanding, busy = figure.subplots(4, 1, sharex=True)
    _, first = arrays[0]
    arrivals.step(first.start_s, first.arrivals_per_s, where="post", color="black", linewidth=0.9)
    arrivals.set_ylabel("requests per s")
    for index, (name, line) in enumerate(arrays):
        color = COLORS[index % len(COLORS)]
        for axes, values in ((outstanding, line.outstanding), (busy, line.utilization_ratio)):
            axes.step(line.start_s, values, where="post", color=color, linewidth=0.9)
        is_known = np.isfinite(line.p99_ms)
        middle = line.start_s + line.interval_s / 2
        latency.plot(middle[is_known], line.p99_ms[is_known], color=color, linewidth=0.9, label=f"{name}, p99")
        latency.plot(
            middle[is_known], line.mean_ms[is_known], color=color, linewidth=0.9, linestyle=":", label=f"{name}, mean"
        )
        worst = line.worst
        latency.axvspan(worst.start_s, worst.start_s + worst.length_s, color=color, alpha=0.12, linewidth=0)
    latency.set_yscale("log")
    latency.set_ylabel("latency, ms")
    latency.legend(fontsize=8, loc="best")
    outstanding.set_ylabel("outstanding")
    outstanding.set_ylim(bottom=0)
    busy.set_ylabel("disks busy")
    busy.set_ylim(0, 1)
    busy.yaxis.set_major_formatter(PercentFormatter(1.0))
    busy.set_xlabel(f"time, s (intervals of {first.interval_s:g} s; shaded: the worst {first.worst.length_s:g} s)")
    for axes in (arrivals, latency, outstanding, busy):
        axes.grid(True, alpha=0.3)
        axes.margins(x=0)
