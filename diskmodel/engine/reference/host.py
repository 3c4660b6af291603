"""Event adapter of the host: processor time per request, buffered reads (rules H1 to H5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from diskmodel.engine.reference.clock import ARRIVE, COMPLETE, LAST, Clock
from diskmodel.engine.reference.controller import HostRequest
from diskmodel.engine.reference.journal import Journal
from diskmodel.engine.reference.processors import Processors
from diskmodel.engine.scenario import Scenario
from diskmodel.host import Pauses, ReadAhead
from diskmodel.host.read_ahead import cut
from diskmodel.records import FLUSH, READ, WRITE, Requests, Sync


@dataclass
class Fetch:
    """Sectors [first, end) being fetched into memory."""

    first: int
    end: int


@dataclass
class Waiting:
    """A read that waits for fetches."""

    request: HostRequest
    since_ns: int
    fetches: list[Fetch] = field(default_factory=list)


class Host:
    """Between the clients and the controller."""

    @property
    def n_dirty(self) -> int:
        """Return the number of pages that are dirty or in flight to the array (rule Z7)."""
        return 0

    def __init__(
        self,
        clock: Clock,
        scenario: Scenario,
        processors: Processors,
        submit: Callable[[HostRequest], None],
        done: Callable[[HostRequest], None],
    ) -> None:
        self.tables = tables = scenario.host_tables
        self.clock = clock
        self.submission_ns = tables.submission_ns
        self.sequential_ns = tables.submission_sequential_ns
        self.goes_on_at: tuple[int, int] | None = None
        drawn = scenario.pauses_ns.tolist()
        self.processor_pauses = Pauses(drawn) if drawn else None
        self.answer_pauses = Pauses(drawn) if drawn else None
        self.is_buffered = tables.is_buffered
        self.longest = tables.largest_request_sectors
        self.page = tables.page_sectors
        self.read_ahead = ReadAhead(tables.read_ahead_sectors, self.page, scenario.layout.capacity)
        self.is_page_by_page = not tables.read_ahead_sectors
        self.device = scenario.n_devices + 2
        self.takes_flushes = scenario.takes_flushes
        #: Whether drives pass their cache themselves; else a flush ends writes of `dsync`, of several programs at once.
        self.has_fua = scenario.drive.has_fua
        self.below = submit
        self.done = done
        self.lock_ns = tables.lock_ns
        self.processors = processors
        self.lock_free_ns = 0
        self.coming: list[Fetch] = []
        self.waiting: list[Waiting] = []
        self.then: dict[int, tuple[HostRequest, Callable[[], None]]] = {}
        self.journal: Journal | None = None
        self.stream_of: Callable[[int], int] = lambda row: 0

    def submit(self, request: HostRequest) -> None:
        """A request comes in, now: first the processor that is free first (rules H1, H4)."""
        work = self._work_ns(request)
        if not work and self.processor_pauses is None:
            # what takes no time does not wait for a processor, whoever has it
            self._lock(request)
            return
        begin = max(self.clock.now, self.processors.first_free_ns)
        free = begin + work
        if self.processor_pauses is not None:
            free = self.processor_pauses.worked(self.processor_pauses.awake(begin), work)
        if free == self.clock.now:
            self._lock(request)
            return
        request.queue_ns += free - work - self.clock.now
        request.overhead_ns += work
        self.processors.take_until(free)
        self.clock.at(free, COMPLETE, self.device, request.row, lambda: self._lock(request))

    def _work_ns(self, request: HostRequest) -> int:
        """Processor time of a request; a flush costs as a write, or half in its call (rules H1, Y3)."""
        if request.op == FLUSH:
            return self.submission_ns[WRITE] >> (request.sync == Sync.DSYNC)
        is_next = self.goes_on_at == (request.op, request.sector)
        self.goes_on_at = (request.op, request.sector + request.n)
        return (self.sequential_ns if is_next else self.submission_ns)[request.op]

    def _lock(self, request: HostRequest) -> None:
        """Take what only one request can hold, one after the other (rule H5)."""
        work = self.lock_ns[min(request.op, WRITE)]
        free = max(self.clock.now, self.lock_free_ns) + work
        if not work:
            self._enter(request)
            return
        request.queue_ns += free - work - self.clock.now
        request.overhead_ns += work
        self.lock_free_ns = free
        self.clock.at(free, COMPLETE, self.device, request.row, lambda: self._enter(request))

    def completed(self, request: HostRequest) -> None:
        """The controller has answered, now; a processor that stands still notices it later (rule H4)."""
        noticed = self.clock.now if self.answer_pauses is None else self.answer_pauses.awake(self.clock.now)
        if noticed == self.clock.now:
            self._noticed(request)
            return
        request.queue_ns += noticed - self.clock.now
        self.clock.at(noticed, COMPLETE, self.device, request.row, lambda: self._noticed(request))

    def _noticed(self, request: HostRequest) -> None:
        asked = self.then.pop(id(request), None)
        if asked is not None:
            asked[1]()
        elif request.sync:
            self._make_safe(request)
        else:
            self.done(request)

    def use_file_system(self, scenario: Scenario, requests: Requests) -> None:
        """Let syncs commit the journal of the file system where streams have one (rule Y7)."""
        if not any(rule.journal_bytes for rule in requests.streams):
            return
        self.stream_of = requests.stream.tolist().__getitem__
        self.journal = Journal(
            self.clock,
            requests.streams,
            scenario.drive.sector_bytes,
            scenario.n_devices,
            max(self.submission_ns),
            self.processors,
            self._write_journal,
            self._flush_journal if self.takes_flushes else None,
        )

    def _write_journal(
        self, row: int, first: int, n: int, is_fua: bool, is_throttled: bool, then: Callable[[], None]
    ) -> None:
        sync = Sync.DSYNC if is_fua else Sync.NONE
        below = HostRequest(row, WRITE, first, n, False, self.clock.now, sync=sync, is_of_file=is_throttled)
        self.then[id(below)] = (below, then)
        self.below(below)

    def _flush_journal(self, row: int, then: Callable[[], None]) -> None:
        flush = HostRequest(row, FLUSH, 0, 0, False, self.clock.now)
        self.then[id(flush)] = (flush, then)
        self.below(flush)

    def flush(self, request: HostRequest) -> None:
        """A stream asks for a flush alone, now (rule Y11)."""
        self._make_safe(request)

    def _make_safe(self, request: HostRequest) -> None:
        """A write is done when a commit or a flush after it is, where it needs one (rules Y2, Y3, Y7)."""
        since_ns = self.clock.now

        def flushed() -> None:
            request.sync_ns += self.clock.now - since_ns
            self.done(request)

        if self.journal is not None and request.sync:
            stream = self.stream_of(request.row)
            has_journal = bool(self.journal.rules[stream].journal_bytes)
            if has_journal and self.journal.sync(stream, request.row, request.issue_ns, flushed):
                return
        # a call of its own takes the processor, also where there is nothing to flush (rule Y11)
        is_alone = request.op == FLUSH
        if not (self.takes_flushes or is_alone) or request.sync == Sync.FILE_DSYNC:
            self.done(request)
            return
        flush = HostRequest(request.row, FLUSH, 0, 0, False, since_ns)
        self.then[id(flush)] = (flush, flushed)
        flush.sync = request.sync
        if request.sync == Sync.DSYNC and not self.has_fua:
            # its program wakes up with the others that one flush served: who goes on with a next request comes first
            self.clock.at(since_ns, ARRIVE, 0, LAST, lambda: self.submit(flush))
        else:
            self.submit(flush)

    def _enter(self, request: HostRequest) -> None:
        """Direct I/O goes down as it is; a buffered read is answered once its pages are in memory (rule H2)."""
        if request.op == FLUSH and not self.takes_flushes:
            self._noticed(request)
            return
        if request.op != READ or not self.is_buffered:
            self.below(request)
            return
        request.is_hit = False
        start, end = request.sector, request.sector + request.n
        if self.is_page_by_page:
            self._page_by_page(request, self.read_ahead.read(start, end), self.clock.now)
            return
        for first, last in self.read_ahead.read(start, end):
            for piece in cut(first, last, self.longest):
                fetch = Fetch(*piece)
                self.coming.append(fetch)
                self._fetch(request.row, fetch.first, fetch.end, lambda f=fetch: self._arrived(f))  # type: ignore[misc]
        needed = [fetch for fetch in self.coming if fetch.first < end and start < fetch.end]
        if needed:
            self.waiting.append(Waiting(request, self.clock.now, needed))
        else:
            request.is_hit = True
            self.done(request)

    def _page_by_page(self, request: HostRequest, wanted: list[tuple[int, int]], since_ns: int) -> None:
        """Without read-ahead each page is fetched when the one before it has come (rule H3)."""
        pages = [page for first, last in wanted for page in cut(first, last, self.page)]

        def next_page() -> None:
            if not pages:
                request.cache_ns += self.clock.now - since_ns
                self.done(request)
                return
            self._fetch(request.row, *pages.pop(0), next_page)

        next_page()

    def _fetch(self, row: int, first: int, end: int, then: Callable[[], None]) -> None:
        below = HostRequest(row, READ, first, end - first, False, self.clock.now)
        # the request is kept, so that its identity stays its own
        self.then[id(below)] = (below, then)
        self.below(below)

    def _arrived(self, fetch: Fetch) -> None:
        self.coming.remove(fetch)
        for waiting in [w for w in self.waiting if fetch in w.fetches]:
            waiting.fetches.remove(fetch)
            if not waiting.fetches:
                self.waiting.remove(waiting)
                waiting.request.cache_ns += self.clock.now - waiting.since_ns
                self.done(waiting.request)
