"""The program that caches: what it does with each request (rules J3 to J12)."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable

from diskmodel.drive import CachedVolume
from diskmodel.engine.cached.contents import FOREVER
from diskmodel.engine.cached.start import Held
from diskmodel.records import FLUSH, PARTS, READ, WRITE, Requests

CACHE, BEHIND = 0, 1
CACHE_PART, TRANSFER_PART, SYNC_PART = (PARTS.index(name) for name in ("cache", "transfer", "sync"))
#: A bucket of bcache (`make-bcache`), and the place of its journal, bytes.
_BUCKET_BYTES, _JOURNAL_BYTES = 512 << 10, 64 << 20
#: The least write of a journal or of metadata.
_BLOCK_BYTES = 4096
#: Keys that nobody waits for are in the journal after so long (`journal_delay_ms`).
_JOURNAL_NS = 100_000_000
#: Ends of requests that bcache remembers to see which go on (`RECENT_IO`).
_ENDS = 128
#: Most units that are cleaned together where they lie side by side.
_TOGETHER = 64

Then = Callable[[int], None]


class Program(ABC):
    """What is in the cache, and what is done with requests; the two arrays and the clients are those of a run.

    Parameters
    ----------
    volume : CachedVolume
    requests : Requests
    held : Held or None
        What the cache holds at first; None: nothing.
    seed : int

    Attributes
    ----------
    now : int, ns
    dirty : float
        Units that are dirty.
    n_dirtied, n_cleaned : int
    n_reads, n_read_hits, n_bypassed, n_promoted : int
    """

    def __init__(self, volume: CachedVolume, requests: Requests, held: Held | None, seed: int) -> None:
        policy = volume.policy
        self.volume, self.requests, self.held = volume, requests, held
        self.now = 0
        self._random = random.Random(seed)
        self._offset, self._length = requests.offset.tolist(), requests.length.tolist()
        self._first_until: list[float] = []
        self._first_dirty: list[float] = []
        self._clock = 0
        self._unit = volume.unit
        self._n_units = volume.cache.usable_bytes // self._unit
        self._stays = held.stay.requests if held is not None else float("inf")
        self._is_log = policy.keeps == "logged"
        self._around = volume.write_mode in ("writearound", "none")
        self._is_lost = volume.passes_all
        self._back = volume.is_written_back
        self._bypass = volume.bypass_bytes
        self._until: dict[int, float] = {}
        self._room: OrderedDict[int, None] | None = None if held is not None else OrderedDict()
        #: Units that became dirty, and until when they are: a sweep comes within its round, or they have to leave.
        self._dirty: dict[int, float] = {}
        self._round = held.round_requests if held is not None and policy.cleans_ahead else FOREVER
        self._leaves_clean = held is not None and not policy.cleans_ahead
        self.dirty = held.dirty_units if held is not None else 0.0
        if held is not None:
            self._target, self._most = held.target_units, held.most_units
        else:
            self._target = (volume.dirty_target if policy.cleans_ahead else policy.most_dirty_ratio) * self._n_units
            self._most = volume.most_dirty * self._n_units
        self._places = None if held is None else held.places.tolist()
        self._sweep, self._in_order = self._random.random(), policy.cleans == "in order"
        self._units_of_a_write = 1.0 if held is None else held.popularity.units_of_a_write(_TOGETHER)
        self._queue_of_dirty: deque[int] = deque()
        #: Units of the buckets of a log with something dirty: old copies take room until all around them is clean.
        self._old_copies = 0.0
        self.n_dirtied = self.n_cleaned = self.n_reads = self.n_read_hits = self.n_bypassed = self.n_promoted = 0
        self._cleaning = self._promoting = 0
        self._blocked: deque[Callable[[], None]] = deque()
        self._ends: OrderedDict[int, int] = OrderedDict()
        self._log_at, self._log_end = 0, 0
        self._journal_at = 0
        self._flush_ns = volume.behind_flush_ns
        self.n_syncs = 0
        self._gathered: list[Then] = []
        self._is_committing = self._is_due = False

    @abstractmethod
    def _ask(self, which: int, op: int, offset: int, length: int, then: Then, *, is_safe: bool = False) -> None:
        """Ask one of the two arrays, now."""

    @abstractmethod
    def _at(self, when: int, action: Then) -> None:
        """Do something later."""

    @abstractmethod
    def _answered(self, row: int, part: int) -> Then:
        """Return what follows the data of a write: the sync that its client waits for, or the end."""

    @abstractmethod
    def _done(self, row: int, part: int, now: int) -> None:
        """A request is done; what it took since its last part belongs to this one."""

    @abstractmethod
    def _hit(self, row: int) -> None:
        """Say that a request was served by the cache alone."""

    # ------------------------------------------------------------------ what is in the cache
    def _is_there(self, unit: int, row: int) -> bool:
        if self._is_lost:
            return False
        until = self._until.get(unit)
        if until is None:
            self._until[unit] = until = self._first_until[row]
            if self._first_dirty[row] >= self._clock:
                self._dirty[unit] = self._first_dirty[row]
        return bool(until >= self._clock) or self._is_dirty(unit)

    def _is_dirty(self, unit: int) -> bool:
        until = self._dirty.get(unit)
        if until is None:
            return False
        if until >= self._clock and not (self._leaves_clean and self._until[unit] < self._clock):
            return True
        del self._dirty[unit]
        return False

    def _keep(self, unit: int) -> None:
        self._until[unit] = self._clock + self._stays
        if self._room is None:
            return
        self._room.pop(unit, None)
        self._room[unit] = None
        while len(self._room) > self._n_units:
            oldest = next((one for one in self._room if one not in self._dirty), None)
            if oldest is None:
                return
            del self._room[oldest]
            self._until[oldest] = -1.0

    def _use(self, unit: int) -> None:
        if not self._is_log:
            self._keep(unit)

    def _lose(self, unit: int) -> None:
        if self._is_dirty(unit):
            del self._dirty[unit]
            self.dirty -= 1
        self._until[unit] = -1.0
        if self._room is not None:
            self._room.pop(unit, None)

    def _units(self, row: int) -> range:
        first = self._offset[row] // self._unit
        return range(first, (self._offset[row] + self._length[row] - 1) // self._unit + 1)

    def _place(self, offset: int, length: int) -> int:
        """Return where a piece lies on the cache: units anywhere, the bytes of a unit side by side."""
        unit, within = divmod(offset, self._unit)
        place = (unit * 11400714819323198485 >> 7) % self._n_units * self._unit + within
        return min(place, self._n_units * self._unit - length)

    def _log_place(self, length: int) -> int:
        """Return the next place of a log that goes through buckets from front to end."""
        if self._log_at + length > self._log_end:
            whole = self._n_units * self._unit
            size = min(max(_BUCKET_BYTES, length), whole)
            self._log_at = self._random.randrange(max(whole // size, 1)) * size
            self._log_end = self._log_at + size
        place = self._log_at
        self._log_at += length
        return place

    def _passes(self, row: int) -> bool:
        """Whether a request goes on with others that are together so long that they pass by (rule J7)."""
        if not self._bypass:
            return False
        start, length = self._offset[row], self._length[row]
        so_far = self._ends.pop(start, 0) + length
        self._ends[start + length] = so_far
        if len(self._ends) > _ENDS:
            self._ends.popitem(last=False)
        return bool(so_far >= self._bypass)

    # ------------------------------------------------------------------ reads
    def _read(self, row: int) -> None:
        units = self._units(row)
        there = [self._is_there(unit, row) for unit in units]
        passes = self._passes(row)
        self.n_reads += 1
        offset, length = self._offset[row], self._length[row]
        if all(there):
            self.n_read_hits += 1
            self._hit(row)
            for unit in units:
                self._use(unit)
            self._ask(CACHE, READ, self._place(offset, length), length, lambda now: self._done(row, CACHE_PART, now))
            return
        # what is dirty comes from the cache, all else from the array in one piece
        n_dirty = sum(self._is_dirty(unit) for unit in units)
        left = 1 + (n_dirty > 0)

        def came(now: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._done(row, TRANSFER_PART, now)
                if not passes and not self._is_lost and self.volume.policy.keeps_reads:
                    self._promote(row, [unit for unit, is_there in zip(units, there, strict=True) if not is_there])

        self._ask(BEHIND, READ, offset, length, came)
        if n_dirty:
            piece = min(n_dirty * self._unit, length)
            self._ask(CACHE, READ, self._place(offset, piece), piece, came)
        self.n_bypassed += passes

    def _promote(self, row: int, units: list[int]) -> None:
        """Take what missed into the cache (rule J8)."""
        policy = self.volume.policy
        if policy.keeps == "popular":
            if self._random.random() < policy.promotes:
                self._migrate(units[0])
            return
        if policy.promotes < 1 and self._random.random() >= policy.promotes:
            return
        if self.dirty > 0.95 * self._n_units:
            return
        for unit in units:
            self._keep(unit)
        self.n_promoted += len(units)
        length = min(len(units) * self._unit, self._length[row] if self._length[row] >= self._unit else self._unit)
        place = self._log_place(length) if self._is_log else self._place(units[0] * self._unit, length)
        self._ask(CACHE, WRITE, place, length, lambda now: None)
        self._journal_soon()

    def _migrate(self, unit: int) -> None:
        """Copy a whole block from the array into the cache (dm-cache)."""
        if self._promoting >= self.volume.policy.in_flight or self.dirty >= self._most:
            return
        self._promoting += 1
        offset = unit * self._unit
        length = min(self._unit, self.volume.capacity_bytes - offset)

        def copied(_: int) -> None:
            self._promoting -= 1
            self._keep(unit)
            self.n_promoted += 1

        self._ask(
            BEHIND, READ, offset, length,
            lambda now: self._ask(CACHE, WRITE, self._place(offset, length), length, copied),
        )  # fmt: skip

    # ------------------------------------------------------------------ writes
    def _write(self, row: int) -> None:
        policy = self.volume.policy
        units = self._units(row)
        there = [self._is_there(unit, row) for unit in units]
        passes = self._passes(row)
        offset, length = self._offset[row], self._length[row]
        if self._around:
            for unit in units:
                self._lose(unit)
            self._ask(BEHIND, WRITE, offset, length, self._answered(row, TRANSFER_PART))
            return
        if not self._back:
            self._write_through(row, units, there, passes)
            return
        if passes and policy.bypasses_writes and not any(there):
            self.n_bypassed += 1
            self._ask(BEHIND, WRITE, offset, length, self._answered(row, TRANSFER_PART))
            return
        if not policy.fills_by_writes and not all(there):
            if self._random.random() < policy.promotes:
                self._migrate(units[0])
            self._ask(BEHIND, WRITE, offset, length, self._answered(row, TRANSFER_PART))
            return
        n_new = sum(not self._is_dirty(unit) for unit in units)
        if n_new and self.dirty + self._old_copies + n_new > self._most:
            if policy.when_full == "bypass":
                self.n_bypassed += 1
                for unit in units:
                    self._lose(unit)
                self._ask(BEHIND, WRITE, offset, length, self._answered(row, TRANSFER_PART))
            else:
                self._blocked.append(lambda: self._write_back(row, units))
            self._clean()
            return
        self._write_back(row, units)

    def _write_through(self, row: int, units: range, there: list[bool], passes: bool) -> None:
        """Write to the array and, where it is to be cached, to the cache, at the same time (rule J9)."""
        policy = self.volume.policy
        offset, length = self._offset[row], self._length[row]
        is_cached = all(there) if not policy.fills_by_writes else not passes
        if not is_cached:
            for unit, is_there in zip(units, there, strict=True):
                if is_there and passes:
                    self._lose(unit)
            self.n_bypassed += passes
            self._ask(BEHIND, WRITE, offset, length, self._answered(row, TRANSFER_PART))
            return
        then = self._answered(row, TRANSFER_PART)
        left = 2

        def written(now: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                then(now)

        for unit in units:
            self._keep(unit)
        place = self._log_place(length) if self._is_log else self._place(offset, length)
        self._ask(CACHE, WRITE, place, length, written)
        self._ask(BEHIND, WRITE, offset, length, written)
        self._journal_soon()

    def _write_back(self, row: int, units: range) -> None:
        """Write to the cache alone (rule J10)."""
        policy = self.volume.policy
        offset, length = self._offset[row], self._length[row]
        new = [unit for unit in units if not self._is_dirty(unit)]
        for unit in units:
            self._keep(unit)
        for unit in new:
            self._dirty[unit] = self._clock + self._random.random() * self._round
        if self.held is None:
            self._queue_of_dirty.extend(new)
            self._old_copies += (len(units) - len(new)) * self._is_log
        self.dirty += len(new)
        self.n_dirtied += len(new)
        self._hit(row)
        then = self._answered(row, CACHE_PART)
        n_more = policy.clean_writes if new else policy.dirty_writes
        place = self._log_place(length) if self._is_log else self._place(offset, length)
        self._ask(CACHE, WRITE, place, length, self._after_blocks(n_more, then))
        self._journal_soon()
        self._clean()

    def _after_blocks(self, n: int, then: Then) -> Then:
        """Return what is done after so many writes of metadata, one after the other."""
        if not n:
            return then

        def one_more(_: int) -> None:
            self._ask(CACHE, WRITE, self._journal_place(), _BLOCK_BYTES, self._after_blocks(n - 1, then))

        return one_more

    def _journal_place(self) -> int:
        whole = min(_JOURNAL_BYTES, self._n_units * self._unit)
        self._journal_at = (self._journal_at + _BLOCK_BYTES) % (whole - _BLOCK_BYTES + 1)
        return self._journal_at // _BLOCK_BYTES * _BLOCK_BYTES

    # ------------------------------------------------------------------ what makes writes safe
    def _journal_soon(self) -> None:
        """Have what nobody waits for in the journal within a tenth of a second (rule J11)."""
        if not self._is_log or self._is_due:
            return
        self._is_due = True

        def due(_: int) -> None:
            self._is_due = False
            self._gathered.append(lambda now: None)
            self._begin_commit()

        self._at(self.now + _JOURNAL_NS, due)

    def _commit(self, then: Then) -> None:
        """Make safe what has been answered: a commit of the cache and a flush of the array, at the same time."""
        left = 2 - self._is_lost
        self.n_syncs += 1

        def safe(now: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                then(now)

        if self._flush_ns:
            self._at(self.now + self._flush_ns, safe)
        else:
            self._ask(BEHIND, FLUSH, 0, 0, safe)
        if self._is_lost:
            return
        if not self.volume.policy.commit_writes:
            self._ask(CACHE, FLUSH, 0, 0, safe)
            return
        self._gathered.append(safe)
        self._begin_commit()

    def _begin_commit(self) -> None:
        if self._is_committing or not self._gathered:
            return
        served, self._gathered = self._gathered, []
        self._is_committing = True

        def written(n: int) -> Then:
            def one(now: int) -> None:
                if n > 1:
                    self._ask(CACHE, WRITE, self._journal_place(), _BLOCK_BYTES, written(n - 1), is_safe=True)
                    return
                self._is_committing = False
                for then in served:
                    then(now)
                self._begin_commit()

            return one

        n = max(self.volume.policy.commit_writes, 1)
        self._ask(CACHE, WRITE, self._journal_place(), _BLOCK_BYTES, written(n), is_safe=True)

    # ------------------------------------------------------------------ cleaning
    def _clean(self) -> None:
        """Write back what is dirty beyond the target, so many pieces at a time (rule J12)."""
        limit = self.volume.policy.in_flight
        # who waits for room has it made, however little else is cleaned
        above = self._target - min(len(self._blocked), limit)
        while self._cleaning < limit and self.dirty - self._cleaning > above:
            offset, n = self._next_dirty()
            if not n:
                return
            self._cleaning += 1
            self._clean_piece(offset, n)

    def _clean_piece(self, offset: int, n: int) -> None:
        length = min(n * self._unit, self.volume.capacity_bytes - offset)

        def cleaned(_: int) -> None:
            self._cleaning -= 1
            first = offset // self._unit
            for unit in range(first, first + n):
                self._dirty.pop(unit, None)
            self._old_copies -= self._old_copies * n / max(self.dirty, n)
            self.dirty -= n
            self.n_cleaned += n
            while self._blocked and self.dirty < self._most:
                self._blocked.popleft()()
            self._clean()

        def read(_: int) -> None:
            self._ask(BEHIND, WRITE, offset, length, cleaned)

        piece = min(length, self._n_units * self._unit)
        self._ask(CACHE, READ, self._place(offset, piece), piece, read)

    def _next_dirty(self) -> tuple[int, int]:
        """Return where the next piece to be cleaned lies, and its units."""
        if self._places is None:
            while self._queue_of_dirty:
                unit = self._queue_of_dirty.popleft()
                if unit in self._dirty:
                    return unit * self._unit, 1
            return 0, 0
        last = self.volume.capacity_bytes // self._unit - 1
        if not self.volume.policy.cleans_ahead:
            place = self._places[self._random.randrange(len(self._places))]
            return min(place // self._unit, last) * self._unit, 1
        most = min(_TOGETHER, self.dirty - self._cleaning - self._target)
        n = 1
        if not self._in_order:  # from anywhere, but a write as a whole
            self._sweep = self._random.random()
            n = max(int(min(self._units_of_a_write, most)), 1)
        first = self._at_quantile() // n * n
        # neighbors that are dirty, too, are written with it
        while n < most:
            before = self._sweep
            following = self._at_quantile()
            if following != first + n:
                self._sweep = before
                break
            n += 1
        return min(first, last) * self._unit, n if first + n <= last + 1 else 1

    def _at_quantile(self) -> int:
        """Return the dirty unit that the sweep comes to next."""
        places = self._places
        assert places is not None
        self._sweep = (self._sweep + 1 / max(self.dirty, 1.0)) % 1.0
        at = self._sweep * (len(places) - 1)
        low = int(at)
        high = min(low + 1, len(places) - 1)
        place = places[low] + (at - low) * (places[high] - places[low])
        return int(place) // self._unit
