"""What a terminal shows of a result, as text."""

from __future__ import annotations

import io

from rich.console import Console

from diskmodel.display import Displayable

#: Columns of the text: those of a terminal as it opens.
_WIDTH = 80


def as_text(result: Displayable) -> str:
    """Return what rich prints of a result as plain text of at most 80 columns."""
    stream = io.StringIO()
    Console(file=stream, width=_WIDTH, color_system=None, force_terminal=False, force_jupyter=False).print(result)
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n")).strip("\n")
