"""fio's latency logs (`write_lat_log`): one completed request a line, or one mean per `log_avg_msec`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import open_bytes, read_head
from diskmodel.formats.trace.columns import UNKNOWN, Int64, Tally, joined
from diskmodel.formats.trace.registry import head_lines
from diskmodel.formats.trace.tabular import Rows, Table, TableFormat
from diskmodel.formats.trace.text_formats import AVERAGED, FIO_LOG, fio_log_meaning, fio_log_rows, is_averaged
from diskmodel.loading import dataclass

#: The name of these files as evidence. Logs that also hold offsets are traces ("trace:fio-log").
KIND = "fio-latency-log"


@dataclass(frozen=True)
class LatencyLog:
    """Entries of a latency log, in its order; trims are left out.

    Attributes
    ----------
    done_ns : int64, shape (n,)
        Time of the entry since the job's start, to a millisecond.
    latency_ns : int64, shape (n,)
        What the log is of: submission, completion or total latency, as its name says (`_slat`, `_clat`, `_lat`).
    op : uint8, shape (n,)
        0 read, 1 write.
    block_bytes : int64, shape (n,)
    offset_bytes : int64, shape (n,)
        -1 where the log has none (`log_offset=0`).
    """

    done_ns: Int64
    latency_ns: Int64
    op: NDArray[np.uint8]
    block_bytes: Int64
    offset_bytes: Int64

    def __len__(self) -> int:
        return len(self.latency_ns)


def _rows_without_offset(table: Table) -> Rows:
    return fio_log_rows(table, np.zeros(len(table), dtype=np.int64))


_WITHOUT_OFFSET = TableFormat(FIO_LOG.columns[:4], _rows_without_offset, more_columns=True)


def has_offsets(lines: list[str]) -> bool:
    """Whether a log's lines hold offsets: in its fifth column, which in logs without them is a priority or missing."""
    widths = {line.count(",") + 1 for line in lines}
    if widths and min(widths) >= 6:
        return True
    fifth = [line.split(",")[4].strip() for line in lines if line.count(",") == 4]
    return any(cell.isdecimal() and int(cell[:19]) > 1 for cell in fifth)


def looks_like_log(head: bytes) -> bool:
    """Whether all of the first lines are entries of a log, with or without offsets."""
    lines = head_lines(head)
    return bool(lines) and all(
        4 <= line.count(",") + 1 <= 7 and ", " in line and _WITHOUT_OFFSET.line_fault(line) is None for line in lines
    )


def read_latency_log(path: str | Path) -> LatencyLog:
    """A latency log of fio, plain or compressed (`log_compression` files are another format).

    Logs of bandwidth and IOPS have the same columns and are recognized by their names only (`…_bw.1.log`).

    Raises
    ------
    FormatError
        When it cannot be read, is named as a log of bandwidth or IOPS, has a malformed line, or no entry.
    """
    meaning = fio_log_meaning(Path(path).name)
    if meaning in ("bw", "iops"):
        rule = f"is a log of {'bandwidth' if meaning == 'bw' else 'IOPS'} by its name, not of latency"
        raise file_error(path, rule, "give the one whose name has _lat or _clat")
    lines = head_lines(read_head(path))
    if is_averaged(lines):
        raise file_error(path, *AVERAGED)
    table = FIO_LOG if has_offsets(lines) else _WITHOUT_OFFSET
    if lines and not lines[0].lstrip()[:1].isdecimal():
        table = replace(table, n_header_lines=1)
    tally = Tally(str(path), is_fatal=True)
    with open_bytes(path) as stream:
        rows = joined(list(table.chunks(stream, tally)))
    if not len(rows):
        raise file_error(path, "holds no entry of a latency log")
    offset = rows.offset_bytes if table.columns == FIO_LOG.columns else np.full(len(rows), UNKNOWN, dtype=np.int64)
    return LatencyLog(rows.time_ns + rows.response_ns, rows.response_ns, rows.op, rows.length_bytes, offset)
