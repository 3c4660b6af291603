"""Event adapter of the controller: processor, link, hits, write-through (rules K1 to K5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from diskmodel.controller import BlockCache
from diskmodel.engine.reference.clock import COMPLETE, Clock, Port
from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.processors import Processors
from diskmodel.engine.reference.raid import Raid
from diskmodel.engine.scenario import Scenario
from diskmodel.engine.steady.start import Start
from diskmodel.records import FLUSH, READ, WRITE, Sync
from diskmodel.units import NS_PER_S


@dataclass(slots=True)
class HostRequest:
    """A host request in the controller, and where its time went."""

    row: int
    op: int
    sector: int
    n: int
    is_hit: bool
    issue_ns: int
    link_ns: int = 0
    cache_ns: int = 0
    queue_ns: int = 0
    overhead_ns: int = 0
    seek_ns: int = 0
    rotation_ns: int = 0
    transfer_ns: int = 0
    parity_ns: int = 0
    sync: Sync = Sync.NONE
    sync_ns: int = 0
    #: A write of a file through the page cache (rule Q10).
    is_of_file: bool = False


class Volume(Protocol):
    """What stands before the disks: the layout itself, or what a pool does with requests before it."""

    @property
    def l2arc_reads(self) -> tuple[int, int]:
        """Records that were looked for on cache devices: those found, and the others (rule X27)."""

    def access(
        self,
        op: int,
        sector: int,
        n: int,
        done: Callable[[Access, Command], None],
        is_fua: bool = False,
        row: int = 0,
        *,
        is_of_file: bool = False,
    ) -> None:
        """Start an access of `n` sectors."""

    def flush(self, done: Callable[[], None]) -> None:
        """Make all writes before this one safe."""

    def begin_with(self, cache: BlockCache | None, start: Start) -> None:
        """Fill the cache in front of it with what it holds when the run begins."""

    def hit(self, sector: int, n: int) -> None:
        """A cache in front of it serves a read."""

    def feed_later(self) -> None:
        """Something has come into a cache in front of it."""


class Controller:
    """Between the host and the array; `processors` are those of the host, which a pool needs, too (rule X17)."""

    def __init__(
        self,
        clock: Clock,
        scenario: Scenario,
        raid: Raid,
        array: Volume,
        processors: Processors,
        done: Callable[[HostRequest], None],
    ) -> None:
        self.clock = clock
        self.command_ns = scenario.controller.command_ns
        self.gap_ns = scenario.controller.gap_ns
        self.hit_ns = scenario.controller.hit_ns
        self.link_bytes_per_s = scenario.link_bytes_per_s
        self.sector_bytes = scenario.drive.sector_bytes
        self.device = scenario.n_devices
        self.raid = raid
        self.array = array
        self.processors = processors
        self.volume_depth = scenario.controller.volume_depth
        self.answer = done
        self.done = self._answer if self.volume_depth is None else self._finished
        self.n_inside = 0
        #: Requests that wait until one that is inside is done, each with the time since when (rule K14).
        self.outside: deque[tuple[HostRequest, int]] = deque()
        self.processor_free_ns = 0
        self.link_free_ns = 0
        self.cache_full_ns: int | None = None
        self._equip(scenario)

    def _equip(self, scenario: Scenario) -> None:
        """Give it what only some controllers have: caches of their own."""

    @property
    def n_dirty(self) -> int:
        """Blocks in the write-back cache (rule Z7)."""
        return 0

    def submit(self, request: HostRequest) -> None:
        """A request comes in, now, and waits while as many are inside as a volume may have (rule K14)."""
        self._said(Port.HOST_TO_CONTROLLER, request)
        if self.n_inside == self.volume_depth:
            self.outside.append((request, self.clock.now))
            return
        self.n_inside += 1
        self._begin(request)

    def _finished(self, request: HostRequest) -> None:
        """The one that has waited longest takes the place of a request that is done (rule K14)."""
        if self.outside:
            following, since_ns = self.outside.popleft()
            following.queue_ns += self.clock.now - since_ns
            self._begin(following)
        else:
            self.n_inside -= 1
        self._answer(request)

    def _answer(self, request: HostRequest) -> None:
        self._said(Port.CONTROLLER_TO_HOST, request)
        self.answer(request)

    def _said(self, port: Port, request: HostRequest) -> None:
        self.clock.said(port, request.op, request.sector, request.n)

    def _begin(self, request: HostRequest) -> None:
        """First the processor, then the data of a write over the link (rules K1, K17)."""
        if not self.command_ns and not self.gap_ns:
            self._processed(request)
            return
        processed_ns = max(self.clock.now, self.processor_free_ns) + self.command_ns
        self.processor_free_ns = processed_ns + self.gap_ns
        request.link_ns += processed_ns - self.clock.now
        self._later(processed_ns, request, lambda: self._processed(request))

    def _processed(self, request: HostRequest) -> None:
        if request.op == WRITE and self.link_bytes_per_s:
            self._over_link(request, lambda: self._access(request))
        else:
            self._access(request)

    def _access(self, request: HostRequest) -> None:
        """A hit takes its time; anything else goes to the disks (rules K2, K13)."""
        if request.op == FLUSH:
            self._flush(request)
            return
        if request.op == READ and request.is_hit:
            request.cache_ns += self.hit_ns
            self._later(self.clock.now + self.hit_ns, request, lambda: self._answered(request))
            return
        request.is_hit = False

        def joined(access: Access, last: Command) -> None:
            self._said(Port.VOLUME_TO_CONTROLLER, request)
            request.parity_ns += access.parity_ns
            request.overhead_ns += last.overhead_ns
            request.seek_ns += last.seek_ns
            request.rotation_ns += last.rotation_ns
            request.transfer_ns += last.transfer_ns
            service = last.overhead_ns + last.seek_ns + last.rotation_ns + last.transfer_ns
            request.cache_ns += access.cache_ns
            request.queue_ns += self.clock.now - access.asked_ns - access.parity_ns - access.cache_ns - service
            self._answered(request)

        is_fua = request.sync >= Sync.DSYNC
        is_of_file = request.is_of_file
        self._said(Port.CONTROLLER_TO_VOLUME, request)
        self.array.access(
            request.op, request.sector, request.n, joined, is_fua=is_fua, row=request.row, is_of_file=is_of_file
        )

    def _flush(self, request: HostRequest) -> None:
        """Flush the volume for a request, which is done then."""

        def flushed() -> None:
            self._said(Port.VOLUME_TO_CONTROLLER, request)
            self.done(request)

        self._said(Port.CONTROLLER_TO_VOLUME, request)
        self.array.flush(flushed)

    def _answered(self, request: HostRequest) -> None:
        """The data of a read goes over the link; then the request is done (rule K3)."""
        if request.op == READ and self.link_bytes_per_s:
            self._over_link(request, lambda: self.done(request))
        else:
            self.done(request)

    def _over_link(self, request: HostRequest, then: Callable[[], None]) -> None:
        """One transfer after the other, in the order in which they are asked for (rule K4)."""
        n_bytes = request.n * self.sector_bytes
        self.link_free_ns = max(self.clock.now, self.link_free_ns) + n_bytes * NS_PER_S // self.link_bytes_per_s
        request.link_ns += self.link_free_ns - self.clock.now
        self._later(self.link_free_ns, request, then)

    def _later(self, time_ns: int, request: HostRequest, action: Callable[[], None]) -> None:
        self.clock.at(time_ns, COMPLETE, self.device, request.row, action)
