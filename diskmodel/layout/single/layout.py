"""The layout of a disk on its own: as of an array, whose fields for several disks do nothing."""

from __future__ import annotations

from diskmodel.layout.levels import RaidLevel
from diskmodel.layout.md.layout import Md
from diskmodel.layout.single.tables import SingleTables, single_tables


class Single(Md):
    """One disk, with nothing before it that spreads requests."""

    @classmethod
    def takes(cls, level: RaidLevel, disks: int | None) -> bool:
        return disks == 1 and super().takes(level, disks)

    def tables(
        self, disk_sectors: int, sector_bytes: int, cache_bytes: int | None = None, *, rotates: bool = True
    ) -> SingleTables:
        return single_tables(self, disk_sectors, sector_bytes)
