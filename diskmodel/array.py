"""An array: drives of one kind, their queues, a layout over them, a controller and a host in front."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskmodel.controller import Controller, NamedController
from diskmodel.description import Description, Reader, facts_html, read_toml, without_effect
from diskmodel.drive import DriveTables, NamedDrive, system_around, with_log_drive, with_special_drives
from diskmodel.errors import DescriptionError, Fault
from diskmodel.host import Host
from diskmodel.host.assumed import HOST_OF_SHEETS_NS, assumed
from diskmodel.layout import PLACES_OF_A_PASS, Layout, VolumeTables
from diskmodel.queue import Queue
from diskmodel.units import Ppm, Ratio, listed, nominal_bytes, pretty_bytes
from diskmodel.wording import of_words, with_cache_drive
from diskmodel.workload import check_used

if TYPE_CHECKING:
    from diskmodel.workload import TraceWorkload, Workload


class Beside:
    """An array and its load, with the array's attributes."""

    def __init__(self, array: Array, load: Workload | TraceWorkload) -> None:
        self._array, self._load = array, load

    @property
    def may_go_on(self) -> bool:
        """Whether a request of the load may begin where the last one ended."""
        return self._load.goes_on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)


class Spindles(Description):
    """How the spindles of an array turn relative to each other.

    Attributes
    ----------
    phase : str
        Angles at time 0: "random" (drawn from the seed), "synchronised" (all 0) or "spread" (disk d at
        (618 d mod 1000)/1000 of a revolution).
    drift_ppm : float
        Disk d turns (1 + d · drift) times as fast as disk 0.
    """

    phase: Literal["random", "synchronised", "spread"] = "random"
    drift_ppm: Ppm = Field(default=0.0, ge=0, le=10_000)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which drives have spindles."""
        turning = Reader("hard disks", lambda array: array.drive.has_arms)
        return {"phase": turning, "drift_ppm": turning}


#: What `Array` takes without names.
_POSITIONAL = ("drive", "level", "disks")


class Array(Description):
    """All that stands between a workload and its latency.

    Attributes
    ----------
    name : str
    drive : Drive
        A drive inline, the name of one in the catalogue, or the path of a profile (relative to the array's file).
    layout : Layout
        Its `log` may name a drive: `log = "micron-7450-pro-1920"`; and `special` a mirror of drives:
        `special = "2x micron-7450-pro-1920"`.
    queue : Queue
        Scheduler above each drive's own command queue.
    controller : Controller
        A controller inline, or the name of one in the catalogue.
    host : Host
    spindles : Spindles
    drive_write_cache : bool or None
        Whether the drives' own write-back caches are on, where the drives have them. None: on for a disk on its own,
        and for drives that are sold so (SATA) behind Linux md and OpenZFS; off for SAS drives, which are sold so,
        behind RAID controllers, which switch them off, and behind a page cache whose syncs flush no disk.
        `diskmodel.explanation.otherwise` has the answer of the other case.
    drive_fua : bool
        Whether the operating system has the drives write single requests past their caches (FUA) where it wants one
        safe. Without it, as Linux treats SATA disks, it flushes after the write.
    used_ratio : float or None
        Part of each drive that holds data, from its beginning. The rest is trimmed, and serves flash drives as further
        spare (rule F12). None: as the drive's own description says, which is all of it unless it says less.

    Examples
    --------
    The drive, the RAID level and the number of disks may stand first; fields of the layout may follow by name:

    >>> Array("generic-15k", "raid5", 8, strip="256 KiB")
    <Array: 8 × Generic 15k rpm SAS in raid5, strip 256 KiB, 2.1 TB usable>

    So may the words that commands take:

    >>> Array("8x generic-15k raid5, 1GiB cache")
    <Array '8x generic-15k raid5, 1GiB cache': 8 × Generic 15k rpm SAS in raid5, strip 64 KiB, 2.1 TB usable>
    """

    file_kind: ClassVar[str] = "array"

    name: str = ""
    drive: NamedDrive
    layout: Layout
    queue: Queue = Queue()
    controller: NamedController = Controller()
    host: Host = Host()
    spindles: Spindles = Spindles()
    drive_write_cache: bool | None = None
    drive_fua: bool = False
    used_ratio: Annotated[Ratio, Field(gt=0)] | None = None

    if TYPE_CHECKING:

        def __init__(self, drive: Any, level: Any = ..., disks: Any = ..., **fields: Any) -> None: ...

    @classmethod
    def _from_call(cls, args: tuple[Any, ...], fields: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(_POSITIONAL):
            raise TypeError(f"Array takes at most {len(_POSITIONAL)} positional arguments: {', '.join(_POSITIONAL)}")
        named = dict(zip(_POSITIONAL, args, strict=False))
        if twice := named.keys() & fields.keys():
            raise TypeError(f"Array got {', '.join(sorted(twice))} by position and by name")
        data = named | fields
        own = data.keys() & {"level", "disks", "layout"}
        words = args[0] if args and not own else None
        layout_of_words: dict[str, Any] = {}
        if isinstance(words, str) and len(words.split()) > 1 and not os.path.isfile(words):
            found = of_words(words)
            layout_of_words = found.pop("layout")
            data = found | fields
        layout = layout_of_words | {
            key: data.pop(key) for key in [*data] if Layout.has_field(key) and not cls.has_field(key)
        }
        if layout and "layout" in data:
            names = ", ".join(layout)
            fault = Fault(
                "layout", None, f"is given together with {names}", f"put {names} into layout, or leave it out"
            )
            raise DescriptionError(fault)
        return data | {"layout": layout} if layout else data

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        (_, disks), (_, usable), *_ = self._facts()
        return f"<Array{name}: {disks}, {usable} usable>"

    def __str__(self) -> str:
        return "\n".join(f"{label}: {value}" for label, value in self._facts())

    @property
    def title(self) -> str:
        """Disks, drive and level, and devices of their own: "2 × 6 × Generic 7.2k rpm SATA, raidz2 with a log"."""
        if self.drive.stands_alone:
            return self.drive.name
        layout = self.layout
        found = f"{layout.disks_in_words} × {self.drive.name}, {layout.level}"
        return f"{found} with {listed(layout.beside)}" if layout.beside else found

    def _facts(self) -> list[tuple[str, str]]:
        """Return what this array is, as labels and values."""
        layout = self.layout
        facts = [
            ("disks", f"{layout.disks_in_words} × {self.drive.name} in {layout.level}{layout.pieces_in_words}"),
            ("usable", nominal_bytes(self.usable_bytes)),
            *layout.facts(),
        ]
        if layout.spares:
            facts.append(("hot spares", str(layout.spares)))
        if layout.failed:
            facts.append(("failed disks", ", ".join(map(str, layout.failed))))
        if self.used_ratio is not None:
            facts.append(("used", f"{self.used_ratio:.0%} of each drive, the rest trimmed"))
        if self.controller.name:
            facts.append(("controller", self.controller.name))
        facts += layout.cache_facts()
        for label, cache in (
            (layout.read_cache_name, self.controller.read_cache),
            ("write cache", self.controller.write_cache),
        ):
            if cache is not None and cache.size_bytes is not None:
                facts.append((label, pretty_bytes(cache.size_bytes)))
        return facts

    def _repr_html_(self) -> str:
        return facts_html(self.name or "Array", self._facts())

    @model_validator(mode="before")
    @classmethod
    def _in_a_system(cls, data: Any) -> Any:
        """Take drive and layout as those of the array in a system, where a key says so, as `cached_by` does."""
        system = system_around(data) if isinstance(data, Mapping) else None
        if system is None:
            return data
        key, fields = system
        others = {name: value for name, value in data.items() if name not in ("drive", "layout", key)}
        return others | {"drive": fields, "layout": {"level": "jbod", "disks": 1}}

    @model_validator(mode="before")
    @classmethod
    def _with_drives_of_auxiliary_devices(cls, data: Any) -> Any:
        """Look up the drives of a log, a special vdev and a cache by their names, of which a layout knows nothing."""
        layout = data.get("layout") if isinstance(data, Mapping) else None
        if not isinstance(layout, Mapping):
            return data
        looked_up = (("log", with_log_drive), ("special", with_special_drives), ("cache", with_cache_drive))
        found = {
            name: of(layout[name])
            for name, of in looked_up
            if isinstance(layout.get(name), str | Mapping | Description)
        }
        return {**data, "layout": {**layout, **found}} if found else data

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if problem := self.layout.problem_in(self):
            raise ValueError(problem)
        if self.layout.read_modify_write == "held" and self.queue.write_throttle != "none":
            raise ValueError(
                f"queue.write_throttle={self.queue.write_throttle!r}: Linux md never holds a disk; "
                "use none, or layout.read_modify_write = 'released'"
            )
        if self.drive.zones_in_order is not None and self.n_devices > 1:
            raise ValueError(
                f"layout: has {self.n_devices} drives, and the host writes the zones of {self.drive.name} in order, "
                "which no RAID level does; use one drive (level = 'jbod', disks = 1) and divide the load among several"
            )
        return self

    @property
    def l2arc_slots(self) -> int:
        """Records that the cache devices can hold (rule X27); 0 without any."""
        return 0 if self._cache_bytes is None else self.layout.cached_records(self._cache_bytes)

    @property
    def _cache_bytes(self) -> int | None:
        """Size of the read cache; None without one, or where only the share of its hits is known."""
        read = self.controller.read_cache
        return None if read is None else read.size_bytes

    @property
    def revolution_ms(self) -> float | None:
        """Time of a revolution of its disks; None of flash and of virtual disks."""
        return None if self.drive.period_ns is None else self.drive.period_ns / 1e6

    @property
    def member_queue(self) -> Queue:
        """The queue above each drive: as described, or that of OpenZFS (rule X7)."""
        return Queue() if self.layout.has_own_queue else self.queue

    @property
    def front_controller(self) -> Controller:
        """The controller as described; the read cache of a pool is its ARC, whose blocks are records (rule K16)."""
        read = self.controller.read_cache
        if read is None or read.size_bytes is None:
            return self.controller
        update = self.layout.read_cache_fields(read.size_bytes)
        if not update:
            return self.controller
        return self.controller.model_copy(update={"read_cache": read.model_copy(update=update)})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The array in a TOML file; a drive given by path is looked up beside the file.

        Raises
        ------
        DescriptionError
            With every fault of the file.
        """
        data = read_toml(path, cls.file_kind)
        drive = data.get("drive")
        if isinstance(drive, str) and os.path.isfile(Path(path).parent / drive):
            data["drive"] = str(Path(path).parent / drive)
        return cls.parse(data, str(path))

    @classmethod
    def from_words(cls, words: str) -> Self:
        """Return the array that words describe: number of drives, drive and RAID level, or a drive alone.

        A controller of the catalogue, its cache and the strip may follow after commas: "perc-h730", "1GiB cache" (of
        writes), "4GiB read cache", "strip 256KiB".

        Raises
        ------
        DescriptionError
            When the words have another form, or break a rule.

        Examples
        --------
        >>> Array.from_words("8x generic-15k raid5")
        <Array '8x generic-15k raid5': 8 × Generic 15k rpm SAS in raid5, strip 64 KiB, 2.1 TB usable>
        """
        return cls.parse(of_words(words), words)

    @property
    def may_go_on(self) -> bool:
        """Whether a request may begin where the last one ended: as long as no load is known."""
        return True

    def unread_messages(self, described: Self, load: Workload | TraceWorkload | None = None) -> tuple[str, ...]:
        """As of every description; with a load, also what none of its requests reads."""
        return without_effect(described.unread(self.beside(load)))

    def beside(self, load: Workload | TraceWorkload | None) -> Beside | Self:
        """Return this array as readers of fields see it that ask for its load, too; itself where that is not known."""
        return self if load is None else Beside(self, load)

    def tables(self) -> VolumeTables:
        """The layout in sectors of this array's drive."""
        sector = self.drive.sector_bytes
        n_sectors, rotates = self.drive.capacity_bytes // sector, self.drive.has_arms
        return self._as_it_is_made.tables(n_sectors, sector, self._cache_bytes, rotates=rotates)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which drives read a switch of the array."""
        return {
            "drive_write_cache": Reader(
                "hard disks with a write-back cache and SATA flash drives with capacitors",
                lambda array: array.has_disks_that_buffer or array.has_needless_flushes,
            ),
            "drive_fua": Reader(
                "hard disks whose write-back cache is on",
                lambda array: array.has_disks_that_buffer and array.has_drive_write_cache,
            ),
            "used_ratio": Reader("flash drives", lambda array: array.drive.spares_unused),
        }

    @property
    def has_disks_that_buffer(self) -> bool:
        """Whether the drives are hard disks that can answer writes out of their cache."""
        return self.drive.tables().has_write_back

    @property
    def has_needless_flushes(self) -> bool:
        """Whether flushes to the drives, whose caches are safe, end when these caches are switched off."""
        return self.drive.with_write_cache(False) is not self.drive

    @property
    def has_rows(self) -> bool:
        """Whether its level is one of Linux md with parity."""
        return self.layout.has_rows

    @property
    def has_striped_copies(self) -> bool:
        """Whether its level is RAID 10 or 1E."""
        return self.layout.kind.has_striped_copies

    @property
    def has_drive_write_cache(self) -> bool:
        """Whether the drives may answer writes out of their own caches."""
        if self.drive_write_cache is not None:
            return self.drive_write_cache
        if self.layout.disks == 1:
            return True
        pages = self.host.page_cache
        is_synced = pages is not None and (pages.is_synchronous or pages.sync_every > 0)
        return self.drive.is_sold_with_cache_on and not self.is_hardware and not is_synced

    @property
    def why_drive_write_cache(self) -> str:
        """Why the drives' own caches are as they are where nobody said so, for people."""
        if self.is_hardware:
            return "as most RAID controllers set them"
        if not self.has_drive_write_cache and self.drive.is_sold_with_cache_on:
            return "as what the host's memory syncs is not flushed from them"
        if self.has_needless_flushes:
            return "as SATA drives are sold: commits send flushes, which their capacitors make needless"
        if self.has_drive_write_cache:
            return "as SATA disks are sold: a flush empties them, and what they hold is lost in a power cut"
        return "as SAS disks are sold"

    def drive_tables(self) -> DriveTables:
        """The drive in whole numbers, as this array runs it: with its write-back cache or without."""
        drive = self.drive.filled(self.used_ratio).with_write_cache(self.has_drive_write_cache)
        if self.host.has_work:
            drive = drive.without_host(HOST_OF_SHEETS_NS, is_assumed=self.host.is_assumed)
        tables = drive.tables()
        return tables.with_fua(self.drive_fua) if self.has_drive_write_cache else tables.without_write_back()

    def auxiliary_tables(self, drive: Any) -> DriveTables:
        """Return a drive beside the disks in whole numbers, with its own write cache as such drives are sold."""
        is_on = drive.is_sold_with_cache_on
        drive = drive.with_write_cache(is_on)
        if self.host.has_work:
            drive = drive.without_host(HOST_OF_SHEETS_NS, is_assumed=self.host.is_assumed)
        tables: DriveTables = drive.tables()
        return tables if is_on else tables.without_write_back()

    def behind_host(self, load: Workload | TraceWorkload) -> Self:
        """Return the array with what its host does with the requests of a load where nobody described it.

        Requests to an array of flash drives are often limited by the host before they are by the drives. Arrays without
        a controller are Linux md's: it cuts long requests to mirrors of hard disks, and with `linux_md` it has what
        `mdadm` sets up. A pool has the records that its use suggests. A disk on its own, and drives that are exactly
        as described, have what is described.
        """
        if self.used_ratio is not None and self.drive.spares_unused:
            check_used(load, self.used_ratio, self.usable_bytes)
        loaded = self.drive.under(*self.asked_of_a_drive(load))
        array = self.for_use(load)
        array = array if loaded is self.drive else array.model_copy(update={"drive": loaded})
        if array.layout.disks == 1 or array.drive.exact:
            return array
        array = array._on_linux_md(load)
        return array._behind_processors(load) if self.drive.is_host_bound else array

    def passed_apart_from(self, load: Workload) -> Self:
        """Return the array with its pass where no stream of a load goes the same way (rule R1), unless it is said.

        What one of them reads would be in the drives' buffers for the other: RAID 6 of ten kept 54 % of a reader's rate
        behind the fastest check from the front, and 1.2 % of it elsewhere.
        """
        rebuild, usable = self.layout.rebuild, self.usable_bytes
        if rebuild is None or rebuild.done_ratio is not None or not load.begins_near(0.0, usable):
            return self
        place = next((place for place in PLACES_OF_A_PASS if not load.begins_near(place, usable)), PLACES_OF_A_PASS[0])
        return self._with_layout({"rebuild": rebuild.model_copy(update={"done_ratio": place})})

    def for_use(self, load: Workload | TraceWorkload) -> Self:
        """Return the array as it is set up for a load where nobody says how: a pool with the records of its use.

        What a pool can store depends on its records, with RAID-Z.
        """
        return self._with_layout(self.layout.for_use(load.longest_random_bytes))

    def with_records_of_files(self) -> Self:
        """Return a pool with the records that a file system of OpenZFS has; anything else unchanged."""
        return self._with_layout(self.layout.for_files())

    def _with_layout(self, fields: Mapping[str, Any]) -> Self:
        """Return the array with other values of some fields of its layout; itself where there are none."""
        return self.model_copy(update={"layout": self.layout.model_copy(update=fields)}) if fields else self

    def asked_of_a_drive(self, load: Workload | TraceWorkload) -> tuple[float, float]:
        """Return operations and bytes a second that a load asks of one drive at most; infinity of one that waits."""
        if not load.is_open:
            return math.inf, math.inf
        layout = self.layout
        small_write = 2 * (1 + layout.parity_strips) if layout.parity_strips else layout.n_copies
        per_s = load.offered_rate_per_s * small_write / layout.disks
        return per_s, per_s * load.mean_size_bytes

    def _behind_processors(self, load: Workload | TraceWorkload) -> Self:
        """Return an array of flash drives behind the processors that submit its requests."""
        outstanding, per_s = load.queue_depth, load.offered_rate_per_s
        host = assumed(
            self.host,
            outstanding=outstanding,
            per_s=per_s,
            n_locks=self._n_locks,
            is_counted=not self.is_hardware and self.layout.counts_requests,
        )
        return self if host is self.host else self.model_copy(update={"host": host})

    def _on_linux_md(self, load: Workload | TraceWorkload) -> Self:
        """Return an array with Linux's own defaults, where it is Linux md's."""
        if self.is_hardware or self.host.is_buffered:
            return self
        longest = load.longest_request_bytes if self.drive.loses_in_pieces else 0
        fields = self.layout.cut_by_default(longest_bytes=longest, outstanding_bytes=longest * max(load.queue_depth, 1))
        if self.controller.linux_md:
            fields |= self.layout.bitmap_by_default(self.usable_bytes)
        return self._with_layout(fields)

    @property
    def lacks_usual_bitmap(self) -> bool:
        """Whether it is an array of Linux md without the bitmap that `mdadm` makes of such arrays."""
        is_plain = not self.is_hardware and not self.controller.linux_md and not self.host.is_buffered
        return is_plain and bool(self.layout.bitmap_by_default(self.usable_bytes))

    def said_of_md(self, described: Array) -> tuple[str, ...]:
        """Return in a sentence what this array has of Linux md that its description does not say."""
        said = self.layout.beyond(described.layout)
        return (said,) if said else ()

    @property
    def is_hardware(self) -> bool:
        """Whether a controller of its own makes the array, and not Linux md."""
        return self.has_controller_cache or self.controller.volume_depth is not None

    @property
    def rebuilt_by(self) -> str:
        """What the rebuild of a failed disk is called, with who does it; no controller's own pace is described."""
        return "rebuild at Linux md's pace" if self.is_hardware else self.layout.rebuilt_by

    @property
    def rebuilds(self) -> str:
        """The same as a clause."""
        return "the controller, at Linux md's pace, rebuilds" if self.is_hardware else self.layout.rebuilds

    @property
    def faster_beside(self) -> str:
        """Which settings let a rebuild do more beside a load, as a clause."""
        if self.is_hardware:
            return "a higher rebuild rate of the controller speeds it up, while requests wait longer"
        if self.is_rebuilt_in_turn:
            return "less load speeds it up more than any setting of md"
        return self.layout.faster_beside

    @property
    def slower_beside(self) -> str:
        """Which settings let requests go first where a rebuild is in their way, as a clause; "": none."""
        return "" if self.is_rebuilt_in_turn else self.layout.slower_beside

    @property
    def is_rebuilt_in_turn(self) -> bool:
        """Whether requests and steps of its rebuild wait for each other, so that no speed of it lets them go first."""
        is_a_controllers = self.is_hardware and self.layout.rebuild is None
        return self._as_it_is_made.is_rebuilt_in_turn and not is_a_controllers

    @property
    def _as_it_is_made(self) -> Layout:
        """The layout with what is left of it where a controller makes the array."""
        return self.layout.on_a_controller() if self.is_hardware else self.layout

    @property
    def has_controller_cache(self) -> bool:
        """Whether a controller of its own caches blocks; the cache of a pool is OpenZFS's, in the host's memory."""
        return self.controller.has_real_cache and not self.layout.is_cached_in_memory

    @property
    def _n_locks(self) -> int:
        """Arrays of Linux md with parity that requests are divided among, each with its own lock; 0: none."""
        return 0 if self.is_hardware else self.layout.n_locks

    @property
    def doubts_of_pass(self) -> tuple[str, ...]:
        """Why not to rely on what a run beside a pass over its members shows."""
        doubt = self._as_it_is_made.doubt_of_pass
        return (doubt,) if doubt else ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why not to rely on answers about it: its drive's profile, and what is not simulated as it is described."""
        found = (
            self.drive.doubt,
            *self.layout.doubts(is_throttled=self.queue.write_throttle == "linux"),
            self.unknown_resilver or self._doubt_about_shingled,
            *self.layout.doubts_of_devices(self.tables()),
        )
        return tuple(why for why in found if why)

    @property
    def unknown_resilver(self) -> str:
        """Why the rebuild of drives that rewrite their own bands has no figure; "" where it has."""
        return self.layout.no_hours_of_shingled if self._rebuilds_shingled else ""

    @property
    def _doubt_about_shingled(self) -> str:
        """Why not to rely on the figures of such a rebuild; "" of other drives."""
        return self.layout.doubt_of_shingled if self._rebuilds_shingled else ""

    @property
    def _rebuilds_shingled(self) -> bool:
        """Whether it can be rebuilt, and its drives rewrite their own bands."""
        return self.drive.rewrites_bands and self.layout.kind.is_redundant

    @property
    def n_devices(self) -> int:
        """Disks, hot spares included."""
        return self.layout.disks + self.layout.spares

    @property
    def usable_bytes(self) -> int:
        """What the host can store."""
        return self.tables().capacity * self.drive.sector_bytes

    @property
    def raw_bytes(self) -> int:
        """Capacity of all disks, spares included."""
        return self.n_devices * self.drive.capacity_bytes
