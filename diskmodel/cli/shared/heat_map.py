"""`--heat-map`: response times over time as a picture or a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.cli.shared.console import say
from diskmodel.cli.shared.status import check_place

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.result import Result

_FIELD = "heat-map"
_ENDINGS = (".png", ".svg", ".html")


def check_heat_map(path: Path | None) -> None:
    """Refuse a place that cannot be written, before time is spent."""
    check_place(path, _FIELD, _ENDINGS)


def save_heat_map(title: str, found: Sequence[tuple[str, Array, Result]], path: Path) -> None:
    """Write the heat maps of runs, each of an array with a name."""
    from diskmodel.drawing import save_figure
    from diskmodel.output import write_text
    from diskmodel.result.show.heat_map import HEIGHT_INCHES, draw_heat_maps, heat_map_page
    from diskmodel.result.statistics.heat_map import heat_map

    maps = [
        (name, heat_map(result.run.completions, revolution_ms=array.revolution_ms)) for name, array, result in found
    ]
    if path.suffix.lower() == ".html":
        write_text(path, heat_map_page(title, maps), _FIELD)
    else:
        height = HEIGHT_INCHES * len(maps)
        save_figure(lambda figure: draw_heat_maps(figure, maps), path, _FIELD, width=9.0, height=height)
    say(f"response times over time: {path}")
