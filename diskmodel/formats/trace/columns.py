"""What every trace becomes: columns of whole nanoseconds and bytes, a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.faults import LineError
from diskmodel.records import Op

Int64 = NDArray[np.int64]

#: How many malformed lines are kept as examples when they are counted.
MAX_EXAMPLES = 10

#: Operation of a write past the caches of drives (FUA), and of a flush, where a trace is read with them.
FUA_WRITE, FLUSH = 3, int(Op.FLUSH)

#: Response time of a request whose trace does not record it.
UNKNOWN = -1


@dataclass(frozen=True)
class TraceChunk:
    """Consecutive requests of a trace, in the order of the file.

    Attributes
    ----------
    time_ns : int64, shape (n,)
        When the request was issued. Zero is the trace's own zero, or its first request where the file's clock counts
        from an epoch. Not always increasing: several formats are written in order of completion.
    op : uint8, shape (n,)
        `diskmodel.records.Op`: 0 read, 1 write; where a trace is read with flushes also 2, a flush, which has no
        length, and 3, a write past the caches of drives.
    offset_bytes : int64, shape (n,), 0 or more
    length_bytes : int64, shape (n,), more than 0
    response_ns : int64, shape (n,)
        From issue to completion; -1 where the trace does not record it.
    device : int32, shape (n,)
        Index into `device_names`.
    device_names : tuple of str
        Devices met so far; an index keeps its meaning in later chunks.
    """

    time_ns: Int64
    op: NDArray[np.uint8]
    offset_bytes: Int64
    length_bytes: Int64
    response_ns: Int64
    device: NDArray[np.int32]
    device_names: tuple[str, ...] = ("",)

    def __len__(self) -> int:
        return len(self.time_ns)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp] | slice) -> TraceChunk:
        """The chunk of the given rows: a mask, indices or a slice."""
        return TraceChunk(
            self.time_ns[rows],
            self.op[rows],
            self.offset_bytes[rows],
            self.length_bytes[rows],
            self.response_ns[rows],
            self.device[rows],
            self.device_names,
        )


#: A record before or after a silence longer than this, and longer than this many times all other records span, is a
#: slip of the clock or of another day.
_FAR_NS, _FAR_TIMES = 3600 * 10**9, 5


def far_record(time_ns: Int64) -> str | None:
    """Return what to say of a first or last record that lies far from all others; None where there is none.

    Parameters
    ----------
    time_ns : int64, shape (n,), in order
    """
    if len(time_ns) < 4:
        return None
    for which, gap, rest in (
        ("first", int(time_ns[1] - time_ns[0]), int(time_ns[-1] - time_ns[1])),
        ("last", int(time_ns[-1] - time_ns[-2]), int(time_ns[-2] - time_ns[0])),
    ):
        if gap > _FAR_NS and gap > _FAR_TIMES * rest:
            side = "earlier" if which == "first" else "later"
            return (
                f"one record lies {gap / 3600e9:.3g} hours {side} than all others, which span {rest / 1e9:.4g} s: its "
                "time may be wrong"
            )
    return None


def joined(chunks: list[TraceChunk]) -> TraceChunk:
    """All rows of the chunks as one."""
    if not chunks:
        empty = np.zeros(0, dtype=np.int64)
        return TraceChunk(
            empty, np.zeros(0, np.uint8), empty.copy(), empty.copy(), empty.copy(), np.zeros(0, np.int32), ()
        )

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(chunk, name) for chunk in chunks])

    return TraceChunk(
        column("time_ns"),
        column("op"),
        column("offset_bytes"),
        column("length_bytes"),
        column("response_ns"),
        column("device"),
        chunks[-1].device_names,
    )


@dataclass
class Tally:
    """What a reader met beside good rows; shared between the reader and the parser of its format.

    Attributes
    ----------
    n_malformed : int
        Lines (records) that broke a rule and were left out.
    n_skipped : int
        Well-formed lines that are no read or write: flushes, trims, other events.
    n_flushes, n_with_flush : int
        Completions of flushes alone, and of writes with a flush or past the cache (FUA).
    examples : list of LineError
        The first malformed lines, at most 10.
    with_flushes : bool
        Flushes become rows, and writes past the caches of drives have an operation of their own.
    unit_ns : int or None
        Length of the unit of the file's times, where files with another unit are found.
    origin_ns : int or None
        The first time, since the epoch of a clock that has one.
    """

    path: str
    is_fatal: bool
    n_malformed: int = 0
    n_skipped: int = 0
    n_flushes: int = 0
    n_with_flush: int = 0
    examples: list[LineError] = field(default_factory=list)
    device_names: list[str] = field(default_factory=list)
    with_flushes: bool = False
    unit_ns: int | None = None
    origin_ns: int | None = None
    _device_of: dict[object, int] = field(default_factory=dict)

    def malformed(self, line: int, column: int, name: str, text: str, rule: str, fix: str = "") -> None:
        """Note a malformed line.

        Raises
        ------
        LineError
            When malformed lines are fatal.
        """
        error = LineError(self.path, line, column, name, text, rule, fix)
        if self.is_fatal:
            raise error
        self.n_malformed += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(error)

    def device(self, key: object, name: str | None = None) -> int:
        """Index of a device, the same for the same key."""
        index = self._device_of.get(key)
        if index is None:
            index = self._device_of[key] = len(self.device_names)
            self.device_names.append(str(key) if name is None else name)
        return index
