"""What the engine of clusters reads of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from diskmodel.drive.tables_card import DriveTables
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.drive.cluster.description import ClusterPool


@dataclass(frozen=True, eq=False)
class ClusterTables(DriveTables):
    """A pool of a cluster as the host sees it, and its description for the engine that has its stations.

    Attributes
    ----------
    sector_bytes, n_sectors, queue_depth : int
        Of the pool as one volume.
    pool : ClusterPool
    """

    kind: ClassVar[str] = "cluster"
    own_engine: ClassVar[str] = "diskmodel.engine.cluster.run:run"

    sector_bytes: int
    n_sectors: int
    queue_depth: int
    pool: ClusterPool
