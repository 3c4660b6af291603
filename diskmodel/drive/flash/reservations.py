"""Reservations of a shared bus, with gaps between them (rule F3)."""

from __future__ import annotations

from bisect import bisect_right, insort


class Wire:
    """A channel or an interface: one transfer at a time, in the earliest gap that is long enough."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []

    def reserve(self, earliest_ns: int, duration_ns: int, floor_ns: int) -> int:
        """Reserve a transfer of `duration_ns` > 0 at `earliest_ns` or later; return its start.

        Later calls must not ask for times before `floor_ns`; reservations that ended by then are deleted.
        """
        busy = self._busy
        past = 0
        while past < len(busy) and busy[past][1] <= floor_ns:
            past += 1
        if past:
            del busy[:past]
        start = earliest_ns
        for begin, end in busy[max(bisect_right(busy, (start, start)) - 1, 0) :]:
            if begin >= start + duration_ns:
                break
            start = max(start, end)
        self._insert(start, start + duration_ns)
        return start

    def _insert(self, start: int, end: int) -> None:
        """Insert an interval, merged with adjacent ones so that the list stays short."""
        busy = self._busy
        i = bisect_right(busy, (start, end))
        if i < len(busy) and busy[i][0] == end:
            end = busy.pop(i)[1]
        if i and busy[i - 1][1] == start:
            start = busy.pop(i - 1)[0]
        insort(busy, (start, end))
