"""Showing results in a terminal and in a notebook without making the results depend on either."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.console import RenderableType


class Displayable:
    """Base of results that rich and Jupyter can show.

    The functions that draw a result are named here ("module:function") and imported when the result is shown: results
    import no drawing library, and drawing code may import results.

    Attributes
    ----------
    rich_view : str
        Function that returns what rich prints.
    html_view : str
        Function that returns the HTML that a notebook shows.
    text_view : str
        Function that returns what `print` shows, 80 columns wide.
    """

    rich_view: ClassVar[str]
    text_view: ClassVar[str] = "diskmodel.result.show.text:as_text"
    html_view: ClassVar[str]

    def __rich__(self) -> RenderableType:
        shown: RenderableType = resolve_name(self.rich_view)(self)
        return shown

    def __str__(self) -> str:
        return str(resolve_name(self.text_view)(self))

    def _repr_html_(self) -> str:
        return str(resolve_name(self.html_view)(self))
