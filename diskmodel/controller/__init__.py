"""The RAID controller: caches and the link to the host."""

from typing import TYPE_CHECKING

from diskmodel.controller.description import DESTAGES, DESTAGES_FACTOR, Controller, ReadCache, WriteCache
from diskmodel.naming import face

__all__ = ["DESTAGES", "DESTAGES_FACTOR", "Controller", "ReadCache", "WriteCache"]

if TYPE_CHECKING:
    from diskmodel.controller.arc import ZfsArc
    from diskmodel.controller.block_cache import POLICIES, BlockCache
    from diskmodel.controller.catalogue import NamedController, load_controller, machine_of, profile_of
    from diskmodel.controller.dirty_blocks import DirtyBlocks, Lanes
    from diskmodel.controller.tables import CacheTables

__getattr__ = face(
    __name__,
    {
        "arc": "ZfsArc",
        "block_cache": "BlockCache POLICIES",
        "catalogue": "NamedController load_controller machine_of profile_of",
        "dirty_blocks": "DirtyBlocks Lanes",
        "tables": "CacheTables",
    },
)
