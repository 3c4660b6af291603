"""Drawing without a display: colors, marks, and plots as SVG or PNG."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    StrMethodFormatter,
)

from diskmodel.errors import visible
from diskmodel.output import write_bytes, write_text

#: Okabe and Ito's palette: distinguishable without color vision, and in print by the marks.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P")
#: Labelled ticks that an axis of numbers has at least: with two, nobody sees whether it is logarithmic.
MIN_TICKS = 3
#: How a label of a logarithmic axis begins.
_POWER = "$\\mathdefault{"
#: Of lines and words: between black and white, so legible on light and on dark pages.
INK = "#7a8290"


def style_for_any_page(axes: Axes) -> None:
    """Draw without a background, for light and for dark pages."""
    assert axes.figure is not None
    axes.figure.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    axes.tick_params(colors=INK, which="both")
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)


def label_in_numbers(axis: Axis) -> None:
    """Label 1, 2 and 5 times the powers of ten of a logarithmic axis as numbers, not as powers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_formatter(NullFormatter())


def svg_of(draw: Callable[[Axes], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """Return a plot as an SVG element that scales to its column, the same text every time."""
    return svg_of_figure(lambda figure: draw(figure.subplots()), width=width, height=height)


def svg_of_figure(draw: Callable[[Figure], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """Return the same of a drawing that divides its figure itself; width and height in inches."""
    with rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+ ", category=UserWarning)
            draw(figure)
            _label_enough(figure)
            _take_as_written(figure)
            FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = buffer.getvalue().decode()
    return visible(text[text.index("<svg") :])


def save_plot(draw: Callable[[Axes], None], path: str | Path, field: str = "plot") -> None:
    """Write a plot as PNG or SVG, by the path's ending.

    Raises
    ------
    OutputError
        If it cannot be written; `field` is the option that named the path.
    """
    if str(path).endswith(".svg"):
        write_text(path, svg_of(draw), field)
        return
    _save_png(lambda figure: draw(figure.subplots()), path, field, width=7.0, height=4.2)


def _save_png(draw: Callable[[Figure], None], path: str | Path, field: str, *, width: float, height: float) -> None:
    figure = Figure(figsize=(width, height), layout="constrained")
    drawn = io.BytesIO()
    with warnings.catch_warnings():
        # a character that no font has is drawn as a box; the warning would show paths of this program
        warnings.filterwarnings("ignore", message=r"Glyph \d+ ", category=UserWarning)
        draw(figure)
        _label_enough(figure)
        _take_as_written(figure)
        FigureCanvasAgg(figure).print_png(drawn)  # type: ignore[no-untyped-call]
    write_bytes(path, drawn.getvalue(), field)


def save_figure(
    draw: Callable[[Figure], None], path: str | Path, field: str = "plot", *, width: float = 7.0, height: float = 4.2
) -> None:
    """Write a drawing that divides its figure itself as PNG or SVG, by the path's ending; width and height in inches.

    Raises
    ------
    OutputError
        If it cannot be written; `field` is the option that named the path.
    """
    if str(path).endswith(".svg"):
        write_text(path, svg_of_figure(draw, width=width, height=height), field)
        return
    _save_png(draw, path, field, width=width, height=height)


def _label_enough(figure: Figure) -> None:
    """Give each axis of numbers at least three labelled ticks: of any digits, or whole numbers on a wider axis."""
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        for axis in (axes.xaxis, axes.yaxis):
            locator = axis.get_major_locator()
            if isinstance(locator, FixedLocator) or _n_labels(axis) >= MIN_TICKS:
                continue
            if axis.get_scale() == "log":
                axis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=MIN_TICKS, steps=[1, 2, 2.5, 5, 10]))
            low, high = sorted(axis.get_view_interval())
            if _n_labels(axis) < MIN_TICKS and axis.get_scale() == "linear":
                low, high = math.floor(low), math.ceil(high)
                spare = max(MIN_TICKS - 1 - (high - low), 0)
                low = max(low - 1, min(low, 0)) if spare else low
                high = max(high, low + MIN_TICKS - 1)
                (axes.set_xlim if axis is axes.xaxis else axes.set_ylim)(low, high)


def _n_labels(axis: Axis) -> int:
    """Return the labelled major ticks in an axis's view."""
    low, high = sorted(axis.get_view_interval())
    places = [place for place in axis.get_majorticklocs() if low <= place <= high]
    return sum(bool(text) for text in axis.get_major_formatter().format_ticks(places))


def _take_as_written(figure: Figure) -> None:
    """Let names with dollars be names, not formulas; the powers of ten on logarithmic axes are formulas."""
    for text in figure.findobj(Text):
        if isinstance(text, Text) and "$" in text.get_text() and not text.get_text().startswith(_POWER):
            text.set_parse_math(False)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), FixedFormatter):
                for label in axis.get_ticklabels():
                    label.set_parse_math(False)
