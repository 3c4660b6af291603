"""fio's iologs, versions 2 and 3: what a job did, file by file.

Version 3 has a time in microseconds before each action (fio's `utime_since_now`). Version 2 has `wait` lines instead;
their number is, in fio 3.x, the time in milliseconds since fio was started (measured with fio 3.33; its manual says
otherwise), so requests between two waits have the same time. Neither records response times. Each file is a device.

A line `sync`, `datasync` or `syncfs` is a flush (rule Y12). `sync_file_range` writes pages back, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import numpy as np

from diskmodel.formats.trace.blocks import blocks_of
from diskmodel.formats.trace.columns import FLUSH, UNKNOWN, Tally, TraceChunk
from diskmodel.formats.trace.tabular import MAX_BYTES, MAX_LENGTH_BYTES, MAX_NS
from diskmodel.loading import dataclass

HEADERS = {"fio version 2 iolog": 2, "fio version 3 iolog": 3}

_FILE_ACTIONS = ("add", "open", "close", "unlink", "stat")
_FLUSHES = ("sync", "datasync", "syncfs")
_OTHER_ACTIONS = ("sync_file_range", "trim")
_DATA_ACTIONS = {"read": 0, "write": 1}
_NUMBER = re.compile(r"\d{1,19}\Z", re.ASCII)


class _Fault(Exception):
    def __init__(self, column: int, name: str, rule: str) -> None:
        self.column, self.name, self.rule = column, name, rule
        super().__init__(rule)


@dataclass(frozen=True)
class Iolog:
    """Parser of one version."""

    version: int

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks in the order of the log."""
        clock_ns = 0
        for block in blocks_of(stream, tally):
            rows: list[tuple[int, int, int, int, int]] = []
            for number, line in enumerate(block.lines(), start=block.first_line):
                words = line.split()
                if not words or number == 1:
                    continue
                try:
                    clock_ns, row = self._line(words, clock_ns)
                except _Fault as fault:
                    tally.malformed(number, fault.column, fault.name, line, fault.rule)
                    continue
                if row is not None:
                    rows.append((clock_ns, *row, tally.device(words[self.version - 2])))
                elif words[self.version - 1] in _FLUSHES:
                    tally.n_flushes += 1
                    if tally.with_flushes:
                        rows.append((clock_ns, FLUSH, 0, 0, tally.device(words[self.version - 2])))
                    else:
                        tally.n_skipped += 1
                elif words[self.version - 1] in _OTHER_ACTIONS:
                    tally.n_skipped += 1
            if rows:
                table = np.array(rows, dtype=np.int64)
                yield TraceChunk(
                    table[:, 0].copy(),
                    table[:, 1].astype(np.uint8),
                    table[:, 2].copy(),
                    table[:, 3].copy(),
                    np.full(len(table), UNKNOWN, dtype=np.int64),
                    table[:, 4].astype(np.int32),
                    tuple(tally.device_names),
                )

    def _line(self, words: list[str], clock_ns: int) -> tuple[int, tuple[int, int, int] | None]:
        """New time and, for a read or a write, its operation, offset and length."""
        place = self.version - 1
        if self.version == 3:
            clock_ns = _number(words, 0, "time", MAX_NS // 1000) * 1000
        if len(words) <= place:
            raise _Fault(0, "", "lacks an action")
        action = words[place]
        if action == "wait" and self.version == 2:
            return max(clock_ns, _number(words, place + 1, "wait", MAX_NS // 10**6) * 10**6), None
        if action in (*_FILE_ACTIONS, *_FLUSHES, *_OTHER_ACTIONS):
            return clock_ns, None
        if action not in _DATA_ACTIONS:
            raise _Fault(place + 1, "action", "is not a known action")
        offset = _number(words, place + 1, "offset", MAX_BYTES)
        length = _number(words, place + 2, "length", MAX_LENGTH_BYTES)
        if length == 0:
            raise _Fault(place + 3, "length", "must be more than 0")
        return clock_ns, (_DATA_ACTIONS[action], offset, length)


def _number(words: list[str], place: int, name: str, high: int) -> int:
    if place >= len(words):
        raise _Fault(0, "", f"lacks a column ({name})")
    if not _NUMBER.match(words[place]):
        raise _Fault(place + 1, name, "must be a whole number")
    value = int(words[place])
    if value > high:
        raise _Fault(place + 1, name, f"must lie from 0 to {high}")
    return value
