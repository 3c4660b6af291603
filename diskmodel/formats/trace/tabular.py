"""Traces that are tables of text: a description of the columns is all that differs from format to format.

A block of lines is parsed by NumPy at once. Only a block in which something is wrong is gone through line by line, to
say which line and which column it was; both ways accept exactly the same lines.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.faults import file_error
from diskmodel.formats.trace.blocks import Block, blocks_of
from diskmodel.formats.trace.columns import UNKNOWN, Int64, Tally, TraceChunk
from diskmodel.loading import dataclass

Table = NDArray[Any]

#: Longest time span and largest place that a trace may have; leaves room for arithmetic in int64.
MAX_NS = 2**62
MAX_BYTES = 2**62
MAX_LENGTH_BYTES = 2**40

#: Code of well-formed lines that are no read or write.
SKIP = 2
_UNKNOWN_WORD = 255

#: Longest word of a column, with its end: longer names are refused.
_WORD_BYTES = 64
_INTEGER = re.compile(r"[+-]?\d{1,300}\Z", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


@dataclass(frozen=True)
class Column:
    """One column of a table.

    `kind` is "int", "float", "float or nothing" (-1 for nothing), "word" (any text of at most 63 characters), "op" (a
    text in `words`, which gives its code), or "skip" (not read). Numbers lie from `low` to `high`.
    """

    name: str
    kind: str = "int"
    low: float = 0
    high: float = MAX_BYTES
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def dtype(self) -> str:
        return {"int": "i8", "float": "f8", "float or nothing": "f8"}.get(self.kind, f"S{_WORD_BYTES}")

    def fault(self, text: str) -> str:
        """The rule that a cell breaks, or nothing."""
        text = text.strip()
        if self.kind == "int":
            if not _INTEGER.match(text):
                return "must be a whole number"
            return "" if self.low <= int(text) <= self.high else f"must lie from {self.low} to {self.high}"
        if self.kind == "float or nothing" and not text:
            return ""
        if self.kind in ("float", "float or nothing"):
            if not _FLOAT.match(text):
                return "must be a number"
            return "" if self.low <= float(text) <= self.high else f"must lie from {self.low:g} to {self.high:g}"
        if self.kind == "op":
            few = ", ".join(list(self.words)[:8])
            return "" if text in self.words else f"must be one of {few}{' …' if len(self.words) > 8 else ''}"
        if self.kind == "word":
            return "" if 0 < len(text) < _WORD_BYTES and "\0" not in text else "must be 1 to 63 characters"
        return ""


@dataclass(frozen=True)
class Rows:
    """Columns as they come out of a table, before the clock is set to zero and odd lines are left out."""

    ticks: Int64
    op: NDArray[np.uint8]
    offset_bytes: Int64
    length_bytes: Int64
    response_ns: Int64
    device_keys: tuple[NDArray[Any], ...] = ()


@dataclass(frozen=True)
class TableFormat:
    """A text trace of one request a line.

    Attributes
    ----------
    delimiter : str or None
        None: any run of blanks.
    to_rows : callable
        From the parsed table, a structured array with the columns' names, to `Rows`.
    tick_ns : int
        Length of a tick of `Rows.ticks`.
    unit_ns : int or None
        Length of the unit in which a file writes its times; None where no other is ever found in such files.
    has_epoch : bool
        The clock counts from an epoch: the first request of the file becomes time zero.
    more_columns : bool
        Lines may have columns beyond those described.
    n_header_lines : int
        Lines at the start that hold names of columns.
    is_closed : bool
        `Rows.ticks` is the time from a request's issue to the next one's, instead of a clock.
    """

    columns: tuple[Column, ...]
    to_rows: Callable[[Table], Rows]
    delimiter: str | None = ","
    tick_ns: int = 1
    unit_ns: int | None = None
    has_epoch: bool = False
    more_columns: bool = False
    n_header_lines: int = 0
    is_closed: bool = False

    def line_fault(self, line: str) -> tuple[int, str, str] | None:
        """Column from 1 (0: the line), its name and the rule it breaks; nothing for a good line."""
        cells = line.split(self.delimiter)
        n_columns = len(self.columns)
        if len(cells) < n_columns or (len(cells) > n_columns and not self.more_columns):
            names = ", ".join(column.name for column in self.columns)
            return 0, "", f"has {len(cells)} columns instead of {n_columns} ({names})"
        for number, (column, cell) in enumerate(zip(self.columns, cells, strict=False), start=1):
            rule = column.fault(cell)
            if rule:
                return number, column.name, rule
        return None

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks of a decompressed stream; see `diskmodel.formats.trace.reader`."""
        clock = _Clock(self)
        tally.unit_ns = self.unit_ns
        for block in blocks_of(stream, tally):
            lines = block.lines()
            first = block.first_line
            if first == 1 and self.n_header_lines:
                n = _end_of_header(lines, self.n_header_lines)
                lines, first = lines[n:], first + n
            chunk = self._fast(lines, block, clock, tally)
            if chunk is None:
                chunk = self._slow(lines, first, clock, tally)
            if chunk is not None and len(chunk):
                yield chunk

    def _fast(self, lines: list[str], block: Block, clock: _Clock, tally: Tally) -> TraceChunk | None:
        if not any(map(str.strip, lines)) or not self._is_plain(block.text):
            return None
        used = [number for number, column in enumerate(self.columns) if column.kind != "skip"]
        dtype = [(self.columns[number].name, self.columns[number].dtype) for number in used]
        has_all = len(used) == len(self.columns) and not self.more_columns
        try:
            with warnings.catch_warnings():
                # "1.5" in a column of whole numbers
                warnings.simplefilter("error", DeprecationWarning)
                table = np.loadtxt(
                    lines,
                    dtype=dtype,
                    delimiter=self.delimiter,
                    comments=None,
                    ndmin=1,
                    encoding="latin-1",
                    usecols=None if has_all else used,
                )
        except (ValueError, OverflowError, Warning):
            return None
        if not has_all and not self.more_columns and self.delimiter is not None:
            n_delimiters = len(self.columns) - 1
            if any(line.count(self.delimiter) != n_delimiters for line in lines if line):
                return None
        if not all(_is_within(column, table[column.name]) for column in (self.columns[number] for number in used)):
            return None
        rows = self.to_rows(table)
        if not clock.is_sane(rows):
            return None
        return clock.chunk(rows, tally)

    def _is_plain(self, text: str) -> bool:
        """No cell could mean one thing to NumPy and another to the rules of its column."""
        if not text.isascii() or any(odd in text for odd in '#"\0\r\x0b\x0c\x1c\x1d\x1e\x1f'):
            return False
        has_words = any(column.kind in ("word", "op") for column in self.columns)
        return not (has_words and self.delimiter and (" " in text or "\t" in text))

    def _slow(self, lines: list[str], first_line: int, clock: _Clock, tally: Tally) -> TraceChunk | None:
        good: list[tuple[Any, ...]] = []
        used = [(number, column) for number, column in enumerate(self.columns) if column.kind != "skip"]
        places: list[int] = []
        for number, line in enumerate(lines, start=first_line):
            if not line.strip() or line.startswith("#"):
                continue
            fault = self.line_fault(line)
            if fault is not None:
                tally.malformed(number, fault[0], fault[1], line, fault[2])
                continue
            cells = line.split(self.delimiter)
            good.append(tuple(_value(column, cells[place].strip()) for place, column in used))
            places.append(number)
        if not good:
            return None
        table = np.array(good, dtype=[(column.name, column.dtype) for _, column in used])
        rows = self.to_rows(table)
        is_good = clock.sane_rows(rows)
        if not is_good.all():
            for place in np.flatnonzero(~is_good):
                line = lines[places[place] - first_line]
                tally.malformed(places[place], 0, "", line, "lies too far from the first request or has no length")
            rows = _subset(rows, is_good)
        return clock.chunk(rows, tally) if len(rows.ticks) else None


def _end_of_header(lines: list[str], n_header_lines: int) -> int:
    """Lines up to the end of a header, which may stand below blank lines and comments."""
    used = [place for place, line in enumerate(lines) if line.strip() and not line.startswith("#")]
    return used[n_header_lines - 1] + 1 if len(used) >= n_header_lines else len(lines)


class _Clock:
    """Sets time to zero, leaves out what is no read or write, numbers the devices."""

    def __init__(self, form: TableFormat) -> None:
        self._tick_ns = form.tick_ns
        self._is_closed = form.is_closed
        self._elapsed = 0
        self._origin: int | None = None if form.has_epoch else 0

    def sane_rows(self, rows: Rows) -> NDArray[np.bool_]:
        limit = MAX_NS // self._tick_ns
        origin = int(rows.ticks[0]) if self._origin is None and len(rows.ticks) else self._origin or 0
        is_sane: NDArray[np.bool_] = (
            (np.abs(rows.ticks - origin) <= limit)
            & ((rows.length_bytes > 0) | (rows.op == SKIP))
            & (rows.length_bytes <= MAX_LENGTH_BYTES)
            & (rows.offset_bytes >= 0)
            & (rows.op != _UNKNOWN_WORD)
        )
        return is_sane

    def is_sane(self, rows: Rows) -> bool:
        return bool(self.sane_rows(rows).all())

    def chunk(self, rows: Rows, tally: Tally) -> TraceChunk:
        if self._origin is None:
            self._origin = int(rows.ticks[0])
            tally.origin_ns = self._origin * self._tick_ns
        is_skipped = rows.op == SKIP
        if is_skipped.any():
            tally.n_skipped += int(is_skipped.sum())
            rows = _subset(rows, ~is_skipped)
        time_ns = (rows.ticks - self._origin) * self._tick_ns
        if self._is_closed:
            if self._elapsed + float(time_ns.sum(dtype=np.float64)) > MAX_NS:
                raise file_error(tally.path, "adds up to more than 146 years", "are the times in microseconds?")
            after = self._elapsed + np.cumsum(time_ns)
            time_ns, self._elapsed = after - time_ns, int(after[-1]) if len(after) else self._elapsed
        device = device_column(rows.device_keys, len(rows.ticks), tally)
        return TraceChunk(
            time_ns, rows.op, rows.offset_bytes, rows.length_bytes, rows.response_ns, device, tuple(tally.device_names)
        )


def device_column(keys: tuple[NDArray[Any], ...], n_rows: int, tally: Tally) -> NDArray[np.int32]:
    """Index of the device of each row; the device's name is its keys joined by "_"."""
    code = np.zeros(n_rows, dtype=np.int64)
    values: list[tuple[object, ...]] = [()]
    for key in keys:
        if n_rows and (key == key[0]).all():
            distinct, inverse = key[:1], np.zeros(n_rows, dtype=np.int64)
        else:
            distinct, inverse = np.unique(key, return_inverse=True)
        names = [item.decode("latin-1") if isinstance(item, bytes) else item for item in distinct.tolist()]
        pairs, code = np.unique(code * max(len(names), 1) + inverse, return_inverse=True)
        values = [(*values[pair // len(names)], names[pair % len(names)]) for pair in pairs.tolist()]
    if n_rows == 0:
        return np.zeros(0, dtype=np.int32)
    # Numbered in order of appearance, so that the numbers don't depend on where blocks end.
    _, first_rows = np.unique(code, return_index=True)
    numbers = np.zeros(len(values), dtype=np.int32)
    for place in np.argsort(first_rows):
        numbers[place] = tally.device(values[place], "_".join(str(part) for part in values[place]))
    return numbers[code]


def nanoseconds(values: NDArray[np.float64], scale: float) -> Int64:
    """Whole nanoseconds of times in units of `scale` ns, rounded half to even; exact below 2⁵³ ns (104 days)."""
    return np.rint(values * scale).astype(np.int64)


def op_codes(column: Column, cells: NDArray[np.bytes_]) -> NDArray[np.uint8]:
    """Code of each cell of an "op" column."""
    if len(column.words) > 16:
        distinct, inverse = np.unique(cells, return_inverse=True)
        table = [column.words.get(word.decode("latin-1"), _UNKNOWN_WORD) for word in distinct.tolist()]
        return np.array(table, dtype=np.uint8)[inverse]
    codes = np.full(len(cells), _UNKNOWN_WORD, dtype=np.uint8)
    for word, code in column.words.items():
        codes[cells == word.encode()] = code
    return codes


def unknown_times(n: int) -> Int64:
    """Response times of a trace that does not record them."""
    return np.full(n, UNKNOWN, dtype=np.int64)


def _is_within(column: Column, cells: NDArray[Any]) -> bool:
    if column.kind in ("int", "float", "float or nothing"):
        return bool(((cells >= column.low) & (cells <= column.high)).all())
    if column.kind == "op":
        return not (op_codes(column, cells) == _UNKNOWN_WORD).any()
    lengths = np.char.str_len(cells)
    return bool(((lengths > 0) & (lengths < _WORD_BYTES)).all())


def _value(column: Column, text: str) -> int | float | bytes:
    if column.kind == "int":
        return int(text)
    if column.kind == "float or nothing" and not text:
        return -1.0
    return float(text) if column.kind.startswith("float") else text.encode("latin-1")


def _subset(rows: Rows, mask: NDArray[np.bool_]) -> Rows:
    return Rows(
        rows.ticks[mask],
        rows.op[mask],
        rows.offset_bytes[mask],
        rows.length_bytes[mask],
        rows.response_ns[mask],
        tuple(key[mask] for key in rows.device_keys),
    )
