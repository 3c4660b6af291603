"""The layout of a pool of OpenZFS: its card, and what it refuses."""

from __future__ import annotations

from typing import ClassVar

from diskmodel.layout.description import DiskFields, Layout, LevelFields
from diskmodel.layout.levels import RaidLevel
from diskmodel.layout.own_devices import ONLY_OF_JOURNALS
from diskmodel.layout.passes import ONLY_OF_MD, Rebuild
from diskmodel.layout.pools.fields import ONLY_OF_POOLS, PoolFields
from diskmodel.layout.pools.tables import pool_tables
from diskmodel.layout.tables import LayoutTables

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

    def tables(self, disk_sectors: int, sector_bytes: int) -> LayoutTables:
        return pool_tables(self, disk_sectors, sector_bytes)

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
