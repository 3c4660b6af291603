"""A host in whole numbers, as both engines read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from diskmodel.host.description import Host


@dataclass(frozen=True)
class HostTables:
    """Processor time of a request, and how reads are buffered (rules H1 to H3).

    Attributes
    ----------
    submission_ns : int
    is_buffered : bool
    read_ahead_sectors, largest_request_sectors, page_sectors : int
    """

    submission_ns: int
    is_buffered: bool
    read_ahead_sectors: int
    largest_request_sectors: int
    page_sectors: int

    @classmethod
    def of(cls, host: Host, sector_bytes: int) -> Self:
        """Tables of a host over an array of such sectors."""
        return cls(
            submission_ns=host.submission_ns,
            is_buffered=host.is_buffered,
            read_ahead_sectors=host.read_ahead_bytes // sector_bytes,
            largest_request_sectors=max(host.largest_request_bytes // sector_bytes, 1),
            page_sectors=max(host.page_bytes // sector_bytes, 1),
        )
