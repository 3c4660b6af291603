"""Outputs of biosnoop (bcc, libbpf-tools) and of iosnoop with its option -s or -t: a completed request a line.

biosnoop's TIME(s) is that of the completion; LAT(ms) runs from the dispatch to it, QUE(ms) (option -Q) from queueing to
dispatch. Issue times are what remains, to the printed hundredth of a millisecond. Processes' names may hold
blanks, so columns behind them are counted from the end of the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import IO

import numpy as np

from diskmodel.formats.trace.blocks import blocks_of
from diskmodel.formats.trace.columns import Tally, TraceChunk
from diskmodel.formats.trace.tabular import MAX_LENGTH_BYTES
from diskmodel.formats.trace.text_formats import SECTOR_BYTES
from diskmodel.loading import dataclass

_TIMES = {"TIME(s)": "done", "ENDs": "done", "STARTs": "start"}
_FIGURES = {
    "T": "kind",
    "TYPE": "kind",
    "DISK": "device",
    "DEV": "device",
    "SECTOR": "sector",
    "BLOCK": "sector",
    "BYTES": "bytes",
    "LAT(ms)": "latency",
    "LATms": "latency",
    "QUE(ms)": "queued",
}
#: A clock of uptime or of an epoch in seconds, and a latency in ms, are below this.
_MAX_S = 1e10


def header_of(line: str) -> list[str] | None:
    """The columns that a line names, or None."""
    words = line.split()
    if "COMM" not in words or not words or words[0] not in _TIMES:
        return None
    found = {_FIGURES.get(word) for word in words}
    return words if {"kind", "sector", "bytes", "latency"} <= found else None


@dataclass(frozen=True)
class Biosnoop:
    """Parser of these outputs."""

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks in the order of the file, that of completion."""
        header: list[str] | None = None
        for block in blocks_of(stream, tally):
            rows: list[tuple[int, int, int, int, int, int]] = []
            for number, line in enumerate(block.lines(), start=block.first_line):
                named = header_of(line)
                if named is not None or header is None or not line.strip():
                    header = named or header
                    continue
                row = _row(header, line.split(), tally)
                if isinstance(row, str):
                    tally.malformed(number, 0, "", line, row)
                elif row is None:
                    tally.n_skipped += 1
                else:
                    rows.append(row)
            if rows:
                table = np.array(rows, dtype=np.int64)
                yield TraceChunk(
                    table[:, 0].copy(),
                    table[:, 1].astype(np.uint8),
                    table[:, 2].copy(),
                    table[:, 3].copy(),
                    table[:, 4].copy(),
                    table[:, 5].astype(np.int32),
                    tuple(tally.device_names),
                )


def _row(header: list[str], words: list[str], tally: Tally) -> tuple[int, int, int, int, int, int] | str | None:
    """A request; None for what neither reads nor writes; a string says what is wrong."""
    n_times = header.index("COMM")
    names = header[n_times + 1 :]
    if len(words) < len(header):
        return f"has {len(words)} columns instead of {len(header)}"
    cells = dict(zip(names, words[len(words) - len(names) :], strict=True))
    figures = {_FIGURES[name]: cell for name, cell in cells.items() if name in _FIGURES}
    times = {_TIMES[name]: word for name, word in zip(header[:n_times], words, strict=False) if name in _TIMES}
    try:
        clock = {name: float(text) for name, text in times.items()}
        latency_ms = float(figures["latency"])
        queued_ms = max(float(figures.get("queued", 0)), 0.0)
        sector, length = int(figures["sector"]), int(figures["bytes"])
    except ValueError:
        return "has a figure that is no number"
    kind = figures["kind"]
    is_write = "W" in kind
    if "D" in kind or not (is_write or "R" in kind) or length <= 0 or sector < 0:
        return None
    seconds = [*clock.values(), latency_ms, queued_ms]
    if not all(map(math.isfinite, seconds)) or min(seconds) < 0 or max(seconds) > _MAX_S:
        return "has a time out of range"
    if length > MAX_LENGTH_BYTES or sector > 2**53:
        return "has a place or a length out of range"
    response_ns = round((latency_ms + queued_ms) * 1e6)
    start_ns = round(clock["start"] * 1e9) if "start" in clock else round(clock["done"] * 1e9) - response_ns
    return start_ns, int(is_write), sector * SECTOR_BYTES, length, response_ns, tally.device(figures.get("device", ""))
