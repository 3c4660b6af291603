"""Zones of a platter, given one by one or derived from data-sheet figures; zones that the host writes in order."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from diskmodel.description import Description
from diskmodel.units import Bytes


class Zone(Description):
    """Adjacent cylinders with the same number of sectors on a track.

    Attributes
    ----------
    cylinders : int
    sectors_per_track : int
    track_skew, cylinder_skew : int
        Offset, in sectors, of the first sector of the next track (next head; first head of the next cylinder), so that
        a sequential transfer reaches it just after the head has moved.
    start_skew : int
        Offset of the zone's first block from the index mark, in sectors.
    spare_sectors_per_track : int
        Last sectors of each track, which store no blocks; fewer than it has.
    spare_sectors_per_cylinder : int
        Last sectors of each cylinder beside those, which store no blocks.
    """

    cylinders: Annotated[int, Field(ge=1, le=1 << 40)]
    sectors_per_track: Annotated[int, Field(ge=1, le=1 << 20)]
    track_skew: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    cylinder_skew: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    start_skew: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    spare_sectors_per_track: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    spare_sectors_per_cylinder: Annotated[int, Field(ge=0, le=1 << 26)] = 0

    def sectors_per_cylinder(self, heads: int) -> int:
        """Return the blocks of a cylinder."""
        return heads * (self.sectors_per_track - self.spare_sectors_per_track) - self.spare_sectors_per_cylinder


class WriteZones(Description):
    """Zones of a host-managed shingled drive: the host writes each from its beginning on, at its write pointer.

    Attributes
    ----------
    size_bytes : int
    conventional : int
        Number of zones, the first ones of the drive, that can be written anywhere.
    max_open : int
        Zones that the drive keeps open at once. A host that writes to more of them makes it close and open zones.
    """

    size_bytes: Annotated[Bytes, Field(gt=0)] = 256 << 20
    conventional: Annotated[int, Field(ge=0)] = 0
    max_open: Annotated[int, Field(ge=1, le=1 << 20)] = 128

    @property
    def first_byte(self) -> int:
        """Where the zones begin that are written in order."""
        return self.conventional * self.size_bytes

    def check(self, capacity_bytes: int, sector_bytes: int) -> None:
        """Zones fit the drive.

        Raises
        ------
        ValueError
            When they do not.
        """
        if self.size_bytes % sector_bytes:
            raise ValueError(
                f"write_zones.size_bytes={self.size_bytes}: must be a multiple of the sector size {sector_bytes}; "
                'write for example "256 MiB"'
            )
        if self.first_byte >= capacity_bytes:
            raise ValueError(
                f"write_zones.conventional={self.conventional}: leaves no zone that is written in order; the drive has "
                f"{capacity_bytes // self.size_bytes} whole zones: lower conventional or size"
            )


def skew_sectors(move_ns: int, sectors_per_track: int, revolution_ns: int) -> int:
    """Return the skew that hides a move of `move_ns`: its length in sectors rounded up, and one as a margin."""
    return -(-move_ns * sectors_per_track // revolution_ns) + 1


def track_density(rate_bytes_per_s: float, heads: int, sector_bytes: int, revolution_ns: int, moves_ns: int) -> float:
    """Return the sectors per track for a sustained rate, when the switches of one cylinder take `moves_ns` in total.

    Notes
    -----
    Reading a whole cylinder takes one revolution for each head, plus the skews, so that
    ``rate = heads * spt * sector / (heads * revolution + moves)``.
    """
    seconds = (heads * revolution_ns + moves_ns) / 1e9
    return rate_bytes_per_s * seconds / (heads * sector_bytes)


def zones_between(
    outer: float,
    inner: float,
    *,
    n_sectors: int,
    heads: int,
    n_zones: int,
    switch_ns: int,
    step_ns: int,
    revolution_ns: int,
) -> tuple[Zone, ...]:
    """Return zones of nearly equal width whose densities fall evenly from `outer` to `inner` sectors per track.

    The last cylinder may be partly unused: the zones have `n_sectors` blocks or slightly more.

    Parameters
    ----------
    outer, inner : float
        Sectors per track of the first and of the last zone.
    n_sectors : int
        Blocks required.
    switch_ns, step_ns : int
        Times that track skew and cylinder skew must hide.

    Raises
    ------
    ValueError
        When a track would have no sector, or the drive less than one cylinder for each zone.
    """
    share = [index / max(n_zones - 1, 1) for index in range(n_zones)]
    densities = [round(outer + (inner - outer) * part) for part in share]
    if min(densities) < 1:
        raise ValueError("inner_bytes_per_s: gives less than one sector on a track; check rates, heads and rpm")
    width, rest = divmod(n_sectors, heads * sum(densities))
    if width == 0:
        raise ValueError(f"n_zones={n_zones}: exceeds the number of cylinders; lower it, or check capacity and heads")
    cylinders = [width] * n_zones
    for index in range(n_zones - 1):
        if rest >= heads * densities[index]:
            cylinders[index] += 1
            rest -= heads * densities[index]
    cylinders[-1] += -(-rest // (heads * densities[-1]))
    return tuple(
        Zone(
            cylinders=count,
            sectors_per_track=density,
            track_skew=skew_sectors(switch_ns, density, revolution_ns) if heads > 1 else 0,
            cylinder_skew=skew_sectors(step_ns, density, revolution_ns),
        )
        for count, density in zip(cylinders, densities, strict=True)
    )
