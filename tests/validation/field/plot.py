"""Author's figures and ours, as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, NullLocator

from tests.validation.field.outcome import Outcome


def plot_errors(outcomes: Sequence[Outcome]) -> str:
    """SVG of ours over the author's figure, one line per figure, with the tolerance as a bar."""
    with matplotlib.rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 0.24 * len(outcomes) + 1), layout="constrained")
        axes = figure.add_subplot()
        for y, o in enumerate(outcomes):
            axes.barh(y, 2 * o.tolerance, left=1 - o.tolerance, height=0.7, color="0.88")
            colour = "tab:red" if not o.is_reached else "tab:grey" if o.kind == "fitted" else "tab:blue"
            axes.plot(1 + o.error, y, "o", markersize=4, color=colour)
        axes.axvline(1, color="0.5", linewidth=0.8)
        axes.set_yticks(range(len(outcomes)), [f"{o.case}: {o.row}, {o.quantity}"[:110] for o in outcomes], fontsize=6)
        axes.set_ylim(len(outcomes) - 0.4, -0.6)
        axes.set_xscale("log")
        errors = [abs(o.error) for o in outcomes] + [o.tolerance for o in outcomes]
        axes.set_xlim(1 - max(errors) - 0.05, 1 + max(errors) + 0.05)
        axes.xaxis.set_major_locator(MultipleLocator(0.1))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:.1f}")
        axes.set_xlabel("ours / author's")
        figure.suptitle("bar: tolerance; blue: predicted, grey: fitted, red: out of tolerance", fontsize=9)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
