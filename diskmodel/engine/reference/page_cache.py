"""Event adapter of a host with a page cache: hits, partial pages, writers that wait (rules P1 to P9)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.controller import HostRequest
from diskmodel.engine.reference.flusher import Flusher
from diskmodel.engine.reference.host import Fetch, Host, Waiting
from diskmodel.engine.reference.processors import Processors
from diskmodel.engine.scenario import Scenario
from diskmodel.host import Pages
from diskmodel.host.read_ahead import cut
from diskmodel.records import FLUSH, READ, WRITE


class CachingHost(Host):
    """A host that keeps what it reads, and writes later."""

    def __init__(
        self,
        clock: Clock,
        scenario: Scenario,
        processors: Processors,
        submit: Callable[[HostRequest], None],
        done: Callable[[HostRequest], None],
    ) -> None:
        super().__init__(clock, scenario, processors, submit, done)
        cache = self.tables.page_cache
        assert cache is not None
        self.pages = Pages(cache.memory_pages, cache.background_pages, cache.limit_pages)
        self.capacity = scenario.layout.capacity
        self.is_synchronous = cache.is_synchronous
        self.sync_every = cache.sync_every
        self.n_written = 0
        self.blocked: deque[tuple[HostRequest, int]] = deque()
        longest = max(self.longest // self.page, 1)
        self.flusher = Flusher(
            clock, cache, self.pages, self.device, longest, self._write_pages, self._admit, lambda: bool(self.blocked)
        )

        start = scenario.start
        self.pages.load(start.pages_clean.tolist(), start.pages_dirty.tolist())
        if self.pages.dirty:
            self.flusher.start()

    @property
    def n_dirty(self) -> int:
        return self.pages.n_dirty

    def _enter(self, request: HostRequest) -> None:
        if request.op == FLUSH:
            super()._enter(request)
            return
        request.is_hit = False
        if request.op == READ:
            self._read(request, self.clock.now)
        else:
            self.blocked.append((request, self.clock.now))
            self._admit()
            self.flusher.look()

    def _span(self, request: HostRequest) -> range:
        return range(request.sector // self.page, -(-(request.sector + request.n) // self.page))

    # ------------------------------------------------------------------ reads
    def _read(self, request: HostRequest, since_ns: int) -> None:
        """A read is answered once all of its pages are in memory (rule P2)."""
        start, end = request.sector, request.sector + request.n
        wanted = self.read_ahead.read(start, end)
        span = self._span(request)
        if self.is_page_by_page:
            self._one_by_one(request.row, list(span), lambda: self._answer(request, since_ns))
            return
        ahead = [page for first, last in wanted for page in range(first // self.page, -(-last // self.page))]
        self._ask(request.row, [*ahead, *(page for page in span if page not in ahead)])
        needed = [fetch for fetch in self.coming if fetch.first < end and start < fetch.end]
        if needed:
            self.waiting.append(Waiting(request, since_ns, needed))
            self.pages.use(span)
        else:
            self._answer(request, since_ns)

    def _answer(self, request: HostRequest, since_ns: int) -> None:
        request.is_hit = self.clock.now == since_ns
        request.cache_ns += self.clock.now - since_ns
        self.pages.use(self._span(request))
        self.done(request)

    def _ask(self, row: int, pages: list[int]) -> None:
        """Fetch those of `pages` that are neither in memory nor being fetched; adjacent ones together."""
        missing = [page for page in pages if not self.pages.holds(page) and self._coming(page) is None]
        joined: list[tuple[int, int]] = []
        for page in missing:
            first = page * self.page
            last = min(first + self.page, self.capacity)
            if joined and joined[-1][1] == first:
                joined[-1] = (joined[-1][0], last)
            else:
                joined.append((first, last))
        for first, last in joined:
            for piece in cut(first, last, self.longest):
                fetch = Fetch(*piece)
                self.coming.append(fetch)
                self._fetch(row, fetch.first, fetch.end, lambda f=fetch: self._arrived(f))  # type: ignore[misc]

    def _coming(self, page: int) -> Fetch | None:
        at = page * self.page
        return next((fetch for fetch in self.coming if fetch.first <= at < fetch.end), None)

    def _arrived(self, fetch: Fetch) -> None:
        self.pages.add(range(fetch.first // self.page, -(-fetch.end // self.page)))
        super()._arrived(fetch)

    def _one_by_one(self, row: int, pages: list[int], then: Callable[[], None]) -> None:
        """Each page that is not in memory is fetched when the one before it has come (rule P2)."""
        left = deque(pages)

        def next_page() -> None:
            while left and self.pages.holds(left[0]):
                left.popleft()
            if not left:
                then()
                return
            first = left[0] * self.page
            self._fetch(row, first, min(first + self.page, self.capacity), came)

        def came() -> None:
            self.pages.add((left.popleft(),))
            next_page()

        next_page()

    # ------------------------------------------------------------------ writes
    def _admit(self) -> None:
        """Writers enter in order of arrival while the limit lets them (rule P6)."""
        while self.blocked:
            request, since_ns = self.blocked[0]
            if not self.is_synchronous and not self.pages.may_write(self._span(request)):
                return
            self.blocked.popleft()
            self._write(request, since_ns)

    def _write(self, request: HostRequest, since_ns: int) -> None:
        """Pages that the write covers in part are read first (rule P3)."""
        span = self._span(request)
        last = span[-1]
        partial = []
        if request.sector % self.page:
            partial.append(span[0])
        if (
            (request.sector + request.n) % self.page
            and last not in partial
            and request.sector + request.n < self.capacity
        ):
            partial.append(last)
        self._one_by_one(request.row, partial, lambda: self._written(request, since_ns))

    def _written(self, request: HostRequest, since_ns: int) -> None:
        """The pages are dirty; the writer goes on, or waits for the array (rules P3, P7, P9)."""
        span = self._span(request)

        def answer() -> None:
            request.cache_ns += self.clock.now - since_ns
            self.done(request)

        def make_safe() -> None:
            request.cache_ns += self.clock.now - since_ns
            self._make_safe(request)

        if self.is_synchronous:
            first, end = span[0] * self.page, min((span[-1] + 1) * self.page, self.capacity)
            pieces = cut(first, end, self.longest)
            left = [len(pieces)]

            def piece_written() -> None:
                left[0] -= 1
                if not left[0]:
                    self.pages.add(span)
                    make_safe()

            for a, b in pieces:
                self._send(request.row, WRITE, a, b, piece_written)
            return
        self.pages.write(span, self.clock.now, request.row)
        self.n_written += 1
        if request.sync or (self.sync_every and self.n_written % self.sync_every == 0):
            self.flusher.sync(make_safe)
        else:
            answer()
        self.flusher.look()

    def flush(self, request: HostRequest) -> None:
        """What is dirty goes to the array first (rules P9 and Y11)."""
        since_ns = self.clock.now

        def on_the_array() -> None:
            request.sync_ns += self.clock.now - since_ns
            self._make_safe(request)

        self.flusher.sync(on_the_array)
        self.flusher.look()

    def _write_pages(self, row: int, run: list[int], then: Callable[[], None]) -> None:
        self._send(row, WRITE, run[0] * self.page, min((run[-1] + 1) * self.page, self.capacity), then)

    def _send(self, row: int, op: int, first: int, end: int, then: Callable[[], None]) -> None:
        below = HostRequest(row, op, first, end - first, False, self.clock.now)
        self.then[id(below)] = (below, then)
        self.below(below)
