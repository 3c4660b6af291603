"""Event adapter of a controller with real caches: hits, read-ahead, write-back (rules K6 to K16)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from diskmodel.controller import POLICIES, BlockCache, DirtyBlocks
from diskmodel.engine.reference.clock import Port
from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.controller import Controller, HostRequest
from diskmodel.engine.scenario import Scenario
from diskmodel.records import FLUSH, READ, WRITE

#: Sequential readers that are distinguished.
N_READERS = 16


@dataclass
class Waiter:
    """A read that waits for pieces that are being read ahead."""

    request: HostRequest
    since_ns: int
    n_pieces: int


@dataclass
class Prefetch:
    """Sectors [sector, end) that are being read ahead, and who waits for them."""

    sector: int
    end: int
    waiting: list[Waiter] = field(default_factory=list)


@dataclass
class Reader:
    """A sequential reader: where it stands, and the end of what was asked for on its behalf."""

    end: int
    asked: int


class CachedController(Controller):
    """A controller whose hit ratio is an outcome."""

    def _equip(self, scenario: Scenario) -> None:
        tables = scenario.caches
        assert tables is not None
        self.block = tables.block_sectors
        self.cache: BlockCache | None = POLICIES[tables.policy](tables.read_blocks) if tables.read_blocks else None
        self.dirty: DirtyBlocks | None = None
        if tables.dirty_lines:
            self.dirty = DirtyBlocks(
                tables.dirty_lines, tables.high_lines, tables.low_lines, tables.lanes, tables.line_blocks
            )
        start = scenario.start
        self.array.begin_with(self.cache, start)
        if self.dirty is not None:
            self.dirty.load(start.dirty.tolist())
        self.is_protected = tables.is_protected
        #: Flushes that wait until nothing is dirty (rule K15).
        self.emptying: list[HostRequest] = []
        self.blocked: deque[tuple[HostRequest, int]] = deque()
        self.ahead = tables.read_ahead_sectors
        self.piece = tables.read_ahead_piece_sectors
        self.readers: deque[Reader] = deque(maxlen=N_READERS)
        self.prefetches: list[Prefetch] = []

    def _access(self, request: HostRequest) -> None:
        if request.op == FLUSH and self.dirty is not None and not self.is_protected:
            self.emptying.append(request)
            self._emptied()
            self._destage()
            return
        if request.op == FLUSH and self.dirty is not None:
            # the battery protects what is in the cache (rule K13)
            self._later(self.clock.now + self.hit_ns, request, lambda: self.done(request))
            return
        if request.op == WRITE and self.dirty is not None:
            self.blocked.append((request, self.clock.now))
            self._admit_writes()
            return
        if request.op == READ and self._holds(request.sector, request.n):
            self._read_ahead(request)
            self.array.hit(request.sector, request.n)
            self._hit(request)
            return
        if request.op == READ:
            is_awaited = self._await_pieces(request)
            self._read_ahead(request)
            if is_awaited:
                return
        super()._access(request)

    @property
    def n_dirty(self) -> int:
        return 0 if self.dirty is None else self.dirty.n_blocks

    @staticmethod
    def _end(request: HostRequest) -> int:
        return request.sector + request.n

    def _blocks(self, sector: int, n: int) -> range:
        return range(sector // self.block, -(-(sector + n) // self.block))

    def _hit(self, request: HostRequest) -> None:
        """Served by the cache, after the time of a hit (rule K2)."""
        request.is_hit = True
        request.cache_ns += self.hit_ns
        self._later(self.clock.now + self.hit_ns, request, lambda: super(CachedController, self)._answered(request))

    def _holds(self, sector: int, n: int) -> bool:
        """Whether every block of a range is in the cache or dirty (rule K6)."""
        blocks = self._blocks(sector, n)
        is_held = all(map(self._has, blocks))
        if is_held and self.cache is not None:
            for block in blocks:
                if block in self.cache:
                    self.cache.touch(block)
        return is_held

    def _has(self, block: int) -> bool:
        return (self.dirty is not None and block in self.dirty) or (self.cache is not None and block in self.cache)

    def _answered(self, request: HostRequest) -> None:
        """Data that came from (or went to) the disks is in the cache now (rule K6)."""
        self._insert(request.sector, request.n, is_written=request.op == WRITE)
        super()._answered(request)

    def _insert(self, sector: int, n: int, *, is_written: bool = False) -> None:
        if self.cache is not None:
            for block in self._blocks(sector, n):
                (self.cache.write if is_written else self.cache.insert)(block)
            self.array.feed_later()

    # ------------------------------------------------------------------ write-back
    def _admit_writes(self) -> None:
        """Writes enter the cache in order of arrival while there is room (rule K7)."""
        assert self.dirty is not None
        while self.blocked and not self.emptying:
            request, since_ns = self.blocked[0]
            blocks = self._blocks(request.sector, request.n)
            if not self.dirty.fits(blocks.start, blocks.stop):
                # larger than the cache itself: straight to the disks
                self.blocked.popleft()
                request.cache_ns += self.clock.now - since_ns
                super()._access(request)
                continue
            if not self.dirty.accept(blocks.start, blocks.stop):
                if self.cache_full_ns is None:
                    self.cache_full_ns = self.clock.now
                break
            self.blocked.popleft()
            request.cache_ns += self.clock.now - since_ns
            self._insert(request.sector, request.n, is_written=True)
            self._hit(request)
        self._destage()

    def _destage(self) -> None:
        """Keep as many writes to the disks in flight as allowed (rule K9)."""
        assert self.dirty is not None
        while (run := self.dirty.next_run(is_pressed=bool(self.blocked or self.emptying))) is not None:
            first, end = run
            last = min(end * self.block, self.raid.tables.capacity)
            self.clock.said(Port.CONTROLLER_TO_VOLUME, WRITE, first * self.block, last - first * self.block)
            self.raid.access(
                WRITE,
                first * self.block,
                last - first * self.block,
                lambda access, command, r=run: self._destaged(r),  # type: ignore[misc]
            )

    def _destaged(self, run: tuple[int, int]) -> None:
        assert self.dirty is not None
        first, end = run
        self.clock.said(Port.VOLUME_TO_CONTROLLER, WRITE, first * self.block, (end - first) * self.block)
        self.dirty.written(first, end)
        self._emptied()
        self._admit_writes()

    def _emptied(self) -> None:
        """Flush the disks for those who waited until nothing is dirty (rule K15)."""
        if self.n_dirty:
            return
        served, self.emptying = self.emptying, []
        for request in served:
            self._flush(request)

    # ------------------------------------------------------------------ read-ahead
    def _read_ahead(self, request: HostRequest) -> None:
        """A read that goes on where one of the last readers ended fetches what follows it (rule K11)."""
        if not self.ahead or request.op != READ:
            return
        end = self._end(request)
        reader = next((reader for reader in self.readers if reader.end == request.sector), None)
        if reader is None:
            self.readers.append(Reader(end, end))
            return
        reader.end = end
        start, capacity = max(reader.asked, end), self.raid.tables.capacity
        limit = min(end + self.ahead, capacity)
        while start < limit:
            stop = min((start // self.piece + 1) * self.piece, capacity)
            if stop > limit:
                break
            if not any(p.sector <= start and stop <= p.end for p in self.prefetches) and not self._holds(
                start, stop - start
            ):
                self._fetch(start, stop)
            start = stop
        reader.asked = start

    def _fetch(self, start: int, stop: int) -> None:
        """Read sectors [start, stop) ahead."""
        prefetch = Prefetch(start, stop)
        self.prefetches.append(prefetch)

        def arrived(access: Access, command: Command) -> None:
            self.clock.said(Port.VOLUME_TO_CONTROLLER, READ, start, stop - start)
            self.prefetches.remove(prefetch)
            self._insert(start, stop - start)
            for waiter in prefetch.waiting:
                waiter.n_pieces -= 1
                if waiter.n_pieces == 0:
                    waiter.request.cache_ns += self.clock.now - waiter.since_ns
                    self._hit(waiter.request)

        self.clock.said(Port.CONTROLLER_TO_VOLUME, READ, start, stop - start)
        self.raid.access(READ, start, stop - start, arrived)

    def _await_pieces(self, request: HostRequest) -> bool:
        """Let a read wait for what is being read ahead of it, if all else of it is held; whether it does (rule K12)."""
        pieces = self._pieces_awaited(request)
        waiter = Waiter(request, self.clock.now, len(pieces))
        for piece in pieces:
            piece.waiting.append(waiter)
        return bool(pieces)

    def _pieces_awaited(self, request: HostRequest) -> list[Prefetch]:
        """Prefetches that a read waits for if all else of it is held; none if something is missing (rule K12)."""
        pieces: list[Prefetch] = []
        at, end = request.sector, self._end(request)
        while at < end:
            prefetch = next((p for p in self.prefetches if p.sector <= at < p.end), None)
            if prefetch is not None:
                pieces.append(prefetch)
                at = prefetch.end
            elif self._has(at // self.block):
                at = (at // self.block + 1) * self.block
            else:
                return []
        return pieces
