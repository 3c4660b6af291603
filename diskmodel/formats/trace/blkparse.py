"""The text of blkparse: events of the block layer, put together to requests.

A request becomes a row when it completes (C). Its issue time is that of its first queue event (Q), or of its dispatch
(D) where there is none; the response time is from there to the completion. The variant "blkparse-dispatch" counts from
the dispatch, which is what the device itself took. Merges (M, F) are followed: a merged bio lengthens its request and
ends with it. A split (X) makes two requests of one. Other actions are no requests of their own. Requests that never
complete in the trace, or whose place is asked for again before they do, have an unknown response time.

Flushes are rows where they are asked for: at their queue event (Q), in "blkparse-dispatch" and where there is none at
their dispatch, and where a trace has completions alone, there. A write that a flush goes before (FW) is a flush, and a
write at its dispatch, which waited for it. What a write past the cache (WF) is asked for as counts, not what the block
layer makes of it for a drive without FUA.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from diskmodel.formats.trace.blocks import blocks_of
from diskmodel.formats.trace.columns import FLUSH, FUA_WRITE, UNKNOWN, Tally, TraceChunk
from diskmodel.formats.trace.tabular import MAX_LENGTH_BYTES, MAX_NS
from diskmodel.formats.trace.text_formats import SECTOR_BYTES

#: Requests in flight that are remembered; the oldest are given up beyond that, so that memory stays flat.
MAX_PENDING = 1 << 18

_EVENT = re.compile(
    r"\s*(\d{1,9},\d{1,9})\s+\d+\s+\d+\s+(\d{1,9})\.(\d{9})\s+\d+\s+([A-Za-z]{1,2})\s+([A-Z]{1,8})"
    r"(?:\s+(\d{1,18}) \+ (\d{1,9}))?",
    re.ASCII,
)
_SPLIT = re.compile(
    r"\s*(\d{1,9},\d{1,9})\s+\d+\s+\d+\s+\d{1,9}\.\d{9}\s+\d+\s+X\s+[A-Z]{1,8}\s+(\d{1,18}) / (\d{1,18})", re.ASCII
)
_SUMMARY = re.compile(r"(CPU\d+|Total) \(", re.ASCII)


@dataclass
class _Pending:
    queued_ns: int
    dispatched_ns: int
    sectors: int
    op: int
    #: It waits for a flush of its own before it is dispatched.
    waits: bool = False


Key = tuple[str, int]


@dataclass
class _State:
    """Requests in flight, by device and first sector, and rows that are ready."""

    pending: OrderedDict[Key, _Pending] = field(default_factory=OrderedDict)
    ends: dict[Key, Key] = field(default_factory=dict)
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    #: Devices whose flushes are rows at their queue events or dispatches.
    flushed: set[str] = field(default_factory=set)

    def put(self, key: Key, request: _Pending) -> None:
        self.pending[key] = request
        self.ends[key[0], key[1] + request.sectors] = key

    def take(self, key: Key) -> _Pending | None:
        request = self.pending.pop(key, None)
        if request is not None and self.ends.get(end := (key[0], key[1] + request.sectors)) == key:
            del self.ends[end]
        return request

    def oldest(self) -> tuple[Key, _Pending]:
        key = next(iter(self.pending))
        request = self.take(key)
        assert request is not None
        return key, request

    def split(self, device: str, sector: int, at: int) -> None:
        request = self.take((device, sector))
        if request is None:
            return
        rest = sector + request.sectors - at
        if 0 < rest < request.sectors:
            request.sectors -= rest
            self.put((device, at), _Pending(request.queued_ns, -1, rest, request.op, request.waits))
        self.put((device, sector), request)


@dataclass(frozen=True)
class Blkparse:
    """Parser of blkparse's default text format."""

    from_dispatch: bool = False

    def line_fault(self, line: str) -> tuple[int, str, str] | None:
        """The rule that a line breaks, or nothing."""
        return None if _EVENT.match(line) else (0, "", "is no event of blkparse")

    def chunks(self, stream: IO[bytes], tally: Tally) -> Iterator[TraceChunk]:
        """Chunks in order of completion."""
        state = _State()
        in_summary = False
        for block in blocks_of(stream, tally):
            for number, line in enumerate(block.lines(), start=block.first_line):
                event = _EVENT.match(line)
                if event is None:
                    in_summary = in_summary or _SUMMARY.match(line) is not None
                    if not in_summary and line.strip():
                        tally.malformed(number, 0, "", line, "is no event of blkparse")
                    continue
                self._event(event, state, tally)
            if state.rows:
                yield _chunk(state.rows, tally)
                state.rows = []
        for (device, sector), request in state.pending.items():
            state.rows.append(self._row(device, sector, request, None, tally))
        if state.rows:
            yield _chunk(state.rows, tally)

    def _event(self, event: re.Match[str], state: _State, tally: Tally) -> None:
        device, seconds, nanoseconds, action, kind, start, count = event.groups()
        if action == "X":
            if split := _SPLIT.match(event.string):
                state.split(device, int(split[2]), int(split[3]))
            return
        if action not in ("Q", "D", "C", "M", "F"):
            return
        is_write = "W" in kind
        has_data = start is not None and int(count) > 0
        if action == "C" and "F" in kind:
            tally.n_flushes += not has_data
            tally.n_with_flush += has_data and is_write
        now = int(seconds) * 10**9 + int(nanoseconds)
        op, waits = int(is_write), False
        if tally.with_flushes and "F" in kind and action in "QDC" and (is_write or not has_data):
            waits = has_data and kind[0] == "F"
            op = FUA_WRITE if has_data and "F" in kind[kind.index("W") :] else op
            if not has_data or (action == "Q" and waits):
                self._flush(device, action, now, state, tally)
            if not has_data:
                return
        if start is None or "D" in kind or not (is_write or "R" in kind):
            tally.n_skipped += action == "C"
            return
        sector, sectors = int(start), int(count)
        if sectors == 0 or sector + sectors > 2**53 or sectors * SECTOR_BYTES > MAX_LENGTH_BYTES:
            tally.n_skipped += action == "C"
            return
        key = (device, sector)
        if action == "Q":
            # The earlier request of this place has ended unseen, or the trace lacks completions.
            if (earlier := state.take(key)) is not None:
                state.rows.append(self._row(device, sector, earlier, None, tally))
            state.put(key, _Pending(now, -1, sectors, op, waits))
        elif action == "M":
            state.take(key)
            if (before := state.ends.get((device, sector))) is not None:
                longer = state.pending[before]
                state.take(before)
                longer.sectors += sectors
                state.put(before, longer)
        elif action == "F":
            # The earlier bio starts where this one ends; the request they form starts here.
            state.take(key)
            if (behind := state.take((device, sector + sectors))) is not None:
                behind.sectors += sectors
                state.put(key, behind)
        elif action == "D":
            request = state.take(key) or _Pending(now, now, sectors, op)
            request.op = op if self.from_dispatch else request.op
            request.dispatched_ns, request.sectors = now, sectors
            state.put(key, request)
        else:
            request_done = state.take(key)
            if request_done is None:
                tally.n_skipped += 1
                return
            request_done.sectors = sectors
            state.rows.append(self._row(device, sector, request_done, now, tally))
        if len(state.pending) > MAX_PENDING:
            (old_device, old_sector), old = state.oldest()
            state.rows.append(self._row(old_device, old_sector, old, None, tally))

    def _flush(self, device: str, action: str, now: int, state: _State, tally: Tally) -> None:
        """A flush is a row at the first of its events that the trace has, or at its dispatch."""
        first = "D" if self.from_dispatch else "Q"
        if action == first or device not in state.flushed:
            if action == "Q" and self.from_dispatch:
                return
            if action != "C":
                state.flushed.add(device)
            state.rows.append((min(now, MAX_NS), FLUSH, 0, 0, UNKNOWN, tally.device(device)))

    def _row(
        self, device: str, sector: int, request: _Pending, done_ns: int | None, tally: Tally
    ) -> tuple[int, int, int, int, int, int]:
        use_dispatch = (self.from_dispatch or request.waits) and request.dispatched_ns >= 0
        issued = request.dispatched_ns if use_dispatch else request.queued_ns
        response = UNKNOWN if done_ns is None or done_ns < issued else done_ns - issued
        return (
            min(issued, MAX_NS),
            request.op,
            sector * SECTOR_BYTES,
            request.sectors * SECTOR_BYTES,
            response,
            tally.device(device),
        )


def _chunk(rows: list[tuple[int, int, int, int, int, int]], tally: Tally) -> TraceChunk:
    table = np.array(rows, dtype=np.int64)
    return TraceChunk(
        table[:, 0].copy(),
        table[:, 1].astype(np.uint8),
        table[:, 2].copy(),
        table[:, 3].copy(),
        table[:, 4].copy(),
        table[:, 5].astype(np.int32),
        tuple(tally.device_names),
    )
