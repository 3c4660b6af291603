"""The angle map as cylinders: zones of whole cylinders that the engines can run, at the measured angles.

Where addresses leave out a track, or a fitted track is no whole number of blocks, a cylinder of its own brings the
blocks back onto their tracks, and the zone after it starts at the measured angle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.trace.geometry.angle_map import AngleMap, track_blocks
from calibrate.trace.geometry.angles import ZoneAngle

#: Errors of angle (turns) from which on a zone of its own begins, and from which on blocks are brought back onto their
#: track. The first is tried first; a drive that would have too many zones takes the next.
TOLERANCES_TURNS = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.5, 2.0, 20.0)
#: Zones of a profile: more make it long to read and load. Half coarsens drives with many spare tracks.
MAX_ZONES = 800
#: Cylinders that a zone of the profile has at most; affects speed only.
MAX_GROUP = 256
#: Cylinders whose angles are found at once; affects speed only.
N_AHEAD = 16
#: Zones that each zone of the map may always have.
MIN_ZONES = 8
#: Spare sectors of a track that are tried. Skews are whole sectors, so that angles show how many a track has, those
#: without blocks included: without spares, tracks that have some need three times the zones. Makers' tracks have few.
MAX_SPARES_PER_TRACK = 4


@dataclass(frozen=True)
class Group:
    """Neighboring cylinders of one size: first block, cylinders, blocks of each, sectors per track and those of them
    without blocks, skews in sectors."""

    first: int
    cylinders: int
    blocks: int
    sectors_per_track: int
    spares_per_track: int
    track_skew: int
    cylinder_skew: int


def zones_of(angles: AngleMap, n_blocks: int, heads: int, *, earlier_turns: float = 0.0) -> list[dict[str, int]]:
    """Return zones as in a drive's description.

    Parameters
    ----------
    n_blocks : int
        Of the whole drive: the last zone extends to there.
    heads : int
    earlier_turns : float
        Angle by which each block lies before that of the map.
    """
    zones: list[dict[str, int]] = []
    for zone, first, last in _pieces(angles, n_blocks):
        at_most = max(MAX_ZONES * (last - first) / n_blocks, MIN_ZONES)
        edges = _cylinder_edges(zone, first, last, heads)
        for tolerance in TOLERANCES_TURNS:
            is_last = tolerance == TOLERANCES_TURNS[-1]
            limit = np.inf if is_last else at_most
            tried = [
                _groups(angles, zone, edges, heads, tolerance, limit, spares)
                for spares in range(MAX_SPARES_PER_TRACK + 1)
            ]
            groups = min((found for found in tried if found is not None), key=len, default=None)
            if groups is not None:
                zones += [_described(angles, group, heads, earlier_turns) for group in groups]
                break
    return zones


def _pieces(angles: AngleMap, n_blocks: int) -> list[tuple[ZoneAngle, int, int]]:
    """Return each zone of the map with its first block and the one after its last; together the whole drive."""
    edges = [0, *(round(zone.first) for zone in angles.zones[1:]), n_blocks]
    return [
        (zone, first, min(last, n_blocks))
        for zone, first, last in zip(angles.zones, edges, edges[1:], strict=False)
        if first < min(last, n_blocks)
    ]


class _Astray:
    """How far the middle of each cylinder from a block on is from where the first one's leads to, in turns.

    Parameters
    ----------
    angle : callable
        From blocks, (n,), to their angles in turns.
    begin, blocks : int
        First block of the first cylinder, and blocks of each.
    advance : float
        Turns from one cylinder to the next.
    """

    def __init__(self, angle: Callable[[Floats], Floats], begin: int, blocks: int, advance: float) -> None:
        self._angle, self._begin, self._blocks, self._advance = angle, begin, blocks, advance
        self._first = 0.0
        self._known: list[float] = []

    def __getitem__(self, n: int) -> float:
        while n >= len(self._known):
            count = len(self._known) + np.arange(N_AHEAD)
            middles = np.asarray(self._begin + (count + 0.5) * self._blocks, dtype=np.float64)
            turned = self._angle(middles)
            if not self._known:
                self._first = float(turned[0])
            left = turned - self._first - count * self._advance
            self._known += np.asarray(left - np.rint(left)).tolist()
        return self._known[n]


def _groups(
    angles: AngleMap,
    zone: ZoneAngle,
    edges: Ints,
    heads: int,
    tolerance: float,
    at_most: float,
    spares: int,
) -> list[Group] | None:
    """Return the cylinders of a zone, equal ones together, with so many spare sectors on each track; a cylinder unlike
    the others is alone. `edges` are the blocks at which cylinders begin, and the one behind the zone.

    The result is None where there are more than `at_most`.
    """
    tracks = track_blocks(zone)
    last = int(edges[-1])
    regular = round(float(np.median(np.diff(edges)))) if len(edges) > 2 else heads * max(round(tracks), 1)
    density = -(-regular // heads) + spares
    track_skew = round(zone.track.turns * density) % density
    # over whole cylinders the steps of the staircase cancel, and its mean rate remains; blocks that a cylinder of the
    # profile leaves to the next one take their part of it along
    advance = heads * (zone.turns_per_block * tracks - 1.0) - (heads * tracks - regular) / tracks
    total = round(advance * density)
    cylinder_skew = (total - (heads - 1) * track_skew) % density
    advance = total / density
    slack = max(tolerance * density, 1.0)
    found: list[Group] = []

    def add(begin: int, n: int, blocks: int, per_track: int) -> None:
        if n:
            found.append(Group(begin, n, blocks, per_track, spares, track_skew, cylinder_skew))

    def astray_from(begin: int) -> _Astray:
        return _Astray(lambda x: zone.at(x) + angles.correction.at(x), begin, regular, advance)

    begin, n, astray = int(edges[0]), 0, astray_from(int(edges[0]))
    for k in range(len(edges) - 1):
        if len(found) > at_most:
            return None
        high = int(edges[k + 1])
        if n and (n == MAX_GROUP or abs(astray[n]) > tolerance):
            add(begin, n, regular, density)
            begin, n, astray = begin + n * regular, 0, astray_from(begin + n * regular)
        behind = begin + (n + 1) * regular
        if behind == high or (abs(behind - high) <= slack and behind <= last and k < len(edges) - 2):
            n += 1
            continue
        add(begin, n, regular, density)
        alone = high - (begin + n * regular)
        if alone > 0:
            add(begin + n * regular, 1, alone, max(density, -(-alone // heads) + spares))
        begin, n, astray = high, 0, astray_from(high)
    add(begin, n, regular, density)
    return None if len(found) > at_most else found


def _cylinder_edges(zone: ZoneAngle, first: int, last: int, heads: int) -> Ints:
    """Return the blocks at which cylinders begin, from `first` to `last`, both included."""
    tracks = track_blocks(zone)
    size = heads * tracks
    count = (zone.last - zone.first + last) / size + len(zone.slips)
    step = zone.cylinder
    if zone.cylinder.turns and abs(step.period_blocks / size - 1.0) < 0.01:
        # where addresses leave out a track now and then, so that a mean cylinder is shorter, each begins with a track
        begun = step.first_block + step.period_blocks * np.arange(np.ceil(-step.first_block / size), count)
        first_track = zone.track.first_block if zone.track.turns else step.first_block
        placed = first_track + tracks * np.rint((begun - first_track) / tracks)
    else:
        begin = zone.track.first_block if zone.track.turns else 0.0
        placed = begin + size * np.arange(np.ceil(-begin / size), count)
    inside = zone.first + _unplaced(zone, placed)
    middle = np.unique(np.rint(inside[(inside > first + tracks / 2) & (inside < last - tracks / 2)]).astype(np.int64))
    return np.concatenate([[first], middle, [last]]).astype(np.int64)


def _unplaced(zone: ZoneAngle, placed: Floats) -> Floats:
    """Return blocks, counted from the zone's first, at given places on the tracks: the inverse of
    `ZoneAngle.placed`."""
    if not zone.slips:
        return placed
    size = zone.track.period_blocks
    slips = np.array(zone.slips)
    left_out = np.searchsorted(slips + size * np.arange(1, len(slips) + 1), placed, side="right")
    following = np.append(slips, np.inf)[left_out]
    return np.asarray(np.minimum(placed - size * left_out, following))


def _described(angles: AngleMap, group: Group, heads: int, earlier_turns: float) -> dict[str, int]:
    """Return the group as a zone whose start fits the measured angles of its blocks best."""
    density = group.sectors_per_track
    n = group.cylinders * group.blocks
    sample = group.first + np.unique(np.linspace(0, n - 1, min(n, 200)).astype(np.int64))
    cylinder, rest = np.divmod(sample - group.first, group.blocks)
    head, sector = np.divmod(rest, density - group.spares_per_track)
    skew = cylinder * ((heads - 1) * group.track_skew + group.cylinder_skew) + head * group.track_skew
    measured = angles.angle(sample.astype(np.float64), np.zeros(len(sample), dtype=np.bool_)) - earlier_turns
    late = np.exp(2j * np.pi * (measured - (skew + sector) / density)).mean()
    return {
        "cylinders": group.cylinders,
        "sectors_per_track": density,
        "start_skew": round(float(np.angle(late)) / (2 * np.pi) * density) % density,
        "track_skew": group.track_skew,
        "cylinder_skew": group.cylinder_skew,
        "spare_sectors_per_track": group.spares_per_track,
        "spare_sectors_per_cylinder": heads * (density - group.spares_per_track) - group.blocks,
    }
