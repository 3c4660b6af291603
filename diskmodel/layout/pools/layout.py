"""The layout of a pool of OpenZFS: its card, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.auxiliary_devices import ONLY_OF_JOURNALS
from diskmodel.layout.card import Groups
from diskmodel.layout.description import Layout
from diskmodel.layout.fields import DiskFields, LevelFields
from diskmodel.layout.levels import KINDS, RaidLevel
from diskmodel.layout.passes import ONLY_OF_MD, Rebuild
from diskmodel.layout.pools.assumed import left_out, record_of_volumes
from diskmodel.layout.pools.cache_devices import l2arc_tables, slots_of
from diskmodel.layout.pools.fields import ONLY_OF_POOLS, USUAL_RECORD_BYTES, PoolFields
from diskmodel.layout.pools.l2arc import HEADER_BYTES
from diskmodel.layout.pools.scan import stored_sectors
from diskmodel.layout.pools.scan_tables import USUAL_USED_RATIO
from diskmodel.layout.pools.special import metadata_bytes, special_problem
from diskmodel.layout.pools.special import used_ratio as used_ratio_of
from diskmodel.layout.pools.tables import VdevTables, pool_tables, vdevs_of
from diskmodel.layout.shape import MAX_VDEV_DISKS
from diskmodel.layout.tables import LayoutTables
from diskmodel.units import in_hours_or_days, nominal_bytes, pretty_bytes

_OF_POOLS = frozenset((*LevelFields.model_fields, *DiskFields.model_fields, *PoolFields.model_fields))
#: Why pools do not have some of the others.
_WHY_NOT_IN_POOLS = {
    "copies": "a mirror has a copy on every disk of its vdev: say how many vdevs",
    "groups": "the groups of a pool are its vdevs: use vdevs",
    "n_parity": "is implied by raidz1, draid2 and the like",
    "strip_bytes": "a pool has no strips: its records have record_bytes",
}


class Pool(Layout):
    """Vdevs of OpenZFS."""

    in_words: ClassVar[str] = "pools of OpenZFS"
    usual: ClassVar[str] = "raidz2"
    only: ClassVar[tuple[str, ...]] = ONLY_OF_POOLS
    has_strips: ClassVar[bool] = False
    read_cache_name: ClassVar[str] = "ARC"
    is_cached_in_memory: ClassVar[bool] = True
    has_own_queue: ClassVar[bool] = True
    rebuild_name: ClassVar[str] = "resilver"
    rebuilt_by: ClassVar[str] = "resilver by OpenZFS"
    rebuilds: ClassVar[str] = "OpenZFS resilvers"
    faster_beside: ClassVar[str] = (
        "higher values of zfs_resilver_min_time_ms, zfs_vdev_scrub_min_active and zfs_vdev_nia_credit of OpenZFS speed "
        "it up, while requests wait longer"
    )
    rebuilds_whole_disks: ClassVar[bool] = False
    writes_in_place: ClassVar[bool] = False
    reads_between: ClassVar[bool] = True
    steps_have_pages: ClassVar[bool] = True
    usual_levels: ClassVar[tuple[str, ...]] = ("mirror", "raidz1", "raidz2")  # as advised, and in its presets
    usual_used_ratio: ClassVar[float] = USUAL_USED_RATIO
    slower_than_rated: ClassVar[str] = "seek and rotation of the drive"
    other_operations: ClassVar[str] = "a read takes the data columns of a record, whose other disks are free"
    # ServeTheHome, WD Red SMR vs CMR tested, 2020: RAID-Z1 of four disks of 4 TB
    no_hours_of_shingled: ClassVar[str] = (
        "how long shingled drives (SMR) take to be resilvered is not predicted: OpenZFS writes short pieces out of "
        "order, which fill the drive's media cache, and bands are rewritten several times; measured were more than "
        "nine days where conventional disks took 16 hours. Linux md rebuilds in order, band by band"
    )

    @classmethod
    def takes(cls, level: RaidLevel, disks: int | None) -> bool:
        return level.is_pool

    def field_problem(self) -> str | None:
        defaults = {name: field.default for name, field in type(self).model_fields.items() if name not in _OF_POOLS}
        for name, default in defaults.items():
            if name in self.model_fields_set and getattr(self, name) != default:
                why = _WHY_NOT_IN_POOLS.get(name, "is a setting of RAID, which a pool does not have")
                return f"{name}: {why}; remove it"
        if self.cache is not None and self.cache.all_bytes < self.pool_record_bytes:
            rule = f"has no room for a record of {self.pool_record_bytes} bytes"
            return f"cache.size_bytes={self.cache.size_bytes}: {rule}; use a larger device, or smaller records"
        for name in ONLY_OF_JOURNALS:
            if self.log is not None and getattr(self.log, name):
                return f"log.{name}={getattr(self.log, name)}: belongs to the journal of Linux md; remove it"
        record = self.pool_record_bytes
        if self.special is not None and self.special.small_blocks_bytes >= record:
            given = f"special.small_blocks_bytes={self.special.small_blocks_bytes}"
            fix = "use less, or describe a pool of the special vdev's devices"
            return f"{given}: would put all records of {record} bytes on the special vdev; {fix}"
        if record & (record - 1):
            return f"record_bytes={record}: must be a power of two; try {1 << record.bit_length() - 1}"
        if record < self.block_bytes:
            return (
                f"record_bytes={record}: less than a block of ashift={self.pool_ashift}; use {self.block_bytes} or more"
            )
        return None

    def rebuild_problem(self, rebuild: Rebuild) -> str | None:
        if problem := self._order_problem(rebuild):
            return problem
        if rebuild.action == "resync":
            return "rebuild.action='resync': is a pass of Linux md, not of OpenZFS; use 'check' for a scrub"
        for name in ONLY_OF_MD:
            if getattr(rebuild, name) != type(rebuild).model_fields[name].default:
                return f"rebuild.{name}={getattr(rebuild, name)}: is a setting of Linux md, not of OpenZFS; remove it"
        return None

    def _order_problem(self, rebuild: Rebuild) -> str | None:
        """Return why a pass over a pool cannot go in the order that it asks for."""
        given = f"rebuild.sequential={rebuild.sequential}"
        if rebuild.sequential is None:
            return None
        if rebuild.action != "recover":
            return f"{given}: a scrub has no other order; remove it"
        if rebuild.sequential and not self.kind.has_fixed_rows:
            return f"{given}: rows of RAID-Z have no fixed width, so only records show what is missing; remove it"
        if not rebuild.sequential and self.spare_places:
            return f"{given}: OpenZFS fills a distributed spare in order; remove it, or distributed_spares"
        return None

    def tables(
        self, disk_sectors: int, sector_bytes: int, cache_bytes: int | None = None, *, rotates: bool = True
    ) -> VdevTables:
        tables = pool_tables(self, disk_sectors, sector_bytes, rotates=rotates)
        if self.cache is None or cache_bytes is None:
            return tables
        l2arc = l2arc_tables(self.cache, self.pool_record_bytes, cache_bytes)
        return replace(tables, pool=replace(tables.pool, l2arc=l2arc))

    def problem_in(self, array: Any) -> str | None:
        level, queue = self.level, array.queue
        if queue != type(queue)():
            return f"queue: above each disk of {level} is the queue of OpenZFS; remove queue"
        if array.controller.write_cache is not None:
            fix = "remove it; writes of programs are collected in memory, up to layout.dirty_data_max"
            return f"controller.write_cache: in front of {level} there is none; {fix}"
        if array.controller.read_ahead_bytes:
            return f"controller.read_ahead_bytes: {level} reads ahead by itself (rule X18); remove it"
        read, record = array.controller.read_cache, self.pool_record_bytes
        if read is not None and read.block_bytes not in (type(read).model_fields["block_bytes"].default, record):
            fix = f"remove it, or write {pretty_bytes(record)}"
            return f"controller.read_cache.block_bytes={read.block_bytes}: the ARC keeps records of the pool; {fix}"
        if (problem := self._cache_device_problem(read)) is not None:
            return problem
        if read is not None and read.policy == "2q":
            return "controller.read_cache.policy='2q': the cache of OpenZFS is an ARC; remove it"
        if array.host.page_cache is not None:
            fix = "remove page_cache; its size belongs into controller.read_cache"
            return f"host.page_cache: in front of {level} is the cache of OpenZFS; {fix}"
        if array.drive.zones_in_order is not None:
            return f"drive: {level} cannot write zones in order; use another drive"
        if self.special is None:
            return None
        fault = self.room_problem(array.tables(), array.drive.sector_bytes)
        return None if fault is None else str(fault)

    def _cache_device_problem(self, read: Any) -> str | None:
        """Return why the pool cannot have cache devices; None where it has none, or can."""
        if self.cache is None:
            return None
        if read is None or read.size_bytes is None:
            fix = 'add the size of the ARC, for example "64GiB read cache" or controller.read_cache.size = "64 GiB"'
            return f"layout.cache: what comes onto a cache device follows from the size of the ARC; {fix}"
        if not self.cached_records(read.size_bytes) or not self._arc_bytes(read.size_bytes):
            least = pretty_bytes(4 * self.pool_record_bytes)
            return f"controller.read_cache.size_bytes={read.size_bytes}: has no room for a record; use {least} or more"
        return None

    def room_problem(self, tables: LayoutTables, sector_bytes: int, used: float | None = None) -> Fault | None:
        return special_problem(self, vdevs_of(tables), sector_bytes, used)

    def cached_records(self, cache_bytes: int) -> int:
        return 0 if self.cache is None else slots_of(self.cache, self.pool_record_bytes, cache_bytes)

    def _arc_bytes(self, cache_bytes: int) -> int:
        """Return what an ARC of that size has for records, without the headers of those on cache devices."""
        record = self.pool_record_bytes
        return (cache_bytes - HEADER_BYTES * self.cached_records(cache_bytes)) // record * record

    def read_cache_fields(self, cache_bytes: int) -> dict[str, Any]:
        """Return the fields of the ARC, whose blocks are records (rule K16)."""
        fields: dict[str, Any] = {"block_bytes": self.pool_record_bytes, "policy": "zfs-arc"}
        if self.cached_records(cache_bytes):
            fields["size_bytes"] = self._arc_bytes(cache_bytes)
        return fields

    @classmethod
    def level_in_words(cls, level: str) -> str:
        vdev = level.upper().replace("RAIDZ", "RAID-Z").replace("DRAID", "dRAID")
        return f"a pool of {'mirrors' if level == 'mirror' else vdev}"

    @property
    def groups_in_words(self) -> str:
        groups = self.n_groups
        each = f"{self.level_in_words(self.level).removeprefix('a pool of ')} of {self.group_disks}"
        if self.kind.is_distributed:  # as zpool create takes it
            each += f" ({self.level}:{self.data_strips}d:{self.group_disks}c:{self.spare_places}s)"
        return f"a pool of {groups} {each}" if groups > 1 else f"a pool of one {each.replace('mirrors', 'mirror')}"

    @property
    def disks_in_words(self) -> str:
        return f"{self.n_groups} × {self.group_disks}" if self.n_groups > 1 else f"{self.disks}"

    @property
    def pieces_in_words(self) -> str:
        groups = f", groups of {self.data_strips} + {self.parity_strips}" if self.kind.is_distributed else ""
        return f"{groups}, records of {pretty_bytes(self.pool_record_bytes)}"

    @property
    def beside(self) -> tuple[str, ...]:
        several = self.cache is not None and self.cache.count > 1
        devices = (
            (self.log, "a log"),
            (self.special, "a special vdev"),
            (self.cache, "cache devices" if several else "a cache device"),
        )
        return tuple(name for device, name in devices if device is not None)

    def facts(self) -> list[tuple[str, str]]:
        found, special = [], self.special
        if special is not None:
            found.append(("special vdev", f"{special.devices} devices, {special.in_words}"))
        if self.spare_places:
            found.append(("distributed spares", f"{self.spare_places} of each vdev"))
        return found

    def cache_facts(self) -> list[tuple[str, str]]:
        cache = self.cache
        return [] if cache is None else [("cache devices", f"{cache.count} × {nominal_bytes(cache.size_bytes)}")]

    def doubts(self, *, is_throttled: bool) -> tuple[str, ...]:
        if self.kind.is_distributed:
            # published_arrays.toml, draid-90hdd-16tb-resilver: rates of the model are 21 to 73 % higher
            return (
                "no measurement of dRAID under load is at hand: its figures follow OpenZFS's source; published "
                "resilvers onto distributed spares took a fifth to three quarters longer than the model's",
            )
        if self.is_rebuilt_in_order:
            return ("no measurement of a sequential resilver is at hand: its hours follow OpenZFS's source alone",)
        return ()

    def doubts_of_devices(self, tables: LayoutTables) -> tuple[str, ...]:
        return self._doubt_about_special, self._doubt_about_cache_device(tables)

    @property
    def _doubt_about_special(self) -> str:
        """That nothing measured what a special vdev changes, and how few of its devices may fail; "" without one."""
        special = self.special
        if special is None:
            return ""
        survives = self.parity_strips or self.n_copies - 1
        weak = ""
        if special.devices - 1 < survives:
            weak = (
                f"; the pool is lost with {special.devices} of its devices, and else only with {survives + 1} disks of "
                "a vdev: zpool wants -f for that, or a wider mirror"
            )
        return (
            "what a special vdev takes off the disks was not compared with a measurement: it follows OpenZFS's source, "
            f"and all metadata that is read is taken to be in memory{weak}"
        )

    def _doubt_about_cache_device(self, tables: LayoutTables) -> str:
        """Return that nothing measured what cache devices do, and how long they take to be of use; "" without any."""
        pool = vdevs_of(tables).pool
        if pool.l2arc is None:
            return ""
        hours = in_hours_or_days(pool.l2arc.slots / pool.l2arc.feed_per_s / 3600)
        return (
            "no measurement of cache devices is at hand: they follow OpenZFS's source, and have what they have after a "
            f"long time of this load; OpenZFS takes {hours} at least to fill them"
        )

    def left_out(self, array: Any, *, has_writes: bool, has_syncs: bool) -> tuple[str, ...]:
        return left_out(self, array, has_writes=has_writes, has_syncs=has_syncs)

    def for_use(self, longest_bytes: int) -> dict[str, Any]:
        return record_of_volumes(self, longest_bytes=longest_bytes)

    def for_files(self) -> dict[str, Any]:
        return {"record_bytes": USUAL_RECORD_BYTES}

    @property
    def busy_together(self) -> float | None:
        return self.group_disks / self.groups_at_once

    @property
    def narrow_data(self) -> int | None:
        return self.data_strips if self.kind.is_distributed else None

    def waits_for_several(self, longest_bytes: int, *, has_writes: bool) -> bool:
        # a record, or several, or one that a read touches in part
        return self.parity_strips > 0 or longest_bytes > self.pool_record_bytes

    @classmethod
    def rebuild_of(cls, level: RaidLevel, rebuild: Rebuild, used_ratio: float | None) -> Rebuild:
        return rebuild.of_pool(level, used_ratio)

    @property
    def step_bytes(self) -> int:
        return self.pool_record_bytes

    @property
    def is_scrubbed(self) -> bool:
        return self.rebuild is not None and self.rebuild.action == "check"

    def rebuilt_bytes(self, tables: LayoutTables, disk_bytes: int, sector_bytes: int, used_ratio: float | None) -> int:
        full = USUAL_USED_RATIO if self.rebuild is None or self.rebuild.used_ratio is None else None
        stored = stored_sectors(vdevs_of(tables)) * sector_bytes
        return stored if full is None or used_ratio is None else round(stored / full * used_ratio)

    def metadata_bytes(self, tables: LayoutTables, sector_bytes: int, used_ratio: float | None) -> int:
        if self.special is None:
            return 0
        used = used_ratio_of(self, self.special) if used_ratio is None else used_ratio
        return metadata_bytes(vdevs_of(tables), sector_bytes, used)

    @classmethod
    def groups_tried(cls, level: RaidLevel, stated: tuple[int, ...] | None) -> tuple[int, ...]:
        return stated or (1,)

    @classmethod
    def divided(cls, level: str, disks: int, groups: int, asked: Groups) -> tuple[str, int]:
        """Return the level and the fewest equal vdevs; pairs of mirrors, dRAID as wide as it can be."""
        if groups > 1:
            return level, groups
        kind = KINDS[level]
        if kind.is_distributed:
            return level, next(n for n in range(-(-disks // MAX_VDEV_DISKS), disks + 1) if disks % n == 0)
        widest = asked.widest["raidz"] if kind.n_parity else 2
        for vdevs in range(-(-disks // widest), disks // kind.min_disks + 1):
            if disks % vdevs == 0:
                return level, vdevs
        rule = f"do not make equal vdevs of {level} with {kind.min_disks} to {widest} disks"
        raise DescriptionError(Fault("disks", disks, rule, "use another number, or a wider max_group_width.raidz"))

    @classmethod
    def tried(cls, level: str) -> tuple[str, ...]:
        return "record_bytes", "log_devices", "special_devices", "cache_devices"

    @classmethod
    def grouped(cls, groups: int, strip_bytes: int, record_bytes: int) -> dict[str, Any]:
        return {"vdevs": groups} | ({"record_bytes": record_bytes} if record_bytes else {})

    @classmethod
    def taken(cls, level: RaidLevel, stated: Mapping[str, Any]) -> dict[str, Any]:
        found = {name: value for name, value in stated.items() if name in _OF_POOLS}
        if not level.is_distributed:
            found = {name: value for name, value in found.items() if name not in ("data_disks", "distributed_spares")}
        if "log" in found:
            found["log"] = {name: value for name, value in found["log"].items() if name not in ONLY_OF_JOURNALS}
        return found

    @property
    def is_rebuilt_in_order(self) -> bool:
        if self.rebuild is None or self.rebuild.action != "recover":
            return False
        return bool(self.rebuild.sequential or self.spare_places)

    @property
    def groups_at_once(self) -> int:
        if not self.kind.is_distributed:
            return 1
        return (self.group_disks - self.spare_places) // (self.data_strips + self.parity_strips)

    @property
    def loses_data(self) -> bool:
        lost, copies = set(self.failed), self.n_copies
        if self.parity_strips:
            return super().loses_data
        first = range(0, self.disks, copies)
        return any(all(disk in lost for disk in range(at, at + copies)) for at in first)
