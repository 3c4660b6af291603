"""What a workload's past leaves in a cache: which blocks were used, and which of them still wait to be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.engine.compiled import kernel as _kernel
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.past.keeping import kept
from diskmodel.loading import dataclass
from diskmodel.records import Int64, Op
from diskmodel.workload import Closed, ReuseWalk, Sequential, Stream, Strided, Workload, interleave

#: Rows of the past that are drawn at most, whatever the size of a cache: about 0.3 s. At half of it a 16 GiB cache of
#: 4 KiB blocks begins half full under 8 KiB requests; at double, every run with a large cache begins later.
MAX_ROWS = 1 << 21
#: Uses of blocks that are drawn at most, where requests have many: a use takes 8 bytes, and some three times that while
#: lists are sorted. At half, a 16 GiB cache of 4 KiB blocks begins half full under requests of 1 MiB; at double, a
#: question about a larger one takes 2 GB.
MAX_USES = 1 << 23
#: Computing time of a row that is drawn, and looked for on the disks, seconds. At half, the starts of drives that hold
#: hundreds of thousands of small writes take a third more than is entered; at double, their draws are left out.
_ROW_S = 0.08e-6
#: How many times the bytes that were asked for drawn writes may have. At half, buffers of some disks begin with less.
_TIMES_AS_MANY = 2
#: Rows from which the blocks of a request are estimated.
_SAMPLE_ROWS = 1 << 10
#: Lists of used blocks that are kept: drives that are drawn from a profile ask for the same ones, of a few lengths in
#: turn. A list takes 8 bytes a block, at most 16 MB for each block of a request; with half as many, a sixth more time.
_BLOCKS_KEPT = 12
#: Of those that say which were written, of pools with cache devices.
_MARKED_KEPT = 2
#: Digits of the share of a stream in the rows: those of multiples of a load differ by the rounding of their rates. At
#: half, streams that go through their regions in order would not end where the run begins.
_SHARE_DIGITS = 10
#: The same where it hardly matters. At three, the rates of a comparison have a past each, which for an ARC of 512 GiB
#: take a second each; at one, a stream has up to a third more of the rows than it is.
_ROUNDED_DIGITS = 2
#: Places of a table of values for each value, up to which a table takes less time than sorting them: a third at half as
#: many, as much at twice as many.
_TABLE = 8
#: Fields of a stream that say where its requests are, beside its pattern.
_PLACES = ("alignment_bytes", "span_bytes", "span_ratio", "offset_bytes", "offset_ratio")


@dataclass(frozen=True)
class History:
    """A workload's past on one array, drawn as far back as it is asked for."""

    workload: Workload
    capacity_bytes: int
    seed: int
    #: Requests that have come since the streams that go through their regions in order began at the front.
    n_before: int = 0

    @property
    def shared(self) -> History:
        """The one history of all that draw the same rows: arrays of other sizes, and of other caches.

        It is that of the smallest array with these regions; where no stream goes through its region in order, of one
        where nothing came before.
        """
        workload = self.workload
        spaces = [workload.space(stream, self.capacity_bytes) for stream in workload.streams]
        smallest = max(space.first_byte + space.span_bytes for space in spaces)
        if [workload.space(stream, smallest) for stream in workload.streams] != spaces:
            smallest = self.capacity_bytes
        goes_on = any(isinstance(stream.addresses, Sequential | Strided) for stream in workload.streams)
        return replace(self, capacity_bytes=smallest, n_before=self.n_before if goes_on else 0)

    @property
    def placed(self) -> History:
        """The one history of all that write at the same places, whenever they do and whatever makes it safe.

        Of several streams, how fast each of them is beside the others decides whose rows come when: the rates that a
        comparison tries are multiples of one load, and share its past.
        """
        streams = self.workload.streams
        if any(stream.kind != "requests" or stream.excerpts is not None for stream in streams):
            return self
        is_anywhere = not any(isinstance(stream.addresses, Sequential | Strided) for stream in streams)
        total = sum(stream.row_weight for stream in streams)
        if not total:
            return self
        plain = tuple(_placed(stream, stream.row_weight / total) for stream in streams)
        workload = self.workload.model_copy(update={"name": "", "streams": plain})
        return replace(self, workload=workload, n_before=0 if is_anywhere else self.n_before)

    @property
    def rounded(self) -> History:
        """The one history of all whose streams have about the same shares, where those do not say where one has come.

        Clients are whole numbers, so that multiples of a load that has some differ.
        """
        if self.n_before or any(not stream.weight for stream in self.workload.streams):
            return self
        streams = tuple(
            stream.model_copy(update={"weight": float(f"{stream.weight:.{_ROUNDED_DIGITS}g}")})
            for stream in self.workload.streams
        )
        return replace(self, workload=self.workload.model_copy(update={"streams": streams}))

    def uses(self, n: int, block_bytes: int, *, only_writes: bool = False) -> Int64:
        """About the last `n` uses of blocks, or all of the past that is drawn, the latest last; int64."""
        n_rows = self.rows_of_uses(n, block_bytes, only_writes=only_writes)
        self._enter(n_rows, only_writes=only_writes)
        return self._blocks(n_rows, block_bytes, only_writes)[-n:] if n_rows else np.empty(0, np.int64)

    def rows_of_uses(self, n: int, block_bytes: int, *, only_writes: bool = False) -> int:
        """About the number of requests that use `n` blocks, or `MAX_USES`, at most `MAX_ROWS`; 0 where none does."""
        n_in_sample = self._n_in_sample(block_bytes, only_writes)
        most = MAX_USES // 2 if only_writes else MAX_USES  # what waits is sorted in several ways
        return min(_rows_of(n, n_in_sample), max(most * _SAMPLE_ROWS // max(n_in_sample, 1), 1))

    def requests_of_uses(self, n: int, block_bytes: int) -> int:
        """Requests of which the writes use `n` blocks, counted over so many, or over `MAX_ROWS`."""
        n_rows = self.rows_of_uses(n, block_bytes, only_writes=True)
        self._enter(n_rows, only_writes=True)
        n_used = len(self._blocks(n_rows, block_bytes, only_writes=True)) if n_rows else 0
        return round(n * n_rows / n_used) if n_used else 0

    @property
    def read_ratio(self) -> float:
        """About the share of the requests that read."""
        return len(self.reads()) / _SAMPLE_ROWS

    def reads(self) -> Int64:
        """Offsets in bytes of a sample of what was read."""
        past = self.workload.past(
            capacity_bytes=self.capacity_bytes, n=_SAMPLE_ROWS, seed=self.seed, n_before=self.n_before
        )
        offset: Int64 = past.offset[past.op == Op.READ]
        return offset

    def writes(self, n_bytes: int) -> tuple[Int64, Int64]:
        """Offsets and lengths in bytes of the last writes that add up to about `n_bytes`, the latest last."""
        offset, length = self._rows(self.rows_of_writes(n_bytes), only_writes=True)
        latest = _latest(length, _TIMES_AS_MANY * n_bytes)
        return offset[latest], length[latest]

    def last_writes(self, n: int, streams: Sequence[Stream]) -> tuple[Int64, Int64]:
        """Offsets and lengths in bytes of about the last `n` writes of streams that write, the latest last.

        Reads are not drawn where they lie like writes, so that a few writes among many reads go as far back.
        """
        workload = self.workload
        total = sum(stream.row_weight for stream in workload.streams)
        owner = interleave([write_weight(stream) for stream in streams], n)[::-1]
        offset, length = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for index, stream in enumerate(streams):
            rows = np.flatnonzero(owner == index)
            lies_apart = isinstance(stream.addresses, ReuseWalk) or stream.excerpts is not None
            n_drawn = min(int(len(rows) / stream.write_ratio) + 1, MAX_ROWS) if lies_apart else len(rows)
            past = workload.past(
                capacity_bytes=self.capacity_bytes,
                n=n_drawn,
                seed=self.seed + index,
                n_before=round(self.n_before * stream.row_weight / total),
                streams=[stream],
            )
            chosen = np.flatnonzero(past.op == Op.WRITE)[-len(rows) :] if lies_apart else np.arange(n_drawn)
            rows = rows[len(rows) - len(chosen) :]
            offset[rows], length[rows] = past.offset[chosen], past.length[chosen]
        is_drawn = length > 0
        return offset[is_drawn], length[is_drawn]

    def marked_uses(self, n: int, block_bytes: int) -> tuple[Int64, NDArray[np.bool_]]:
        """The last `n` uses of blocks, as `uses` returns them, and whether each was a write."""
        n_rows = self.rows_of_uses(n, block_bytes)
        if not n_rows:
            return np.empty(0, np.int64), np.empty(0, np.bool_)
        blocks, are_written = self._marked(n_rows, block_bytes)
        return blocks[-n:], are_written[-n:]

    def rows_of_writes(self, n_bytes: int) -> int:
        """About the number of requests that write `n_bytes`, at most `MAX_ROWS`; 0 where none does."""
        _, length = self._rows(_SAMPLE_ROWS, only_writes=True)
        return _rows_of(n_bytes, int(length.sum()))

    def _enter(self, n_rows: int, *, only_writes: bool) -> None:
        """Enter what so many rows cost, whoever had them drawn first: rows that are kept are entered all the same."""
        current().enter_once((self, n_rows, only_writes), _ROW_S * n_rows)

    def _rows(self, n_rows: int, *, only_writes: bool) -> tuple[Int64, Int64]:
        if only_writes and not any(stream.write_ratio for stream in self.workload.streams):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        past = self.workload.past(capacity_bytes=self.capacity_bytes, n=n_rows, seed=self.seed, n_before=self.n_before)
        chosen = past.op == Op.WRITE if only_writes else slice(None)
        return past.offset[chosen], past.length[chosen]

    @kept(_MARKED_KEPT)
    def _marked(self, n_rows: int, block_bytes: int) -> tuple[Int64, NDArray[np.bool_]]:
        """Blocks that the last requests used, and whether each was written."""
        past = self.workload.past(capacity_bytes=self.capacity_bytes, n=n_rows, seed=self.seed, n_before=self.n_before)
        count = _n_blocks(past.offset, past.length, block_bytes)
        latest = _latest(count, MAX_USES)
        first, count, is_write = past.offset[latest] // block_bytes, count[latest], past.op[latest] == Op.WRITE
        return ranges(first, count), np.repeat(is_write, count)

    @lru_cache(maxsize=_BLOCKS_KEPT)  # noqa: B019 (histories are few, and small)
    def _n_in_sample(self, block_bytes: int, only_writes: bool) -> int:
        """Return how many blocks the requests of a sample use."""
        offset, length = self._rows(_SAMPLE_ROWS, only_writes=only_writes)
        return int(_n_blocks(offset, length, block_bytes).sum())

    @kept(_BLOCKS_KEPT)
    def _blocks(self, n_rows: int, block_bytes: int, only_writes: bool) -> Int64:
        offset, length = self._rows(n_rows, only_writes=only_writes)
        count = _n_blocks(offset, length, block_bytes)
        latest = _latest(count, MAX_USES)
        return ranges(offset[latest] // block_bytes, count[latest])


def _placed(stream: Stream, share: float) -> Stream:
    """Return a stream that writes at the same places, with so many of the rows."""
    return Stream(
        sizes=stream.sizes,
        read_ratio=stream.read_ratio,
        addresses=stream.addresses,
        arrival=Closed(clients=1),
        weight=float(f"{share:.{_SHARE_DIGITS}g}"),
        **{name: getattr(stream, name) for name in _PLACES},
    )


def write_weight(stream: Stream) -> float:
    """Weight of a stream's writes among all requests, as of `row_weight`."""
    return stream.row_weight * stream.write_ratio


def _n_blocks(offset: Int64, length: Int64, block_bytes: int) -> Int64:
    """Return how many blocks each request touches."""
    return -(-(offset + length) // block_bytes) - offset // block_bytes


def _latest(count: Int64, most: int) -> slice:
    """Return the last requests that have so many blocks or bytes at most, at least one.

    A sample of requests has none of those that are rare and large, so that far more may be drawn than were asked for.
    """
    if count.sum() <= most:
        return slice(None)
    n = int(np.searchsorted(np.cumsum(count[::-1]), most, side="right"))
    return slice(-max(n, 1), None)


def _rows_of(n: int, n_in_sample: int) -> int:
    return min(-(-n * _SAMPLE_ROWS // n_in_sample), MAX_ROWS) if n_in_sample else 0


def most_recent(uses: Int64, n: int) -> Int64:
    """The `n` different blocks that were used last, the least recently used first."""
    if not n or not len(uses):
        return uses[:0]
    latest_first = uses[::-1]
    order = stable_order(latest_first)
    turns = order[_is_new(latest_first[order])]
    del order  # each of these columns may have millions of rows
    turns.sort()
    found: Int64 = latest_first[turns[:n]][::-1]
    return found


def waiting_in_round(uses: Int64, n: int, lane: Int64 | None = None, line_blocks: int = 1) -> tuple[Int64, int]:
    """The blocks that wait in `n` lines when a sweep that goes round takes as many as come, and the length of a round.

    Parameters
    ----------
    uses : int64, shape (n_uses,)
        Blocks that were written, the latest last.
    n : int
    lane : int64, shape (n_uses,), optional
        Lane of each; every lane has a sweep of its own.
    line_blocks : int
        Blocks of a line.

    Returns
    -------
    blocks : int64
        Ascending; all that were written where these are fewer.
    round_uses : int
        Uses of one round. If they are more than `n_uses`, writes that still wait are older than those.

    """
    if not len(uses):
        return uses, 0
    found: tuple[Int64, int] = _kernel.waiting_in_round(np.ascontiguousarray(uses), n, lane, line_blocks)
    return found


def stable_order(values: Int64) -> Int64:
    """What sorts whole numbers from 0 on, equal ones as they come; several times as fast as numpy's stable order."""
    n = len(values)
    if int(values.max()) >= (1 << 62) // n:
        return np.argsort(values, kind="stable")
    # in one place: of a cache of 256 GiB each copy is 130 MB
    order: Int64 = values * n
    order += np.arange(n)
    order.sort()
    order %= n
    return order


def ranges(first: Int64, count: Int64) -> Int64:
    """Return `count` numbers from each `first` on, one range behind the other."""
    before = np.cumsum(count) - count
    found: Int64 = np.repeat(first - before, count)
    found += np.arange(len(found))
    return found


def distinct(values: Int64) -> Int64:
    """Return the different values in ascending order.

    As `np.unique`, which counts integers in a hash table and takes a hundred times as long for a million of them.
    """
    if not len(values):
        return values
    least, most = int(values.min()), int(values.max())
    if most - least < _TABLE * len(values):
        is_there = np.zeros(most - least + 1, np.bool_)
        is_there[values - least] = True
        return least + np.flatnonzero(is_there)
    ordered = np.sort(values)
    return ordered[_is_new(ordered)]


def _is_new(ordered: Int64) -> NDArray[np.bool_]:
    """Return whether each value is another than the one before."""
    found = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=found[1:])
    return found
