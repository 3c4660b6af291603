"""Description of a hard disk, and its tables for the engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskmodel.description import Reader
from diskmodel.drive.assumed_order import AssumedOrder
from diskmodel.drive.hdd.deviations import DEVIATIONS
from diskmodel.drive.hdd.facts import derived, facts
from diskmodel.drive.hdd.parts import DriveQueue, HddCache, Retries
from diskmodel.drive.hdd.perturbed import perturbed_hdd
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.media_cache.description import MediaCache
from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.profile import Profile
from diskmodel.drive.seek import Seek, SeekTimes
from diskmodel.drive.whole_numbers import PPM, frozen
from diskmodel.drive.zones import WriteZones, Zone, track_density, zones_between
from diskmodel.errors import DescriptionError
from diskmodel.records import Int64
from diskmodel.units import Bytes, BytesPerSecond, Nanoseconds, Rpm, SignedNanoseconds, pretty_ns

#: Cylinders. The catalogue's drives have up to 588,000; many more mean a wrong unit of a rate or of the capacity. The
#: seek table has one entry for each, 40 MB at the limit.
MAX_CYLINDERS = 5_000_000

#: Columns of seek times that are kept, of up to 5 MB each: `explain` looks at hundreds of drives that differ otherwise.
#: At half, what is tried of a drive, with seeks of its own for writes, makes them anew; at four times, `simulate` takes
#: a twelfth more, since the memory of sixteen drives that are drawn has to be cleared.
_KEPT_SEEKS = 8

#: Smallest capacity of a nearline disk, bytes. 7,200 rpm alone does not distinguish servers' disks from desktop ones;
#: in the catalogue, all of 4 TB and more are servers' disks. Half of it would include desktop drives of 2 TB, twice of
#: it would leave out the 6 TB class.
NEARLINE_BYTES = 4 * 10**12
#: Word in the source of what is usual of desktop drives.
DESKTOP = "desktop"
#: Spindle speed between disks of 7,200 and of 10,000 rpm.
SLOW_RPM = 9_500

#: Waiting writes among which firmware chooses, where its command queue is shorter: the length of the queue of SATA.
TYPICAL_WEIGHED_WRITES = 32

#: Head switch time where a data sheet gives none, as a share of the seek to the next cylinder: a head switch settles on
#: a new track as a seek does, without the travel. It changes sequential rates, and random access hardly at all.
TYPICAL_HEAD_SWITCH_RATIO = 0.8


@lru_cache(maxsize=_KEPT_SEEKS)
def _seeks_ns(seek: Seek, n_cylinders: int) -> Int64:
    """Return the seek times by distance, which drives have in common that differ in something else."""
    curve_ns = seek.curve_ns(n_cylinders)
    curve_ns.setflags(write=False)  # nobody else has it: a copy of half a million would be in vain
    return curve_ns


class Hdd(Profile):
    """A hard disk.

    The geometry is either given (`zones`) or derived from two of: rate at the outer edge, rate at the inner edge,
    number of cylinders. Everything else has a default.

    Attributes
    ----------
    rpm : float
    revolution_ns : int, optional
        Exact time of a revolution; default: 60e9 / rpm, rounded down.
    heads : int
        Number of surfaces used by all actuators together.
    zones : tuple of Zone, optional
        From the outer edge inward.
    outer_bytes_per_s, inner_bytes_per_s : float, optional
        Sustained rates of one actuator at the edges, including head and cylinder switches.
    cylinders : int, optional
    n_zones : int
        Number of zones to derive; ignored when `zones` is given.
    seek : SeekTimes, SeekCurve or SeekTable
    write_seek : SeekTimes, SeekCurve or SeekTable, optional
        Seek times of writes; default: those that follow from the average write seek of `seek`; with a curve, a table or
        `write_settle_ns` as for reads.
    seek_inward_ns : int
        By how much a seek toward the inner edge takes longer than one outward; `seek` is the mean of both. May be
        negative.
    write_settle_ns : int, optional
        Extra time of a write after any seek or head switch, the same over any distance; default: 0.
    skew_margin_ns : int, optional
        What derived skews leave for a write beyond the move of a read; default: as much longer as the sheet prints that
        an average write seeks, and `write_settle_ns`.
    head_switch_ns : int, optional
        Default: 80 % of the seek to the next cylinder.
    read_overhead_ns, write_overhead_ns : int
        Command processing before the arm may move: one command at a time, while the arm still serves earlier ones.
    completion_overhead_ns : int
        From the end of the media transfer to the end of the command; does not occupy the arm.
    write_completion_overhead_ns : int, optional
        The same for writes; default: as for reads.
    write_prefill_bytes : int
        Part of a write that must be in the buffer before the head may write. The transfer overlaps with the seek.
    interface_bytes_per_s : float
    buffer_full_ratio : float
        Part of a read that must be in the buffer before the drive begins to send it. 0: the first sector; 1: all of it.
    zero_latency : bool
        Whether reading a track starts wherever the head arrives.
    zero_latency_ratio : float
        Share of the accesses that do so with `zero_latency`; the others read in order.
    retries : Retries, optional
        Delays that some accesses meet.
    actuators : int
        With two, each has half of the heads and half of the blocks.
    recording : "conventional" or "shingled"
        Shingled (SMR). Managed by the drive: needs a `media_cache` with bands for random writes; without it, only reads
        and long sequential writes are predicted. Managed by the host: has `write_zones`.
    cache : HddCache, optional
    media_cache : MediaCache, optional
    write_zones : WriteZones, optional
    queue : DriveQueue
    """

    formula: ClassVar[str] = "diskmodel.analytic.disks:hdds"
    slower_than_rated: ClassVar[str] = "seek and rotation, and parity writes that wait a full revolution"
    plotted_by: ClassVar[str] = "diskmodel.drive.hdd.plot:plot_drive"
    deviations: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = DEVIATIONS

    kind: Literal["hdd"] = "hdd"
    rpm: Rpm
    revolution_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    heads: Annotated[int, Field(ge=1, le=64)]
    zones: tuple[Zone, ...] | None = Field(default=None, min_length=1, max_length=1000)
    outer_bytes_per_s: BytesPerSecond | None = None
    inner_bytes_per_s: BytesPerSecond | None = None
    cylinders: Annotated[int, Field(ge=4, le=1 << 22)] | None = None
    n_zones: Annotated[int, Field(ge=1, le=1000)] = 16
    seek: Seek
    write_seek: Seek | None = None
    seek_inward_ns: SignedNanoseconds = 0
    write_settle_ns: Nanoseconds | None = None
    skew_margin_ns: Nanoseconds | None = None
    head_switch_ns: Nanoseconds | None = None
    read_overhead_ns: Nanoseconds = 100_000
    write_overhead_ns: Nanoseconds = 100_000
    completion_overhead_ns: Nanoseconds = 0
    write_completion_overhead_ns: Nanoseconds | None = None
    write_prefill_bytes: Bytes = 0
    interface_bytes_per_s: BytesPerSecond = 300e6
    buffer_full_ratio: Annotated[float, Field(ge=0, le=1)] = 0.0
    zero_latency: bool = False
    zero_latency_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    retries: Retries | None = None
    actuators: Literal[1, 2] = 1
    recording: Literal["conventional", "shingled"] = "conventional"
    cache: HddCache | None = None
    media_cache: MediaCache | None = None
    write_zones: WriteZones | None = None
    queue: DriveQueue = DriveQueue()

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which geometries read a field."""
        derived = Reader("a geometry without zones of its own", lambda array: array.drive.zones is None)
        return {"n_zones": derived, "skew_margin_ns": derived}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_recording()
        if self.heads % self.actuators:
            raise ValueError(
                f"heads={self.heads}: must be a multiple of actuators={self.actuators}; change one of them"
            )
        coarse = [self.outer_bytes_per_s, self.inner_bytes_per_s, self.cylinders]
        n_coarse = sum(value is not None for value in coarse)
        if self.zones is not None:
            if n_coarse:
                raise ValueError("zones: are given together with rates or cylinders; keep one of the two")
        elif self.outer_bytes_per_s is None or n_coarse != 2:
            raise ValueError(
                "geometry: is incomplete; give zones, or outer_bytes_per_s and one of inner_bytes_per_s and cylinders"
            )
        elif self.inner_bytes_per_s is not None and self.inner_bytes_per_s > self.outer_bytes_per_s:
            raise ValueError("inner_bytes_per_s: must not exceed outer_bytes_per_s; swap them")
        if self.cache is not None and self.cache.size_bytes // self.cache.segments < self.sector_bytes:
            raise ValueError("cache.segments: makes a segment smaller than a sector; use fewer segments")
        if self.cache is not None and self.cache.write_room_bytes > self.cache.size_bytes:
            raise ValueError(
                f"cache.write_room_bytes={self.cache.write_room_bytes}: must be at most size_bytes, or no write has "
                "room; lower it"
            )
        if self.zero_latency_ratio < 1 and not self.zero_latency:
            raise ValueError(
                f"zero_latency_ratio={self.zero_latency_ratio:g}: needs zero_latency = true; set it, or leave the "
                "ratio out"
            )
        self.cached_tables  # noqa: B018 — so that an inconsistent geometry or seek curve fails here, not during a run
        self._check_seeks()
        self.likely_queues  # noqa: B018 — so that one that is no queue fails here, not when it is drawn
        return self

    def tables(self) -> HddTables:
        """Return the tables for the engines; computed once."""
        return self.cached_tables

    def zone_list(self) -> tuple[Zone, ...]:
        """Return the zones of one actuator, given or derived, from the outer edge inward."""
        return self.zones if self.zones is not None else self._derived_zones()

    @property
    def is_write_back(self) -> bool:
        """Whether its own cache, where it is on, answers writes before they are on the media."""
        return self.cache is not None and self.cache.write_back

    @cached_property
    def likely_queues(self) -> tuple[DriveQueue, ...]:
        """Queues that fit a calibrated drive's measurement alike; empty where there is only its own."""
        queues = None if self.uncertainty is None else self.uncertainty.queues
        try:
            return tuple(DriveQueue.parse(queue) for queue in queues or ())
        except DescriptionError as error:
            raise ValueError(f"uncertainty.queues: {error.faults[0]}") from None

    @cached_property
    def cached_tables(self) -> HddTables:
        """The tables behind `tables()`."""
        zones = self.zone_list()
        heads = self.heads // self.actuators
        per_actuator = self._sectors_per_actuator()
        starts = [0, *accumulate(zone.cylinders * zone.sectors_per_cylinder(heads) for zone in zones)]
        self._check_zones(zones, heads, starts)
        cylinders = [0, *accumulate(zone.cylinders for zone in zones)]
        cache = self.cache or HddCache(size_bytes=self.sector_bytes, segments=1, read_ahead_bytes=0)
        segment = cache.size_bytes // cache.segments // self.sector_bytes
        ahead = segment if cache.read_ahead_bytes is None else cache.read_ahead_bytes // self.sector_bytes
        has_cache = self.cache is not None
        dirty = cache.size_bytes // self.sector_bytes if has_cache and cache.write_back else 0
        retries, of_writes = self.retries, self.seek_of_writes
        return HddTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            n_sectors_per_actuator=per_actuator,
            heads=heads,
            actuators=self.actuators,
            revolution_ns=self.period_ns,
            zone_first_lba=frozen([*starts[:-1], per_actuator]),
            zone_first_cylinder=frozen(cylinders),
            sectors_per_track=frozen([zone.sectors_per_track for zone in zones]),
            start_skew=frozen([zone.start_skew for zone in zones]),
            track_skew=frozen([zone.track_skew for zone in zones]),
            cylinder_skew=frozen([zone.cylinder_skew for zone in zones]),
            spare_sectors_per_track=frozen([zone.spare_sectors_per_track for zone in zones]),
            spare_sectors_per_cylinder=frozen([zone.spare_sectors_per_cylinder for zone in zones]),
            seek_ns=_seeks_ns(self.seek, cylinders[-1]),
            write_seek_ns=None if of_writes is None else _seeks_ns(of_writes, cylinders[-1]),
            seek_inward_ns=self.seek_inward_ns,
            head_switch_ns=self.switch_ns,
            write_settle_ns=self.settle_ns,
            read_overhead_ns=self.read_overhead_ns,
            write_overhead_ns=self.write_overhead_ns,
            completion_overhead_ns=self.completion_overhead_ns,
            write_completion_overhead_ns=self.write_tail_ns,
            prefill_sectors=self.write_prefill_bytes // self.sector_bytes,
            interface_bytes_per_s=round(self.interface_bytes_per_s),
            buffer_full_ppm=round(self.buffer_full_ratio * PPM),
            zero_latency=self.zero_latency,
            zero_latency_ppm=round(self.zero_latency_ratio * PPM),
            retry_ppm=0 if retries is None else round(retries.ratio * PPM),
            retry_ns=frozen([] if retries is None else retries.time_ns),
            cache_segments=cache.segments if has_cache else 0,
            segment_sectors=max(segment, 1) if has_cache else 1,
            read_ahead_sectors=min(ahead, segment) if has_cache else 0,
            read_ahead_in_track=has_cache and cache.read_ahead_to != "limit",
            read_on_arrival=cache.read_on_arrival,
            read_ahead_in_own_track=cache.read_ahead_to == "own-track",
            reads_whole_track=cache.read_ahead_to == "whole-track",
            writes_drop_all=cache.write_drops == "all",
            keeps_writes=has_cache and cache.keeps_writes,
            dirty_sectors=dirty,
            is_protected=cache.power_loss_protected,
            destages_in_order=cache.destage == "in-order",
            write_room_sectors=min(cache.write_room_bytes // self.sector_bytes, dirty),
            queue_depth=self.queue.depth,
            weighed_commands=self.queue.weighed or self.queue.depth,
            weighed_writes=self._weighed_writes(),
            overdue_ns=0 if self.queue.scheduler == "fcfs" else self.queue.overdue_ns or 0,
            scheduler=self.queue.scheduler,
            age_ns=self.queue.age_ns,
            miss_margin_ns=self.queue.miss_margin_ns,
            miss_ratio=self.queue.miss_ratio,
            age_weight=self.queue.age_weight,
            committed=self.queue.committed,
            write_zone_sectors=0 if self.write_zones is None else self.write_zones.size_bytes // self.sector_bytes,
            conventional_sectors=0 if self.write_zones is None else self.write_zones.first_byte // self.sector_bytes,
            media_cache=None
            if self.media_cache is None
            else self.media_cache.tables(
                sector_bytes=self.sector_bytes, arm_sectors=self.n_sectors // self.actuators, actuators=self.actuators
            ),
        )

    @property
    def arms(self) -> int:
        """Arms, each over its own half of the blocks where there are two."""
        return self.actuators

    @property
    def spindle_rpm(self) -> float:
        """Revolutions per minute."""
        return self.rpm

    @property
    def speed_class(self) -> str:
        """The spindle speed in words."""
        return f"{self.rpm:,.0f} rpm"

    def derived(self) -> dict[str, float]:
        """Return cylinders, times of a revolution and of a mean seek, and rates at the edges."""
        return derived(self)

    def facts(self) -> list[tuple[str, str]]:
        """Return its mechanics, its queue, its caches and its recording."""
        return facts(self)

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of its interface."""
        return self.interface_bytes_per_s

    @property
    def sequential_bytes_per_s(self) -> float:
        """Rate of a long transfer along the tracks, the mean over all of them; at most that of the interface."""
        tables = self.tables()
        blocks = tables.zone_first_lba[1:] - tables.zone_first_lba[:-1]
        turns = blocks / tables.blocks_per_track
        seconds = float(turns.sum()) * tables.revolution_ns / 1e9
        return min(float(blocks.sum()) * tables.sector_bytes / seconds * tables.actuators, self.interface_bytes_per_s)

    @property
    def accepted_commands(self) -> int:
        """Length of its command queue."""
        return self.queue.depth

    @property
    def write_cache_bytes(self) -> int:
        """Room for writes of disks like those that were measured: neither shingled nor with a media cache."""
        if self.cache is None or not self.is_write_back or self.media_cache is not None:
            return 0
        return 0 if self.recording == "shingled" else self.cache.size_bytes

    @property
    def zones_in_order(self) -> WriteZones | None:
        """Zones that the host writes in order."""
        return self.write_zones

    @property
    def rewrites_tracks(self) -> bool:
        """Whether it is shingled, and managed by the drive."""
        return self.recording == "shingled" and self.write_zones is None

    @property
    def rewrites_bands(self) -> bool:
        """Whether the drive itself rewrites bands of shingled tracks."""
        return self.recording == "shingled" and self.media_cache is not None

    @property
    def spread_class(self) -> str:
        """Class by spindle speed, size and interface."""
        if self.is_typical:
            return "hdd-any-desktop" if DESKTOP in self.source else "hdd-any"
        if self.recording == "shingled":
            return "hdd-smr"
        is_nearline = self.rpm < SLOW_RPM and self.capacity_bytes >= NEARLINE_BYTES
        if any(word in self.bus for word in ("SAS", "SCSI", "Fibre")):
            return "hdd-nearline-sas" if self.rpm < SLOW_RPM else "hdd-sas"
        return "hdd-nearline-sata" if is_nearline else "hdd-sata-older"

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a hard disk with other seeks, overheads and rates; it rotates as it is described."""
        return perturbed_hdd(self, perturbation)

    @property
    def quantities(self) -> frozenset[str]:
        """Rates at the media differ where the tracks are not given."""
        return frozenset() if self.zones is not None else frozenset({"sequential"})

    @property
    def assumption(self) -> AssumedOrder | None:
        """What the order of its queued commands is assumed from."""
        return self.queue.assumption

    def one_at_a_time(self) -> Self:
        """Return the disk that takes one command at a time, so that it orders none."""
        alone = self.queue.model_copy(update={"depth": 1, "scheduler": "fcfs", "assumed_from": None})
        return self.model_copy(update={"queue": alone})

    def _check_recording(self) -> None:
        if self.write_zones is not None:
            self._check_write_zones(self.write_zones)
        if self.media_cache is None:
            return
        has_bands = self.media_cache.band_bytes is not None
        if has_bands and self.recording != "shingled":
            raise ValueError(
                "media_cache.band_bytes: only shingled tracks are written in bands, and recording is conventional; "
                'leave it out, or set recording = "shingled"'
            )
        if self.recording == "shingled" and not has_bands:
            raise ValueError("media_cache.band_bytes: is missing, and recording is shingled; add it, 15 to 40 MiB")

    def _check_write_zones(self, zones: WriteZones) -> None:
        if self.recording != "shingled":
            raise ValueError(
                "write_zones: only shingled tracks are written in zones, and recording is conventional; "
                'leave them out, or set recording = "shingled"'
            )
        if self.media_cache is not None:
            raise ValueError(
                "write_zones: are written in order by the host, so that the drive needs no media_cache; keep one of "
                "the two"
            )
        zones.check(self.capacity_bytes, self.sector_bytes)

    @property
    def period_ns(self) -> int:
        """Time of one revolution."""
        return int(60_000_000_000 // self.rpm) if self.revolution_ns is None else self.revolution_ns

    @property
    def switch_ns(self) -> int:
        """Head switch time, given or assumed."""
        if self.head_switch_ns is not None:
            return self.head_switch_ns
        return round(TYPICAL_HEAD_SWITCH_RATIO * self.seek.one_cylinder_ns())

    @property
    def settle_ns(self) -> int:
        """Extra time of a write after any move, given or none."""
        return self.write_settle_ns or 0

    @property
    def seek_of_writes(self) -> Seek | None:
        """Seeks of writes, given or of a data sheet; None where they are those of reads, apart from a given settle."""
        if self.write_seek is not None or self.write_settle_ns is not None:
            return self.write_seek
        return self.seek.of_writes()

    @property
    def write_tail_ns(self) -> int:
        """Time from the end of a write's media transfer to its completion, given or as for reads."""
        given = self.write_completion_overhead_ns
        return self.completion_overhead_ns if given is None else given

    def _weighed_writes(self) -> int:
        queue = self.queue
        return queue.weighed_writes or queue.weighed or max(queue.depth, TYPICAL_WEIGHED_WRITES)

    @property
    def margin_ns(self) -> int:
        """What derived skews leave for a write beyond the move of a read, given or what a sheet prints on average.

        The rate along a track that the Deskstar 7K500's specification prints follows from it within 2 %. For sheets
        that print nothing, the usual excess would be more than the internal rate of an Exos X16 (296 MB/s) leaves.
        """
        if self.skew_margin_ns is not None:
            return self.skew_margin_ns
        if self.write_settle_ns is not None or self.write_seek is not None or not isinstance(self.seek, SeekTimes):
            return self.settle_ns
        return 0 if self.seek.average_write_ns is None else self.seek.write_excess_ns

    def _sectors_per_actuator(self) -> int:
        return -(-self.n_sectors // self.actuators)

    def _derived_zones(self) -> tuple[Zone, ...]:
        heads = self.heads // self.actuators
        margin = self.margin_ns
        switch = self.switch_ns + margin
        of_writes = self.seek_of_writes or self.seek
        step = max(self.seek.one_cylinder_ns() + margin, of_writes.one_cylinder_ns(), switch)
        moves = (heads - 1) * switch + step
        assert self.outer_bytes_per_s is not None
        outer = track_density(self.outer_bytes_per_s, heads, self.sector_bytes, self.period_ns, moves)
        n_sectors = self._sectors_per_actuator()
        if self.inner_bytes_per_s is not None:
            inner = track_density(self.inner_bytes_per_s, heads, self.sector_bytes, self.period_ns, moves)
        else:
            assert self.cylinders is not None
            inner = 2 * n_sectors / (heads * self.cylinders) - outer
            if not 0 < inner <= outer:
                raise ValueError(
                    f"cylinders={self.cylinders}: with {outer:.0f} sectors on the outer tracks, the inner ones would "
                    f"have {inner:.0f}; check capacity, heads and outer_bytes_per_s"
                )
        return zones_between(
            outer,
            inner,
            n_sectors=n_sectors,
            heads=heads,
            n_zones=self.n_zones,
            switch_ns=switch,
            step_ns=step,
            revolution_ns=self.period_ns,
        )

    def _check_seeks(self) -> None:
        """No seek is over before it began, in either direction."""
        if not self.seek_inward_ns:
            return
        tables = self.cached_tables
        seeks = [column[1:] for column in (tables.seek_ns, tables.write_seek_ns) if column is not None]
        least = min((int(some.min()) for some in seeks if len(some)), default=0)
        if abs(self.seek_inward_ns) > least:
            raise ValueError(
                f"seek_inward={pretty_ns(self.seek_inward_ns)}: must not exceed the shortest seek, "
                f"{pretty_ns(least)}; check the units"
            )

    def _check_zones(self, zones: tuple[Zone, ...], heads: int, starts: list[int]) -> None:
        for index, zone in enumerate(zones):
            if zone.spare_sectors_per_track >= zone.sectors_per_track:
                raise ValueError(f"zones.{index}.spare_sectors_per_track: leaves no block on a track; lower it")
            if zone.sectors_per_cylinder(heads) < 1:
                raise ValueError(f"zones.{index}.spare_sectors_per_cylinder: leaves no block in a cylinder; lower it")
        n_cylinders = sum(zone.cylinders for zone in zones)
        if n_cylinders > MAX_CYLINDERS:
            raise ValueError(
                f"geometry: has more than {MAX_CYLINDERS} cylinders ({n_cylinders}); check capacity, rates, rpm, heads"
            )
        needed = self._sectors_per_actuator()
        if not starts[-2] < needed <= starts[-1]:
            raise ValueError(
                f"zones: have {starts[-1]} sectors, the last zone from {starts[-2]}, but the capacity is {needed} and "
                "must end in the last zone; correct zones or capacity_bytes"
            )

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        return state | {"__dict__": {k: v for k, v in state["__dict__"].items() if k != "cached_tables"}}

    def model_copy(self, *, update: Any = None, deep: bool = False) -> Self:
        """Return a validated copy with some fields changed."""
        # parts that stay are taken as they are: parsing some hundred zones again takes longer than all else
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate(own | dict(update or {}))
