"""Geometry of blocks: block ↔ (cylinder, head, sector) and the angle on its track, for whole arrays of blocks.

Head numbers run through all actuators: a head belongs to actuator ``head // tables.heads``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.drive.hdd.tables import HddTables
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.drive.hdd.description import Hdd

Int64 = NDArray[np.int64]
Float = NDArray[np.float64]


class Place(NamedTuple):
    """Positions on the platters, int64 arrays of one shape."""

    cylinder: Int64
    head: Int64
    sector: Int64


class ZoneRates(NamedTuple):
    """Transfer rates, one entry for each zone.

    Attributes
    ----------
    first_byte : int64, shape (n_zones,)
        Offset at which the zone begins in one actuator's blocks.
    media_bytes_per_s : float64
        Along one track.
    sustained_bytes_per_s : float64
        Over whole cylinders, with the skews that hide head and cylinder switches.
    """

    first_byte: Int64
    media_bytes_per_s: Float
    sustained_bytes_per_s: Float


def place_of(tables: HddTables, lba: ArrayLike) -> Place:
    """Return cylinder, head and sector of blocks.

    Parameters
    ----------
    lba : int64 array, 0 <= lba < tables.n_sectors

    Raises
    ------
    DescriptionError
        When a block is outside the drive.
    """
    blocks = _checked("lba", lba, tables.n_sectors)
    actuator, block = np.divmod(blocks, tables.n_sectors_per_actuator)
    zone = np.searchsorted(tables.zone_first_lba, block, side="right") - 1
    cylinder, rest = np.divmod(block - tables.zone_first_lba[zone], tables.blocks_per_cylinder[zone])
    head, sector = np.divmod(rest, tables.blocks_per_track[zone])
    return Place(cylinder + tables.zone_first_cylinder[zone], head + actuator * tables.heads, sector)


def lba_of(tables: HddTables, cylinder: ArrayLike, head: ArrayLike, sector: ArrayLike) -> Int64:
    """Return the block at each position, -1 where there is none (spare sectors, unused end of the last cylinder).

    Raises
    ------
    DescriptionError
        When a cylinder or head does not exist, or a sector is beyond the end of its track.
    """
    cylinders = _checked("cylinder", cylinder, tables.n_cylinders)
    heads = _checked("head", head, tables.heads * tables.actuators)
    sectors = np.asarray(sector, dtype=np.int64)
    zone = np.searchsorted(tables.zone_first_cylinder, cylinders, side="right") - 1
    if np.any((sectors < 0) | (sectors >= tables.sectors_per_track[zone])):
        raise DescriptionError(Fault("sector", None, "must be on its track", "stay below tables.sectors_per_track"))
    actuator, surface = np.divmod(heads, tables.heads)
    per_track, per_cylinder = tables.blocks_per_track[zone], tables.blocks_per_cylinder[zone]
    rest = surface * per_track + sectors
    block = tables.zone_first_lba[zone] + (cylinders - tables.zone_first_cylinder[zone]) * per_cylinder + rest
    lba = actuator * tables.n_sectors_per_actuator + block
    exists = (
        (sectors < per_track)
        & (rest < per_cylinder)
        & (block < tables.n_sectors_per_actuator)
        & (lba < tables.n_sectors)
    )
    return np.asarray(np.where(exists, lba, -1), dtype=np.int64)


def angle_of(tables: HddTables, lba: ArrayLike) -> tuple[Int64, Int64]:
    """Return the angle at which blocks begin, as numerator and denominator (sectors per track) of a revolution.

    Notes
    -----
    ``(skew + sector) mod sectors_per_track`` with the skew of `HddTables`.
    """
    cylinder, head, sector = place_of(tables, lba)
    zone = np.searchsorted(tables.zone_first_cylinder, cylinder, side="right") - 1
    per_track = tables.sectors_per_track[zone]
    per_cylinder = (tables.heads - 1) * tables.track_skew[zone] + tables.cylinder_skew[zone]
    skew = (cylinder - tables.zone_first_cylinder[zone]) * per_cylinder + head % tables.heads * tables.track_skew[zone]
    skew += tables.start_skew[zone]
    return np.asarray((skew + sector) % per_track), per_track


def zone_rates(drive: Hdd) -> ZoneRates:
    """Return the media and sustained rates of the zones of one actuator."""
    tables = drive.tables()
    revolution_s = tables.revolution_ns / 1e9
    media = tables.sectors_per_track * tables.sector_bytes / revolution_s
    skews = (tables.heads - 1) * tables.track_skew + tables.cylinder_skew
    whole = tables.heads * tables.sectors_per_track
    sustained = media * tables.blocks_per_cylinder / (whole + skews)
    return ZoneRates(tables.zone_first_lba[:-1] * tables.sector_bytes, media, sustained)


def seek_curve(drive: Hdd, n_points: int = 512) -> tuple[Int64, Float]:
    """Return up to `n_points` distances (cylinders) and seek times (ms), dense at short distances.

    Returns
    -------
    distance : int64
        From 1 to the full stroke.
    time_ms : float64
    """
    seek_ns = drive.tables().seek_ns
    longest = len(seek_ns) - 1
    distance = np.unique(np.rint(longest * np.linspace(0, 1, n_points) ** 2).astype(np.int64).clip(1))
    return distance, seek_ns[distance] / 1e6


def mean_seek_ns(tables: HddTables) -> float:
    """Return the mean read seek over all pairs of different cylinders: the "average seek" of data sheets."""
    n = tables.n_cylinders
    distance = np.arange(1, n, dtype=np.float64)
    return float((n - distance) @ tables.seek_ns[1:].astype(np.float64)) / (n * (n - 1) / 2)


def _checked(name: str, values: ArrayLike, end: int) -> Int64:
    array = np.asarray(values, dtype=np.int64)
    outside = (array < 0) | (array >= end)
    if np.any(outside):
        first = int(array[outside].ravel()[0]) if array.ndim else int(array)
        raise DescriptionError(Fault(name, first, f"must be 0 to {end - 1}", "stay within the drive"))
    return array
