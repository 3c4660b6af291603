"""Request traces with measured response times, read into columns.

One request a line: ``R|W  tag  lba  blocks  response_us  pause_us``. Requests are issued one at a time. Whether the
pause comes before its own request or after it differs between recorders; `calibrate.trace.clock.rotation` determines
which from the platter's own clock, so the reader keeps the column as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.formats import read_document, shorten

N_COLUMNS = 6
#: Limits of a row: blocks of 512 bytes in 4 ZiB, and 31 years in µs. Sums of them stay exact in a float64.
_MAX_BLOCKS = 2**53
_MAX_US = 1e15


@dataclass(frozen=True)
class RequestTrace:
    """Requests in the order of issue, as columns of one length.

    Attributes
    ----------
    is_write : (n,) bool
    lba : (n,) int64, first block
    n_blocks : (n,) int64, blocks of 512 bytes, at least 1
    response_ms : (n,) float64, above 0
    pause_ms : (n,) float64, at least 0; next to the request, before or after it
    """

    is_write: NDArray[np.bool_]
    lba: NDArray[np.int64]
    n_blocks: NDArray[np.int64]
    response_ms: NDArray[np.float64]
    pause_ms: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lba)

    @property
    def end(self) -> NDArray[np.int64]:
        """Return the block after the last one of each request, (n,) int64."""
        return self.lba + self.n_blocks

    def part(self, first: int, last: int | None) -> RequestTrace:
        """Return requests first (from 0) to last (excluded)."""
        return self.chosen(slice(first, last))

    def chosen(self, which: slice | NDArray[np.bool_]) -> RequestTrace:
        """Return the requests of a slice, or those that are True in an (n,) array."""
        return RequestTrace(
            self.is_write[which], self.lba[which], self.n_blocks[which], self.response_ms[which], self.pause_ms[which]
        )


def read_requests(path: str | Path) -> RequestTrace:
    """Read the requests of a trace file. Blank lines and a cut-off last line are left out.

    Raises
    ------
    FormatError
        A file that cannot be read, a malformed line other than the last, or no request at all.
    """
    rows = []
    lines = [line for line in read_document(path).splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        row = _row(line)
        if row is not None:
            rows.append(row)
        elif number < len(lines):
            rule = "must be 'R|W tag lba blocks response_us pause_us'"
            raise FormatError(Fault(f"line {number}", shorten(line), rule), str(path))
    if not rows:
        raise FormatError(Fault("file", None, "has no request"), str(path))
    write, lba, blocks, response, pause = zip(*rows, strict=True)
    return RequestTrace(
        np.array(write, dtype=np.bool_),
        np.array(lba, dtype=np.int64),
        np.array(blocks, dtype=np.int64),
        np.array(response, dtype=np.float64) / 1e3,
        np.array(pause, dtype=np.float64) / 1e3,
    )


def _row(line: str) -> tuple[bool, int, int, float, float] | None:
    fields = line.split()
    if len(fields) != N_COLUMNS or fields[0] not in ("R", "W"):
        return None
    try:
        row = (fields[0] == "W", int(fields[2]), int(fields[3]), float(fields[4]), float(fields[5]))
    except ValueError:
        return None
    is_good = row[1] >= 0 and row[2] > 0 and row[1] + row[2] <= _MAX_BLOCKS
    return row if is_good and 0 < row[3] <= _MAX_US and 0 <= row[4] <= _MAX_US else None
