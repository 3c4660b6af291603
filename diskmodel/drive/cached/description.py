"""Description of an array behind a cache on SSDs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.drive.cached.policies import MODES, OTHER_NAMES, POLICIES, Mode, Policy, unit_bytes
from diskmodel.drive.cached.tables import CachedTables
from diskmodel.drive.cached.troubles import TROUBLES
from diskmodel.drive.cached.words import behind_a_cache, cached_of_words, is_cached
from diskmodel.drive.card import OwnEffort, Trouble
from diskmodel.drive.members import Member
from diskmodel.drive.system import System, sizes_to_be
from diskmodel.layout import Layout
from diskmodel.units import Bytes, Length, Nanoseconds, Ratio, nominal_bytes

#: Of a drive whose sheet gives none: about 2 % a year fail.
_USUAL_MTTF_HOURS = 434_000.0
_HOURS_A_YEAR = 8766
#: A flush of a disk behind whose own cache has nothing to write: its time for a command without an access, as the disks
#: of the catalog have it. One published array took up to three times as long (docs/explanation/validation/caches.md).
_FLUSH_NS = 200_000
#: Units that a cache has at least.
_LEAST_UNITS = 64


def _software(value: Any) -> Any:
    return OTHER_NAMES.get(value.strip().lower(), value.strip().lower()) if isinstance(value, str) else value


def _mode(value: Any) -> Any:
    return MODES.get(value.strip().lower(), value) if isinstance(value, str) else value


class Cache(Description):
    """The drives of a cache.

    Attributes
    ----------
    drive : Hdd, Flash, Virtual or CloudVolume
        Inline, or in a file by its name.
    layout : Layout
    size_bytes : int or None
        Part that the cache uses; None: all of it.
    """

    drive: Member
    layout: Layout
    size_bytes: Bytes | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _with_layout(cls, data: Any) -> Any:
        """Take level and disks beside the drive, as an array has them; one drive where there is nothing of them."""
        if not isinstance(data, Mapping) or "layout" in data:
            return data
        own = {name: data[name] for name in ("level", "disks", "strip") if name in data}
        others = {name: value for name, value in data.items() if name not in own}
        return {**others, "layout": {"level": "jbod", "disks": 1, **own}}

    @property
    def usable_bytes(self) -> int:
        """Bytes that can be cached."""
        whole = _usable(self.drive, self.layout)
        return whole if self.size_bytes is None else min(self.size_bytes, whole)

    @property
    def is_mirrored(self) -> bool:
        """Whether it survives the loss of one of its drives."""
        return self.layout.kind.is_redundant

    @property
    def title(self) -> str:
        """Drives and level: "2 × Micron 7450 PRO 1.92 TB in raid1"."""
        n = self.layout.disks
        return self.drive.name if n == 1 else f"{n} × {self.drive.name} in {self.layout.level}"


def _usable(drive: Any, layout: Layout) -> int:
    sector: int = drive.sector_bytes
    return int(layout.tables(drive.capacity_bytes // sector, sector, None).capacity) * sector


class CachedVolume(System):
    """An array behind a cache on SSDs. To the host it is one volume.

    Attributes
    ----------
    drive : Hdd, Flash, Virtual or CloudVolume
        Of the array that is cached; inline, or in a file by its name.
    layout : Layout
        Of that array.
    cache : Cache
    software : "bcache", "dm-cache", "dm-writecache" or "open-cas"
        Its defaults are those of `POLICIES`.
    mode : "writethrough", "writeback", "writearound" or "none"
        "none": everything passes by the cache, as when its device is lost. None: the program's default.
    unit_bytes : int or None
        What is cached at a time: of dm-cache the block ("chunk size"), of Open CAS the line. None: as the
        program does.
    dirty_ratio : float or None
        Share of the cache that is kept dirty: `writeback_percent` of bcache, between the watermarks of dm-writecache.
    sequential_cutoff_bytes : int or None
        Length from which a run of requests in order passes by; 0: never. None: the program's default.
    flush_ns : int or None
        What a flush of the array behind takes, with nothing in its disks' caches: every sync waits for one. None: 200
        us of SATA disks, a command without an access, else what a flush of that array takes.
    warm_ratio : float
        Share of what it holds after a long time of the load that it holds at first: 0 of a cold cache. Nothing is
        dirty beyond the same share.
    is_dirty : bool or None
        Whether it is full of dirty data at first, as after a burst of writes. None: if the load makes it so.
    slowness : tuple of 2 float
        Logarithms of the factors by which the array and the cache are slower: draws of what is not known set them.
    """

    members: ClassVar[tuple[str, ...]] = ("drive", "cache.drive")
    part: ClassVar[str] = "disk"
    unknowns_called: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"flash times": "array behind the cache", "latency of writes": "drives of the cache"}
    )
    slower_than_rated: ClassVar[str] = "what misses the cache waits for the array behind it"
    troubles: ClassVar[tuple[Trouble, ...]] = TROUBLES
    own_effort: ClassVar[OwnEffort | None] = OwnEffort(50e-6, 256_000)

    kind: Literal["cached"] = "cached"
    drive: Member
    layout: Layout
    cache: Cache
    software: Annotated[Literal["bcache", "dm-cache", "dm-writecache", "open-cas"], BeforeValidator(_software)] = (
        "bcache"
    )
    mode: Annotated[Mode, BeforeValidator(_mode)] | None = None
    unit_bytes: Annotated[Length, Field(ge=4096, le=1 << 30)] | None = None
    dirty_ratio: Annotated[Ratio, Field(gt=0, lt=1)] | None = None
    sequential_cutoff_bytes: Length | None = None
    flush_ns: Annotated[Nanoseconds, Field(ge=0, le=10**9)] | None = None
    warm_ratio: Ratio = 1.0
    is_dirty: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _named_and_sized(cls, data: Any) -> Any:
        """Give the volume its name and its capacity, which follow from the rest."""
        if not isinstance(data, Mapping):
            return data
        return {"name": "cached array", **sizes_to_be(data), **data}

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, layout in (("layout", self.layout), ("cache.layout", self.cache.layout)):
            if layout.is_cached_in_memory:
                raise ValueError(
                    f"{name}.level={layout.level!r}: a pool of OpenZFS has a cache of its own; write for example "
                    '"2x6 seagate-exos-x18 raidz2, cache on micron-7450-pro-1920"'
                )
            if layout.rebuild is not None:
                raise ValueError(
                    f"{name}.rebuild: is not modeled beside a cache on SSDs; leave it out to ask about the failed disk "
                    "behind the cache, and ask about the rebuild in the array alone, without cached_by"
                )
        if self.mode is not None and self.mode not in self.policy.modes:
            raise ValueError(
                f"mode={self.mode!r}: {self.policy.title} has {', '.join(self.policy.modes)}; use one of them"
            )
        if self.dirty_ratio is not None and not self.is_written_back:
            raise ValueError('dirty_ratio: nothing is dirty in this mode; remove it, or set mode = "writeback"')
        if self.is_dirty is not None and not self.is_written_back:
            raise ValueError('is_dirty: nothing is dirty in this mode; remove it, or set mode = "writeback"')
        if self.is_dirty and self.warm_ratio < 1:
            raise ValueError("is_dirty: a cache that is full of dirty data is not cold; remove it, or warm_ratio")
        usable = _usable(self.drive, self.layout)
        if self.cache.usable_bytes < self.least_cache_bytes:
            raise ValueError(
                f"cache.size: has room for fewer than {_LEAST_UNITS} units of {self.unit} bytes; enlarge it"
            )
        if self.cache.drive.has_arms:
            raise ValueError("cache.drive: is a hard disk, which is no faster than what it caches; use a flash drive")
        object.__setattr__(self, "sector_bytes", self.drive.sector_bytes)
        object.__setattr__(self, "capacity_bytes", usable)
        object.__setattr__(self, "mttf_hours", self._loss_hours)
        if self.name == "cached array":
            object.__setattr__(self, "name", self.title)
        return self

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which fields are read only beside others."""
        return {
            "unit_bytes": Reader(
                "dm-cache and Open CAS", lambda array: array.drive.software in ("dm-cache", "open-cas")
            ),
        }

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield its own fields that nothing reads: those of its drives are read where each stands alone."""
        readers = self.readers()
        for name in sorted(readers.keys() & self.model_fields_set):
            default = type(self).model_fields[name].get_default(call_default_factory=True)
            if getattr(self, name) != default and not readers[name].does(whole):
                yield path + name, readers[name].who

    @classmethod
    def of_words(cls, words: str, of_array: Callable[[str], Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return the fields of the volume that words describe: "…, cached by micron-7450-pro-1920 (bcache)"."""
        return cached_of_words(words, of_array) if is_cached(words) else None

    array_key: ClassVar[str] = "cached_by"

    @classmethod
    def of_array(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the volume that an array with `cached_by` is cached in."""
        return behind_a_cache(data)

    planned_by: ClassVar[str] = "diskmodel.plan.caches.asked:asked"

    # ------------------------------------------------------------------ what it does
    @property
    def policy(self) -> Policy:
        """What its program does."""
        return POLICIES[self.software]

    @property
    def write_mode(self) -> Mode:
        """Its mode, or the program's default."""
        return self.mode or self.policy.modes[0]

    @property
    def is_written_back(self) -> bool:
        """Whether writes are answered that are in the cache alone."""
        return self.write_mode == "writeback"

    @property
    def unit(self) -> int:
        """Bytes that are cached at a time."""
        return self.unit_bytes or unit_bytes(self.policy, self.cache.usable_bytes)

    @property
    def passes_all(self) -> bool:
        """Whether it does nothing."""
        return self.write_mode == "none"

    @property
    def least_cache_bytes(self) -> int:
        """Size below which a cache is refused."""
        return _LEAST_UNITS * self.unit

    @property
    def dirty_target(self) -> float:
        """Share of the cache that is dirty while as much is cleaned as becomes dirty."""
        return self.dirty_ratio or self.policy.dirty_ratio

    @property
    def most_dirty(self) -> float:
        """Share of the cache that is dirty at most."""
        return max(self.policy.most_dirty_ratio, self.dirty_target)

    @property
    def bypass_bytes(self) -> int:
        """Length from which a run of requests in order passes by; 0: never."""
        given = self.sequential_cutoff_bytes
        return self.policy.bypass_bytes if given is None else given

    @property
    def behind_flush_ns(self) -> int:
        """What a flush of the array behind takes that is no access; 0 where that array is asked for one."""
        usual = _FLUSH_NS * (self.drive.has_arms and self.drive.is_sold_with_cache_on)
        return usual if self.flush_ns is None else self.flush_ns

    @property
    def title(self) -> str:
        """All of it: "12 × Exos X18 in raid6, cached by 2 × 7450 PRO in raid1 (bcache writeback)"."""
        n = self.layout.disks
        behind = self.drive.name if n == 1 else f"{n} × {self.drive.name} in {self.layout.level}"
        return f"{behind}, cached by {self.cache.title} ({self.policy.title} {self.write_mode})"

    @property
    def risk(self) -> str:
        """What the loss of a drive of the cache costs; "" where nothing."""
        if not self.is_written_back or self.cache.is_mirrored:
            return ""
        share = self.cache.layout.disks * _HOURS_A_YEAR / (self.cache.drive.mttf_hours or _USUAL_MTTF_HOURS)
        most = nominal_bytes(int(self.cache.usable_bytes * self.dirty_target))
        which = "its drive" if self.cache.layout.disks == 1 else "one of its drives"
        return (
            f"about {most} of writes are in the cache alone: when {which} fails ({share:.1%} a year), they are lost, "
            "and with them the file systems of the volume; mirror the cache, or use writethrough"
        )

    @property
    def _loss_hours(self) -> float:
        """Mean time until the cache loses writes; of other modes until one of its drives fails, which loses none."""
        fails = 1 / (self.cache.drive.mttf_hours or _USUAL_MTTF_HOURS)
        n = self.cache.layout.disks
        if not self.is_written_back:
            return 1e15
        if not self.cache.is_mirrored:
            return 1 / (n * fails)
        # a day until the failed drive has been replaced
        return 1 / (n * fails * (n - 1) * fails * 24)

    # ------------------------------------------------------------------ the card
    @property
    def speed_class(self) -> str:
        """Its kind."""
        return self.kind

    @property
    def rated_iops(self) -> float:
        """Reads of 4 KiB of its cache, all of which hit."""
        return float(self.cache.drive.rated_iops) * self.cache.layout.disks

    @property
    def sequential_bytes_per_s(self) -> float:
        """Rate of a long transfer, which passes by the cache."""
        return float(self.drive.sequential_bytes_per_s) * max(self.layout.disks - self.layout.parity_strips, 1)

    @property
    def cache_bytes(self) -> int:
        """What can be cached."""
        return self.cache.usable_bytes

    def without_cache(self) -> dict[str, Any]:
        """Return the array behind alone, its disks' own caches off as they are here (rule J4)."""
        return {"drive": self.drive, "layout": self.layout, "drive_write_cache": False}

    def broken(self) -> Self | None:
        """Return the volume whose array lacks a disk; None where that cannot be."""
        if self.layout.failed or not self.layout.kind.is_redundant:
            return None
        layout = self.layout.model_copy(update={"failed": (0,)})
        return self.model_copy(update={"layout": layout})

    @property
    def doubt(self) -> str:
        """What a failed drive of the cache loses."""
        return self.risk

    @property
    def spread_class(self) -> str:
        """Caches whose drives are safe at once, and others."""
        safe = getattr(self.cache.drive, "power_loss_protected", True)
        return "cached" if safe else "cached-flushing"

    def derived(self) -> dict[str, float]:
        """Return what follows from the description."""
        return {"cache_bytes": float(self.cache.usable_bytes), "unit_bytes": float(self.unit)}

    def facts(self) -> list[tuple[str, str]]:
        """Return what it is made of."""
        found = [
            ("array", f"{self.layout.disks} × {self.drive.name} in {self.layout.level}"),
            ("cache", f"{self.cache.title}, {nominal_bytes(self.cache.usable_bytes)}"),
            ("program", f"{self.policy.title}, {self.write_mode}, by {self.unit // 1024} KiB"),
        ]
        if self.is_written_back:
            found.append(("dirty", f"{self.dirty_target:.0%} of the cache"))
        if self.warm_ratio < 1:
            found.append(("at first", f"it holds {self.warm_ratio:.0%} of what it will hold"))
        if self.is_dirty:
            found.append(("at first", "it is full of dirty data"))
        if self.bypass_bytes:
            found.append(("passes by", f"runs in order from {self.bypass_bytes >> 20} MiB on"))
        return found

    def tables(self) -> CachedTables:
        """Return the tables for the engine."""
        return CachedTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            queue_depth=self.accepted_commands,
            volume=self,
        )
