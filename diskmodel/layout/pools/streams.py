"""Who reads a pool in order, and how far OpenZFS reads ahead of them (rule X18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: Streams that are followed (`zfetch_max_streams`), and how long one is left alone before another takes its place
#: (`zfetch_min_sec_reap`), ns.
STREAMS, REAP_NS = 8, 1_000_000_000
#: Bytes that are read ahead: doubled with each read up to the first (`zfetch_min_distance`), and by an eighth where a
#: reader came too early up to the second (`zfetch_max_distance`).
LEAST_AHEAD_BYTES, MOST_AHEAD_BYTES = 4 << 20, 64 << 20
#: Reads ahead that a drive is given at once (`zfs_vdev_async_read_max_active`).
ACTIVE_AHEAD = 3


class ReadTables(NamedTuple):
    """How a pool reads ahead, in whole numbers.

    Attributes
    ----------
    streams : int
    reap_ns : int
    least, most : int
        Records that are read ahead; 0: nothing is.
    held : int
        Records that memory holds for all streams.
    active : int
        Reads ahead that a drive is given at once (rule X14).
    """

    streams: int
    reap_ns: int
    least: int
    most: int
    held: int
    active: int


@dataclass
class Stream:
    """A reader in order: the record that it reads next, and what is read ahead of it.

    `distance` records are to be read ahead, and from `begin` to `end` are asked for next. `is_early` says that it came
    to a record that was still being read.
    """

    next: int
    used_ns: int
    distance: int = 0
    begin: int = 0
    end: int = 0
    is_early: bool = False


class Streams:
    """The streams of a pool."""

    def __init__(self, tables: ReadTables, n_records: int) -> None:
        self.tables, self.n_records = tables, n_records
        self.streams: list[Stream] = []

    def read(self, first: int, end: int, now_ns: int) -> tuple[Stream | None, bool]:
        """Return the stream that a read of records [first, end) continues, and whether it comes to others.

        None where it continues none, and may begin one.
        """
        for stream in self.streams:
            if first in (stream.next, stream.next - 1):
                return stream, self._comes_to_others(stream, end, now_ns)
        self._begin(end, now_ns)
        return None, False

    def _comes_to_others(self, stream: Stream, end: int, now_ns: int) -> bool:
        n = end - stream.next
        stream.used_ns = now_ns
        if n <= 0:
            return False
        stream.next = end
        if stream.distance < n:
            stream.distance = n
        elif stream.distance < self.tables.least:
            stream.distance *= 2
        elif stream.is_early:
            stream.distance += stream.distance // 8
        stream.distance = min(stream.distance, self.tables.most)
        stream.is_early = False
        stream.begin = max(stream.begin, end)
        stream.end = min(max(stream.end, end + stream.distance), self.n_records)
        return True

    def _begin(self, end: int, now_ns: int) -> None:
        """Follow a new reader, instead of one that has not been seen for a while."""
        if len(self.streams) == self.tables.streams:
            oldest = min(self.streams, key=lambda stream: stream.used_ns)
            if oldest.used_ns > now_ns - self.tables.reap_ns:
                return
            self.streams.remove(oldest)
        # it may be forgotten at once until it is continued
        self.streams.insert(0, Stream(end, now_ns - self.tables.reap_ns, 0, end, end))

    def ahead(self, stream: Stream, *, is_missed: bool) -> range:
        """Return the records to read ahead of a stream now: none while it finds all that it reads in memory."""
        if not is_missed:
            return range(0)
        begin, stream.begin = stream.begin, stream.end
        return range(begin, stream.end)

    def came(self, stream: Stream, record: int) -> None:
        """Notice that a record that was read ahead of a stream has come."""
        stream.is_early = stream.is_early or record < stream.next
