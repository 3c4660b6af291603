"""Description of a media cache."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.drive.media_cache.tables import MediaCacheTables
from diskmodel.units import Bytes, Nanoseconds, pretty_bytes

#: Time without work after which a drive begins to clean. Assumed where a profile gives none: shingled drives of 5 and
#: 8 TB were found to wait about 1.2 s (A. Aghayev, P. Desnoyers, "Skylight: a window on shingled disk operation",
#: FAST 2015).
TYPICAL_IDLE_NS = 1_200_000_000
#: Length of a sequential run from which on a drive without bands writes in place. Assumed: the largest request that
#: most hosts send.
TYPICAL_RUN_BYTES = 1 << 20
#: Writes that a drive without bands reads back together, and writes in order of place. Assumed; four times as many
#: shorten the seeks between them by 0.2 ms.
TYPICAL_BATCH = 1024


class MediaCache(Description):
    """A log on the platters that takes short writes until they are cleaned.

    Attributes
    ----------
    size_bytes : int
        Room of the log.
    band_bytes : int, optional
        Shingled tracks that are written only together, from their beginning. Without it any place can be written anew,
        as on a conventional drive.
    max_extents : int
        Pieces of data whose places in the log the drive can remember.
    idle_ns : int
        Time without work after which the drive begins to clean.
    run_bytes : int, optional
        Length of a sequential run of writes from which on they go in place; default: a band, or 1 MiB without bands.
    place_ratio : float
        Where the log begins: 0 at the outer edge, 0.5 behind the first half of the blocks.
    """

    size_bytes: Annotated[Bytes, Field(gt=0)]
    band_bytes: Annotated[Bytes, Field(gt=0)] | None = None
    max_extents: Annotated[int, Field(ge=1, le=1 << 24)]
    idle_ns: Nanoseconds = TYPICAL_IDLE_NS
    run_bytes: Annotated[Bytes, Field(gt=0)] | None = None
    place_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _runs_fit(self) -> Self:
        if self.run_length_bytes > self.size_bytes:
            raise ValueError(
                f"run_bytes={self.run_length_bytes}: what is shorter must fit into the cache of "
                f"{pretty_bytes(self.size_bytes)}; enlarge size_bytes, or lower run_bytes or band_bytes"
            )
        return self

    @property
    def run_length_bytes(self) -> int:
        """Length of a run that goes in place, given or from the band."""
        return self.run_bytes or self.band_bytes or TYPICAL_RUN_BYTES

    def tables(self, *, sector_bytes: int, arm_sectors: int, actuators: int) -> MediaCacheTables:
        """Return the tables of one arm with so many blocks; each arm has an equal part of log and map.

        Raises
        ------
        ValueError
            When the log, and room for a band behind it, does not fit on the arm's blocks.
        """
        log, band = self.size_bytes // sector_bytes // actuators, -(-(self.band_bytes or 0) // sector_bytes)
        run = -(-self.run_length_bytes // sector_bytes)
        first = int(arm_sectors * self.place_ratio)
        if first + log + band > arm_sectors:
            raise ValueError(
                f"media_cache.size_bytes={self.size_bytes}: the log, and a band behind it, do not fit on the drive; "
                "lower size_bytes or place_ratio"
            )
        if run > log:
            raise ValueError(
                f"media_cache.size_bytes={self.size_bytes}: each arm's part must hold a run of "
                f"{pretty_bytes(run * sector_bytes)}; enlarge it, or lower run_bytes or band_bytes"
            )
        return MediaCacheTables(
            first_sector=first,
            log_sectors=log,
            band_sectors=band,
            max_extents=max(self.max_extents // actuators, 1),
            idle_ns=self.idle_ns,
            run_sectors=run,
            batch_extents=TYPICAL_BATCH,
        )
