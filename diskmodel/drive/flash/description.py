"""Description of a flash drive, and its tables for the engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from diskmodel.description import Reader
from diskmodel.drive.card import RATED_BYTES
from diskmodel.drive.flash.deviations import DEVIATIONS
from diskmodel.drive.flash.ftl import scaled
from diskmodel.drive.flash.perturbed import perturbed_flash
from diskmodel.drive.flash.sheet import FlashSheet, cached_program_ns, derived, usual_of
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.profile import Profile
from diskmodel.drive.whole_numbers import frozen
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Length, Nanoseconds, Ratio, nominal_bytes

#: Largest size of one block on every die, relative to the capacity. The catalogue's drives are below 0.002; far above 1
#: there is no garbage to collect, and the model's tables would only grow.
_MAX_ERASED = 16
#: Values of a table of delays: enough for a percentile of 99.9, and few enough to read in a profile.
MAX_DELAYS = 4096
#: Values of the table of suspensions: enough for a percentile of 99.9.
_N_SUSPENSIONS = 1024
#: Flush of a drive without protection where none is given, ns. Sixteen consumer drives made 144 to 1,751 commits/s of
#: 4 KiB (`tests/data/commits.csv`): the median time, 1.39 ms, without the write itself. At half or double commits/s
#: double or halve; how far drives lie from it is in `uncertainty/assumed.toml`.
TYPICAL_FLUSH_NS = 1_370_000
#: How long firmware that copies in batches takes no writes, ns: the only drive so measured, a Micron 7450 PRO, whose
#: writes wait 10.4 ms at most in the mean of its loads, after those that it still takes. At half or double the longest
#: waits of writes are so, too.
TYPICAL_BATCH_NS = 13_000_000
#: What it still takes of them: of that drive, whose p99 is 0.31 ms at 10,000 writes a second and milliseconds from
#: 20,000 on. With 115 units slightly less than 1 % of the writes wait at the lowest of these rates, and p99 does not
#: show batches. At half or double, writes are held from half or twice that rate on.
_BATCH_ROOM_BYTES = 110 * 4096
#: What drives that let writes in at the pace of their cleaning still take ahead of it: two writes of 4 KiB. Writes of a
#: PM9A3 and two D7-P5520 wait from half to 0.9 of saturation as for one server with room for 1 to 4
#: (docs/explanation/validation/flash.md). At half or double, their p99 is 8 to 25 us later or sooner.
_PACE_BYTES = 2 * 4096
#: Mapping units in a page. The catalogue's drives have 1 to 8; the limit bounds the memory of the model.
_MAX_UNITS = 1 << 16
#: Least share in use of which garbage collection is modeled: with less there is nothing to copy, and the model of it
#: would only grow.
_LEAST_USED = 0.05
#: Fields of a virtual disk that a flash drive once had, with and without their units.
_VIRTUAL_FIELDS = frozenset(
    ("read_copy_bytes_per_s", "write_copy_bytes_per_s", "read_copy", "write_copy", "wake_ns", "wake", "completion")
)


@cache
def _exponential(mean_ns: int) -> NDArray[np.int64]:
    """Return equally likely times of an exponential distribution, ascending; none for a mean of 0."""
    if not mean_ns:
        return frozen(())
    return frozen(np.rint(-mean_ns * np.log1p(-(np.arange(_N_SUSPENSIONS) + 0.5) / _N_SUSPENSIONS)).tolist())


def _drive_of(whole: Any) -> Any:
    """Return the drive of an array, or the drive itself."""
    return getattr(whole, "drive", whole)


class Flash(Profile):
    """A flash drive: dies on channels behind a controller.

    Attributes
    ----------
    channels, dies_per_channel : int
        Dies work in parallel; the dies of a channel share its bus.
    page_bytes : int
        Bytes that a die senses or programs at a time, all its planes together.
    pages_per_block : int
        Pages that a die erases at a time.
    read_ns, program_ns, erase_ns : int
        Times of a die.
    channel_bytes_per_s, interface_bytes_per_s : float
    read_overhead_ns, write_overhead_ns : int
        Command processing, one command at a time; limits the rate of commands.
    read_latency_ns, write_latency_ns : int
        Fixed part of a command that overlaps with other commands.
    read_delay_ns, write_delay_ns : tuple of int
        What a command takes beyond that, as pages of a die that are read slower than others: equally likely values,
        ascending, which overlap with other commands; empty: nothing.
    write_buffer_bytes : int
        Writes complete when they are in the buffer; 0: when they are programmed.
    over_provisioning_ratio : float
        Physical capacity in excess of the logical capacity, relative to the logical capacity.
    mapping_bytes : int
        Unit of the address translation.
    gc_policy : str
        Which block is cleaned next: "greedy" chooses the one with the fewest valid units, "cost-benefit" the one with
        the largest product of age and free space per valid space.
    state : str
        "steady": after long random writes, every write includes the garbage collection that it causes; "fresh": never
        written, without garbage collection until the flash is full.
    queue_depth : int
        Commands that the drive accepts at a time.
    power_loss_protected : bool
        Whether capacitors save the buffer when the power fails, so that a flush costs no more than a command.
    flush_ns : int, optional
        Time of a flush: programming open pages and the mapping. Default: 0 with protection, else
        what consumer drives take.
    suspend_ns : int
        Mean time until a program or an erase is suspended for a read, which then need not wait for its end (rule F21);
        0: the drive cannot.
    gc_batch_ns : int, optional
        How long the drive takes no writes while its firmware copies a batch of what garbage collection owes (rule F24);
        0: it copies evenly, and always takes writes. Default: not known, and 0 in the simulation of one drive.
    gc_batch_room_bytes : int
        Writes that it still takes during a batch.
    paces_writes : bool, optional
        Whether the firmware lets writes in no faster than it cleans, but for a few (rule F25). Default: not known, and
        not in the simulation of one drive.
    read_beside_writes_ns : int
        What a read takes longer while the drive is written (rule F26), as some firmware has it.
    program_beside_reads_ns : int
        What a program takes longer while the drive is read (rule F27), as some firmware has it.
    volatile_cache : bool, optional
        Whether the drive reports a volatile write cache, so that Linux sends it flushes (rule Y2). Default: not with
        power-loss protection on NVMe.
    used_ratio : float
        Part of the capacity that holds data; the rest was never written, or is trimmed, and serves garbage collection
        as further spare. The used part begins at the first block.
    endurance_bytes : int, optional
        What its maker rates it to be written (TBW): writes a day times its size, over the years of the warranty.
    sheet : FlashSheet, optional
        What the data sheet prints. Whatever of the fields above is not given follows from it.
    """

    usual_ure_per_bit: ClassVar[float] = 1e-16
    formula: ClassVar[str] = "diskmodel.analytic.disks:flash_drives"
    slower_than_rated: ClassVar[str] = "a flash drive reaches its rated IOPS only with many requests outstanding"
    is_host_bound: ClassVar[bool] = True
    loses_in_pieces: ClassVar[bool] = False
    has_flushes_of_its_own: ClassVar[bool] = True
    has_units: ClassVar[bool] = True
    spares_unused: ClassVar[bool] = True

    deviations: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = DEVIATIONS

    kind: Literal["flash"] = "flash"
    channels: Annotated[int, Field(ge=1, le=256)]
    dies_per_channel: Annotated[int, Field(ge=1, le=1024)]
    page_bytes: Annotated[Length, Field(ge=512)]
    pages_per_block: Annotated[int, Field(ge=1, le=1 << 20)]
    read_ns: Annotated[Nanoseconds, Field(gt=0)]
    program_ns: Annotated[Nanoseconds, Field(gt=0)]
    erase_ns: Annotated[Nanoseconds, Field(gt=0)]
    channel_bytes_per_s: BytesPerSecond
    interface_bytes_per_s: BytesPerSecond
    read_overhead_ns: Nanoseconds = 0
    write_overhead_ns: Nanoseconds = 0
    read_latency_ns: Nanoseconds = 0
    write_latency_ns: Nanoseconds = 0
    read_delay_ns: Annotated[tuple[Nanoseconds, ...], Field(max_length=MAX_DELAYS)] = ()
    write_delay_ns: Annotated[tuple[Nanoseconds, ...], Field(max_length=MAX_DELAYS)] = ()
    write_buffer_bytes: Bytes = 0
    over_provisioning_ratio: Annotated[float, Field(gt=0, le=10)] = 0.07
    mapping_bytes: Annotated[Length, Field(ge=512)] = 4096
    gc_policy: Literal["greedy", "cost-benefit"] = "greedy"
    state: Literal["fresh", "steady"] = "steady"
    queue_depth: Annotated[int, Field(ge=1, le=65536)] = 32
    power_loss_protected: bool = False
    flush_ns: Nanoseconds | None = None
    suspend_ns: Nanoseconds = 0
    gc_batch_ns: Nanoseconds | None = None
    gc_batch_room_bytes: Annotated[Length, Field(ge=4096)] = _BATCH_ROOM_BYTES
    paces_writes: bool | None = None
    read_beside_writes_ns: Nanoseconds = 0
    program_beside_reads_ns: Nanoseconds = 0
    volatile_cache: bool | None = None
    used_ratio: Annotated[Ratio, Field(gt=0)] = 1.0
    endurance_bytes: Bytes | None = None
    sheet: FlashSheet | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_sheet(cls, data: Any) -> Any:
        """Add what follows from the data sheet where the description does not give it."""
        if not isinstance(data, Mapping) or not data.get("sheet"):
            return data
        sheet = data["sheet"]
        if isinstance(sheet, Mapping):
            printed = {FlashSheet.full_name(key) for key in sheet}
            usual = usual_of(str(data.get("bus", "")))
            sheet = {**sheet, **{name: value for name, value in usual.items() if name not in printed}}
        sheet = FlashSheet.model_validate(sheet)
        given = {cls.full_name(key) for key in data}
        return {**data, "sheet": sheet, **{name: value for name, value in derived(sheet).items() if name not in given}}

    @model_validator(mode="before")
    @classmethod
    def _without_virtual_fields(cls, data: Any) -> Any:
        """Refuse fields of a virtual disk, which earlier versions described as flash; drop them where they are unset.

        Earlier versions wrote them into the profiles of real flash drives, too.
        """
        if not isinstance(data, Mapping):
            return data
        for name in data.keys() & _VIRTUAL_FIELDS:
            if data[name] not in ("each", [], (), None):
                raise ValueError(
                    f"{name}: belongs to a virtual disk, which is a kind of drive of its own; calibrate again, or "
                    'describe the disk with kind = "virtual"'
                )
        return {key: value for key, value in data.items() if key not in _VIRTUAL_FIELDS}

    @model_validator(mode="after")
    def _aligned(self) -> Self:
        for name in ("read_delay_ns", "write_delay_ns"):
            if any(a > b for a, b in pairwise(getattr(self, name))):
                raise ValueError(f"{name}: must be ascending; sort it")
        if self.mapping_bytes % self.sector_bytes:
            raise ValueError(f"mapping_bytes: must be a multiple of sector_bytes={self.sector_bytes}; round it up")
        if self.page_bytes % self.mapping_bytes:
            raise ValueError(f"page_bytes: must be a multiple of mapping_bytes={self.mapping_bytes}; round it up")
        if self.page_bytes // self.mapping_bytes > _MAX_UNITS:
            raise ValueError(
                f"page_bytes={self.page_bytes}: has more than {_MAX_UNITS} mapping units; use smaller pages"
            )
        erased_at_once = self.channels * self.dies_per_channel * self.pages_per_block * self.page_bytes
        if erased_at_once > _MAX_ERASED * self.capacity_bytes:
            raise ValueError(
                f"page_bytes={self.page_bytes}: one block on each die exceeds {_MAX_ERASED} times the capacity; "
                "use smaller pages, or fewer of them in a block"
            )
        return self

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which drives read the time of a flush."""
        return {"flush_ns": Reader("drives that report a volatile cache", lambda whole: _drive_of(whole).is_flushed)}

    @property
    def speed_class(self) -> str:
        """Its kind."""
        return self.kind

    def derived(self) -> dict[str, float]:
        """Return the number of dies."""
        return {"dies": self.channels * self.dies_per_channel}

    def facts(self) -> list[tuple[str, str]]:
        """Return its dies and their times."""
        return [
            ("dies", f"{self.channels * self.dies_per_channel} on {self.channels} channels"),
            ("page read, program", f"{self.read_ns / 1e3:g} us, {self.program_ns / 1e3:g} us"),
            ("block erase", f"{self.erase_ns / 1e6:g} ms"),
            ("over-provisioning", f"{self.over_provisioning_ratio:.1%}"),
            *self._cache_facts(),
        ]

    def _cache_facts(self) -> list[tuple[str, str]]:
        """Return the size of a cache of one bit a cell, and the rate behind it."""
        sheet = self.sheet
        if sheet is None or not sheet.cache_bytes or sheet.sustained_write_bytes_per_s is None:
            return []
        full = f", {nominal_bytes(sheet.fixed_cache_bytes)} when full" if sheet.fixed_cache_bytes else ""
        rate = f"{sheet.sustained_write_bytes_per_s / 1e6:,.0f} MB/s"
        return [("SLC cache", f"{nominal_bytes(sheet.cache_bytes)} when empty{full}; then {rate} in order")]

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of its interface."""
        return self.interface_bytes_per_s

    @property
    def rated_iops(self) -> float:
        """Random reads at full depth: those of the dies, of the interface, or of the processor."""
        limits = [self.channels * self.dies_per_channel * 1e9 / self.read_ns, self.interface_bytes_per_s / RATED_BYTES]
        if self.read_overhead_ns:
            limits.append(1e9 / self.read_overhead_ns)
        return min(limits)

    @property
    def sequential_bytes_per_s(self) -> float:
        """Rate of its interface."""
        return self.interface_bytes_per_s

    @property
    def accepted_commands(self) -> int:
        """Length of its command queue."""
        return self.queue_depth

    @property
    def is_flushed(self) -> bool:
        """Whether it reports a volatile cache: those with capacitors report none on NVMe, and a safe one on SATA."""
        if self.volatile_cache is not None:
            return self.volatile_cache
        return not (self.power_loss_protected and "NVMe" in self.bus)

    @property
    def spread_class(self) -> str:
        """Class by interface, and by what it is made for."""
        if self.is_typical:
            return "flash-any"
        made_for = "" if self.power_loss_protected else "-consumer"
        return f"flash-nvme{made_for}" if "NVMe" in self.bus else f"flash-sata{made_for}"

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a flash drive with other times and rates."""
        return perturbed_flash(self, perturbation)

    @property
    def full_unless_said(self) -> bool:
        """Whether nobody said how full it is."""
        return "used_ratio" not in self.model_fields_set

    def filled(self, used_ratio: float | None) -> Self:
        """Return the drive with so much of it in use."""
        return self if used_ratio is None else self.model_copy(update={"used_ratio": used_ratio})

    def buffered_writes(self) -> tuple[int, float] | None:
        """Return what its buffer answers in, and what the flash behind it takes; None without power-loss protection."""
        if not self.power_loss_protected:
            return None
        programmed = self.channels * self.dies_per_channel * self.page_bytes * NS_PER_S / self.program_ns
        rate = min(self.interface_bytes_per_s, self.channels * self.channel_bytes_per_s, programmed)
        return max(self.write_overhead_ns + self.write_latency_ns, 1), rate

    def of_a_log(self) -> Self:
        """Return the drive with nothing else on it: what is written over in order leaves whole blocks to erase."""
        return self.model_copy(update={"state": "fresh"})

    def with_write_cache(self, is_on: bool) -> Self:
        """Return the drive with its cache on or off: off, one with capacitors on SATA reports none (rule Y2)."""
        is_silent = not is_on and self.is_flushed and self.power_loss_protected and self.is_sold_with_cache_on
        return self.model_copy(update={"volatile_cache": False}) if is_silent else self

    def without_host(self, host_ns: int, *, is_assumed: bool) -> Self:
        """Return the drive with what is its own of its latencies (rule F28)."""
        if self.exact or not (is_assumed or self.sheet is not None):
            return self
        update = {name: max(getattr(self, name) - host_ns, 0) for name in ("read_latency_ns", "write_latency_ns")}
        return self.model_copy(update=update)

    @property
    def physical_bytes(self) -> int:
        """Capacity of its flash."""
        return round(self.capacity_bytes * (1 + self.over_provisioning_ratio))

    def fast_states(self) -> tuple[tuple[Self, int], ...]:
        """Return it with all flash that holds no data erased, and how much that is; nothing of a fresh one.

        A consumer drive writes to its cache of one bit a cell first (rule F23).
        """
        if self.state == "fresh":
            return ()
        used_bytes = round(self.used_ratio * self.capacity_bytes)
        fresh = self.model_copy(update={"state": "fresh"})
        sheet, room_bytes = self.sheet, self.physical_bytes - used_bytes
        if sheet is None or not sheet.cache_bytes:
            return ((fresh, room_bytes),)
        program_ns = cached_program_ns(sheet, self.channels * self.dies_per_channel)
        cached = fresh.model_copy(update={"program_ns": program_ns})
        cache_bytes = sheet.cache_room_bytes(self.capacity_bytes - used_bytes)
        return ((cached, cache_bytes), (fresh, max(room_bytes - cache_bytes, 0)))

    @property
    def quantities(self) -> frozenset[str]:
        """Times of reads and writes, how many go on in parallel, a flush and what firmware nobody gave."""
        known = {"flash_read_time", "flash_parallelism", "flash_write", "flash_write_latency"}
        if self.flush_ns is None and self.is_flushed:
            known.add("flash_flush")
        if self.state == "steady":
            known |= {"flash_batches"} if self.gc_batch_ns is None else set()
            known |= {"flash_pace"} if self.paces_writes is None and not self.gc_batch_ns else set()
        return frozenset(known)

    @property
    def time_of_flush_ns(self) -> int:
        """Time of a flush, given or assumed."""
        if self.flush_ns is not None:
            return self.flush_ns
        return 0 if self.power_loss_protected else TYPICAL_FLUSH_NS

    @property
    def typical_batch_ns(self) -> int:
        """How long such a drive takes no writes where its firmware copies in batches."""
        return TYPICAL_BATCH_NS

    def _batch_units(self) -> int:
        """Return how many units all dies copy in the time of a batch."""
        page_ns = self.page_bytes / self.channel_bytes_per_s * NS_PER_S + self.program_ns + self.read_ns
        pages = (self.gc_batch_ns or 0) * self.channels * self.dies_per_channel / page_ns
        return max(round(pages * self.page_bytes / self.mapping_bytes), 1)

    def tables(self) -> FlashTables:
        """Return the tables for the engines."""
        n_dies = self.channels * self.dies_per_channel
        physical = self.capacity_bytes * (1 + self.over_provisioning_ratio)
        blocks_per_die = -(-round(physical) // (n_dies * self.pages_per_block * self.page_bytes))
        units_per_page = self.page_bytes // self.mapping_bytes
        return FlashTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            channels=self.channels,
            dies_per_channel=self.dies_per_channel,
            page_bytes=self.page_bytes,
            pages_per_block=self.pages_per_block,
            blocks_per_die=blocks_per_die,
            mapping_bytes=self.mapping_bytes,
            read_ns=self.read_ns,
            program_ns=self.program_ns,
            erase_ns=self.erase_ns,
            channel_bytes_per_s=round(self.channel_bytes_per_s),
            interface_bytes_per_s=round(self.interface_bytes_per_s),
            read_overhead_ns=self.read_overhead_ns,
            write_overhead_ns=self.write_overhead_ns,
            read_latency_ns=self.read_latency_ns,
            write_latency_ns=self.write_latency_ns,
            read_delay_ns=frozen(self.read_delay_ns),
            write_delay_ns=frozen(self.write_delay_ns),
            write_buffer_bytes=self.write_buffer_bytes,
            queue_depth=self.queue_depth,
            flush_ns=self.time_of_flush_ns,
            suspend_ns=_exponential(self.suspend_ns),
            batch_ns=self.gc_batch_ns or 0,
            batch_units=self._batch_units(),
            batch_room_units=max(self.gc_batch_room_bytes // self.mapping_bytes, 1),
            pace_units=max(_PACE_BYTES // self.mapping_bytes, 1) if self.paces_writes else 0,
            read_beside_writes_ns=self.read_beside_writes_ns,
            program_beside_reads_ns=self.program_beside_reads_ns,
            has_volatile_cache=self.is_flushed,
            ftl=scaled(
                n_units=math.ceil(max(self.used_ratio, _LEAST_USED) * self.capacity_bytes / self.mapping_bytes),
                n_blocks=n_dies * blocks_per_die,
                block_units=self.pages_per_block * units_per_page,
                units_per_page=units_per_page,
                policy=self.gc_policy,
                is_fresh=self.state == "fresh",
            ),
        )
