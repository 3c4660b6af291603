"""What the engine of caches reads of an array behind one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from diskmodel.drive.tables_card import DriveTables
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.drive.cached.description import CachedVolume


@dataclass(frozen=True, eq=False)
class CachedTables(DriveTables):
    """An array behind a cache as the host sees it, and its description for the engine that has both.

    Attributes
    ----------
    sector_bytes, n_sectors, queue_depth : int
        Of the whole as one volume.
    volume : CachedVolume
    """

    kind: ClassVar[str] = "cached"
    own_engine: ClassVar[str] = "diskmodel.engine.cached.run:run"
    own_start: ClassVar[str] = "diskmodel.engine.cached.trial:steady"

    sector_bytes: int
    n_sectors: int
    queue_depth: int
    volume: CachedVolume

    @property
    def has_draws(self) -> bool:
        """It draws what its cache holds."""
        return True
