"""The host between a workload and the array's controller: processor time of requests, read-ahead and page cache."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.host.assumed import HOSTS
    from diskmodel.host.description import Host, HostKind
    from diskmodel.host.limit import BOUND_RATIO, host_limit, left_out
    from diskmodel.host.pages import Pages
    from diskmodel.host.pauses import Pauses, draw_pauses
    from diskmodel.host.read_ahead import ReadAhead
    from diskmodel.host.tables import HostTables, PageCacheTables

__getattr__ = face(
    __name__,
    {
        "assumed": "HOSTS",
        "description": "Host HostKind",
        "limit": "BOUND_RATIO host_limit left_out",
        "pages": "Pages",
        "pauses": "Pauses draw_pauses",
        "read_ahead": "ReadAhead",
        "tables": "HostTables PageCacheTables",
    },
)
