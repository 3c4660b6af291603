"""Tables of a media cache for the engines: integers only."""

from __future__ import annotations

from typing import NamedTuple


class MediaCacheTables(NamedTuple):
    """The media cache of one arm; blocks count from the arm's first.

    Attributes
    ----------
    first_sector : int
        Block at which the log begins. What is copied during a cleaning lies right behind the log.
    log_sectors : int
    band_sectors : int
        0: there are no bands, and any place can be written anew.
    max_extents : int
    idle_ns : int
    run_sectors : int
        Length of a sequential run from which on writes go in place.
    batch_extents : int
        Extents that are written back together where there are no bands.
    """

    first_sector: int
    log_sectors: int
    band_sectors: int
    max_extents: int
    idle_ns: int
    run_sectors: int
    batch_extents: int
