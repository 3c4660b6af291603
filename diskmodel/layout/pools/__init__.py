"""Pools of OpenZFS: where records lie, and how a pool reads, writes, logs and scans."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.layout.pools.assumed import VOLUME_RECORD_BYTES
    from diskmodel.layout.pools.cache_devices import CacheDevice
    from diskmodel.layout.pools.free_space import Space, commands_of, write_pieces
    from diskmodel.layout.pools.l2arc import HEADER_BYTES, Devices, L2arc, Region
    from diskmodel.layout.pools.log_blocks import Lengths
    from diskmodel.layout.pools.own_drives import ClassTables, class_tables, slabs_of_a_drive
    from diskmodel.layout.pools.records import width_of
    from diskmodel.layout.pools.scan import Stretch, new_disk_of, scanned_vdevs
    from diskmodel.layout.pools.streams import Stream, Streams
    from diskmodel.layout.pools.tables import vdevs_of

__getattr__ = face(
    __name__,
    {
        "assumed": "VOLUME_RECORD_BYTES",
        "cache_devices": "CacheDevice",
        "free_space": "Space commands_of write_pieces",
        "l2arc": "Devices HEADER_BYTES L2arc Region",
        "log_blocks": "Lengths",
        "own_drives": "ClassTables class_tables slabs_of_a_drive",
        "records": "width_of",
        "scan": "Stretch new_disk_of scanned_vdevs",
        "streams": "Stream Streams",
        "tables": "vdevs_of",
    },
)
