"""Drawing without a display: colors, marks, and plots as SVG or PNG."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from diskmodel.output import write_bytes, write_text

#: Okabe and Ito's palette: distinguishable without color vision, and in print by the marks.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P")
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


def svg_of(draw: Callable[[Axes], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """Return a plot as an SVG element that scales to its column, the same text every time."""
    return svg_of_figure(lambda figure: draw(figure.subplots()), width=width, height=height)


def svg_of_figure(draw: Callable[[Figure], None], *, width: float = 7.0, height: float = 4.2) -> str:
    """Return the same of a drawing that divides its figure itself; width and height in inches."""
    with rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        buffer = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]


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
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    draw(figure.subplots())
    drawn = io.BytesIO()
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
    figure = Figure(figsize=(width, height), layout="constrained")
    draw(figure)
    drawn = io.BytesIO()
    FigureCanvasAgg(figure).print_png(drawn)  # type: ignore[no-untyped-call]
    write_bytes(path, drawn.getvalue(), field)
