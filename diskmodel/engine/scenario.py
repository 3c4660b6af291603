"""A scenario: an array resolved into whole numbers. Both engines read this and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskmodel.array import Array
from diskmodel.controller import CacheTables, Controller
from diskmodel.drive import DriveTables
from diskmodel.engine.auxiliary import Auxiliary, cache_of, log_of, special_of
from diskmodel.engine.steady.start import EMPTY, Start
from diskmodel.engine.turns import first_draw, spindles
from diskmodel.errors import CoverageError, DescriptionError, Fault, StarvationError
from diskmodel.host import Host, HostTables, draw_pauses
from diskmodel.layout import VolumeTables
from diskmodel.layout.md import MAX_STARVING_BYTES, MAX_STARVING_STEPS
from diskmodel.loading import dataclass
from diskmodel.queue import Queue
from diskmodel.records import Int64, Op, Requests
from diskmodel.units import MAX_LENGTH, MAX_NS, pretty_bytes

#: Times at which levels are recorded: as many as a test of growth over quarters of a run needs, and few enough that
#: adding up the buffers of a hundred disks costs nothing beside the run.
LEVEL_SAMPLES = 256


@dataclass(frozen=True, eq=False)
class Scenario:
    """What an engine needs to know of an array.

    Attributes
    ----------
    drive : DriveTables
    layout : VolumeTables
    queue : Queue
        Scheduler above each drive; `depth` commands are handed to the drive at once.
    drive_queue : Queue
        The drive's own scheduler.
    depth : int
    controller : Controller
    host : Host
    link_bytes_per_s : int
        0: the link is not modeled.
    revolution_ns, phase_ns : int64, shape (n_devices,)
        How each spindle turns; 0 for other drives, except that `phase_ns` is the state from which a virtual disk draws
        its wake-up times (rule V2) and a flash drive its delays (rule F19).
    first_draw : int
        Where draws of accesses to the media begin (rule M9); 0 for drives without.
    pauses_ns : int64, shape (n, 2)
        Gaps and lengths of the pauses of the host's processor (rule H4).
    start : Start
        What caches and buffers hold at time 0 (rule Z1).
    sample_every : int
        Levels are recorded after every so many completions (rule Z7); 0: never.
    log, special, l2arc : Auxiliary, optional
        Drives of a log or a journal, of a special vdev, and of the cache devices of a pool; None: it has none.
    """

    drive: DriveTables
    layout: VolumeTables
    queue: Queue
    drive_queue: Queue
    depth: int
    controller: Controller
    host: Host
    link_bytes_per_s: int
    revolution_ns: Int64
    phase_ns: Int64
    pauses_ns: Int64
    first_draw: int = 0
    start: Start = EMPTY
    sample_every: int = 0
    log: Auxiliary | None = None
    special: Auxiliary | None = None
    l2arc: Auxiliary | None = None

    @property
    def caches(self) -> CacheTables | None:
        """Tables of the controller's real caches; None without any."""
        if not self.controller.has_real_cache:
            return None
        tables = CacheTables.of(self.controller, self.layout, self.drive.sector_bytes, self.depth)
        return tables.beside(self.start.cached_apart, self.start.dirty_apart)

    @property
    def host_tables(self) -> HostTables:
        """Tables of the host, beside the dirty pages that stay."""
        return HostTables.of(self.host, self.drive.sector_bytes, self.pauses_ns).beside(self.start.pages_apart)

    @property
    def has_drawn_hits(self) -> bool:
        """Whether hits of the controller's cache are drawn."""
        cache = self.controller.read_cache
        return cache is not None and bool(cache.hit_ratio)

    @property
    def has_levels(self) -> bool:
        """Whether anything waits to be written: in the controller, in drives' buffers, or in the host's memory."""
        has_cache = self.controller.write_cache is not None or self.host.page_cache is not None
        has_log = self.drive.media_cache is not None
        return has_cache or has_log or self.drive.buffer_sectors > 0

    @property
    def takes_flushes(self) -> bool:
        """Whether a host that wants its writes safe has to flush anything (rule Y2)."""
        return self.layout.takes_flushes(does_below=self.controller.write_cache is not None or self.drive.takes_flushes)

    @property
    def own(self) -> dict[str, Auxiliary]:
        """Drives beside the disks by what they are: "log" (of a pool, or a journal of Linux md), "special", "cache"."""
        places = {"log": self.log, "special": self.special, "cache": self.l2arc}
        return {name: drives for name, drives in places.items() if drives is not None}

    @property
    def n_devices(self) -> int:
        """Disks, spares included."""
        return self.layout.n_disks + self.layout.n_spares


def resolve(array: Array, seed: int) -> Scenario:
    """`array` in whole numbers; `seed` draws the spindles' angles where they are random.

    Raises
    ------
    DescriptionError
        When parts of the array do not fit each other, or the seed is below 0.
    """
    if seed < 0:
        raise DescriptionError(Fault("seed", seed, "must not be negative", "use 0 or more"))
    tables = array.drive_tables()
    layout = array.tables()
    if layout.has_new_disk and layout.n_spares < 1:
        raise DescriptionError(
            Fault("layout.spares", layout.n_spares, "a rebuild needs a spare to write to", "add one")
        )
    n = layout.n_disks + layout.n_spares
    revolution, phase = spindles(array, tables, n, seed)
    queue = array.member_queue
    depth = tables.queue_depth if queue.drive_depth is None else min(queue.drive_depth, tables.queue_depth)
    link = array.controller.link_bytes_per_s
    return Scenario(
        drive=tables,
        layout=layout,
        queue=queue,
        drive_queue=tables.own_queue(),
        depth=depth,
        controller=array.front_controller,
        host=_host(array.host, tables, layout),
        link_bytes_per_s=0 if link is None else max(round(link), 1),
        revolution_ns=revolution,
        phase_ns=phase,
        pauses_ns=draw_pauses(array.host, seed),
        first_draw=first_draw(tables, seed),
        log=log_of(array, n, seed),
        special=special_of(array, n, seed),
        l2arc=cache_of(array, n, seed),
    )


def _host(host: Host, tables: DriveTables, layout: VolumeTables) -> Host:
    """Return the host with what it does on such an array where nothing else is said."""
    cache = host.page_cache
    if cache is None or cache.writeback_depth is not None:
        return host
    depth = cache.depth_on(layout.n_disks, layout.copies, is_rotational=tables.has_arms)
    return host.model_copy(update={"page_cache": cache.model_copy(update={"writeback_depth": depth})})


def refuse_before(scenario: Scenario, requests: Requests, what: str) -> None:
    """Refuse what stands before a drive whose own engine has no place for it.

    Parameters
    ----------
    scenario : Scenario
    requests : Requests
    what : str
        The drive: "a pool of a cluster".

    Raises
    ------
    CoverageError
        When there is something.
    """
    streams = requests.streams
    refused = [
        (scenario.n_devices > 1, "layout", 'several of them are no array; use level = "jbod", disks = 1'),
        (scenario.controller.has_real_cache or scenario.has_drawn_hits, "controller", "remove its caches"),
        (scenario.host.page_cache is not None, "host.page_cache", "remove it"),
        (any(rule.log_bytes for rule in streams), "a log of commits", "ask about durable writes: --sync dsync"),
        (any(rule.journal_bytes for rule in streams), "a file system's journal", "use sync = dsync"),
    ]
    for is_there, field, fix in refused:
        if is_there:
            raise CoverageError(Fault(field, None, f"is not modeled before {what}", fix))


def too_long() -> DescriptionError:
    """The error of a run beyond `MAX_NS`, or whose responses leave 64 bits."""
    return DescriptionError(
        Fault(
            "run",
            None,
            f"is longer than {MAX_NS} ns (417 days) of simulated time, or the responses of a disk add up to more than "
            "2^63 ns",
            "check the units of times and rates, and the number of clients",
        )
    )


def starved() -> StarvationError:
    """The error of a run whose requests wait for the rebuild without an end (rule R6)."""
    return StarvationError(
        Fault(
            "layout.rebuild",
            None,
            f"leaves no time for requests: none completes while {pretty_bytes(MAX_STARVING_BYTES)} are rebuilt, "
            f"or in {MAX_STARVING_STEPS >> 20} million steps",
            "lower rebuild.speed_max or rebuild.speed_min, or use another scheduler",
        )
    )


def endless(error: OverflowError) -> DescriptionError:
    """The error of a run that the kernel has ended, by what it says."""
    return starved() if "rebuilt" in str(error) else too_long()


def not_in_a_pool(field: str, what: str) -> CoverageError:
    """The error of a load that is not modeled on pools of OpenZFS."""
    fix = "ask about requests at random places or in order: what a pool reads ahead of others is not simulated"
    return CoverageError(Fault(field, what, "are not modeled for pools of OpenZFS", fix))


def sampled(scenario: Scenario, n: int) -> Scenario:
    """Return the scenario with levels recorded at regular places of a run of `n` requests."""
    return replace(scenario, sample_every=max(n // LEVEL_SAMPLES, 1))


def check_requests(scenario: Scenario, requests: Requests) -> None:
    """Every request lies on the array.

    Raises
    ------
    DescriptionError
        Naming the first request that does not.
    """
    size = scenario.layout.capacity * scenario.drive.sector_bytes
    if len(requests) and int(requests.length.max()) > MAX_LENGTH:
        raise DescriptionError(
            Fault("requests", int(requests.length.max()), f"a request is longer than {MAX_LENGTH} bytes", "divide it")
        )
    end = requests.offset + requests.length
    # flushes have no length (rule Y11)
    is_short = (requests.length <= 0) & (requests.op != Op.FLUSH)
    bad = (requests.offset < 0) | is_short | (end > size)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        where = f"[{requests.offset[row]}, {end[row]})"
        raise DescriptionError(
            Fault(
                f"requests[{row}]", where, f"is not within the array's {size} bytes", "map the addresses onto the array"
            )
        )
