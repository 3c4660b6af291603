"""The columns of `iostat -x` as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def iostat_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows of `diskmodel.result.iostat.iostat` in columns, however narrow the terminal; - for no figure."""
    lines = [["disk", *rows[0]]]
    for disk, row in enumerate(rows):
        lines.append([str(disk), *("-" if value is None else f"{value:.2f}" for value in row.values())])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)
