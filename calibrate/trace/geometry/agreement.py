"""Zones that share what they have in common: skews, parts of a track and borders found in one zone help the next.

A maker chooses skews once, in time or in sectors, and rounds them up to whole sectors in each zone; spare sectors take
the same part of a track in every zone. Well-explained zones determine these values, and the others are fitted again
with them. Stretches of one density are joined, and borders are moved to where the angles change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.geometry.angles import Step, ZoneAngle
from calibrate.trace.geometry.likelihood import likelihood, zone_likelihood
from calibrate.trace.geometry.staircase import MIN_SCORE, SLIP_PENALTY, layout_of

#: Log-likelihood per access from which on a zone determines the common values; an angle at random has about -4.
GOOD_SCORE = -2.2
#: Log-likelihood per access from which on a zone is left as it is: two thirds of a standard error more than none.
FINE_SCORE = -0.8
#: Starts of the first track that are tried, evenly over a track.
N_FIRSTS = 12
#: Log-likelihood that another layout must gain. Half exchanges layouts for noise; double keeps accidental ones.
MIN_GAIN = 10.0
#: Accesses that a zone needs to take part.
MIN_POINTS = 30
#: Skews of a track that are tried beside the others', turns from it.
NEAR_SKEWS_TURNS = np.arange(-2, 3) * 0.006
#: A border moves by at most so many cells of `zones.find_zones`, which placed it to about half a cell.
BORDER_CELLS = 1.5
#: Cells of the disk, as in `zones`.
N_CELLS = 256
#: Tracks whose lengths differ by less than this (blocks) have one density.
SAME_BLOCKS = 0.3


@dataclass(frozen=True)
class Part:
    """A zone with the measured angles inside it: blocks x and unit phasors z, in order of address."""

    zone: ZoneAngle
    x: Floats
    z: Complexes

    @property
    def score(self) -> float:
        """Log-likelihood less the penalty for tracks left out."""
        return zone_likelihood(self.zone, self.x, self.z) - SLIP_PENALTY * len(self.zone.slips)

    @property
    def is_whole(self) -> bool:
        """Whether the zone is known as whole cylinders."""
        return self.zone.track.turns > 0 and self.zone.cylinder.period_blocks > 1.5 * self.zone.track.period_blocks


@dataclass(frozen=True)
class Custom:
    """What the well-explained zones have in common: skews in turns and in sectors, parts of a block in a track."""

    track_turns: float
    extra_turns: float
    track_sectors: float
    extra_sectors: float
    advance: float
    fraction: float


def agreed_zones(zones: Sequence[ZoneAngle], x: Floats, z: Complexes, heads: int) -> tuple[ZoneAngle, ...]:
    """Return the zones after each was offered the common values, joined where alike, with their borders moved."""
    order = np.argsort(x)
    x, z = x[order], z[order]
    parts = _parts(zones, x, z)
    custom = _custom(parts, heads)
    if custom is None:
        return tuple(zones)
    parts = [_offered(part, custom, heads) for part in _joined(parts, custom, heads)]
    moved = _borders([part.zone for part in parts], x, z)
    settled = {(part.zone.first, part.zone.last) for part in parts}
    parts = [
        part if (part.zone.first, part.zone.last) in settled else _offered(part, custom, heads)
        for part in _parts(moved, x, z)
    ]
    return tuple(replace(part.zone, n_points=len(part.x)) for part in parts)


def _parts(zones: Sequence[ZoneAngle], x: Floats, z: Complexes) -> list[Part]:
    cuts = [np.searchsorted(x, [zone.first, zone.last]) for zone in zones]
    return [Part(zone, x[a:b], z[a:b]) for zone, (a, b) in zip(zones, cuts, strict=True)]


def _custom(parts: Sequence[Part], heads: int) -> Custom | None:
    good = [
        part
        for part in parts
        if part.is_whole
        and len(part.x) >= MIN_POINTS
        and part.score > GOOD_SCORE * len(part.x)
        and abs(part.zone.cylinder.period_blocks / part.zone.track.period_blocks - heads) < 1e-3
    ]
    if not good:
        return None
    weight = np.array([part.score - GOOD_SCORE * len(part.x) for part in good])
    blocks = np.array([part.zone.track.period_blocks for part in good])
    track = np.array([part.zone.track.turns for part in good])
    extra = np.array([part.zone.cylinder.turns for part in good])
    rate = np.array([part.zone.turns_per_block for part in good])
    return Custom(
        _middle(track, weight),
        _middle(extra, weight),
        _middle(track * blocks, weight),
        _middle(extra * blocks, weight),
        _middle(rate * blocks, weight),
        _middle(np.rint(np.mod(-blocks, 1.0) * heads) % heads, weight) / heads,
    )


def _middle(values: Floats, weight: Floats) -> float:
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _offered(part: Part, custom: Custom, heads: int) -> Part:
    """Return the part with its zone, or with a better one that has the skews of the others."""
    if len(part.x) < MIN_POINTS or part.score > FINE_SCORE * len(part.x):
        return part
    best, best_score = part, max(part.score + MIN_GAIN, MIN_SCORE * len(part.x))
    rough = (1.0 + custom.track_turns + custom.extra_turns / heads) / part.zone.turns_per_block
    for period in (np.ceil(rough) - custom.fraction, np.floor(rough) - custom.fraction):
        firsts = period * np.arange(N_FIRSTS) / N_FIRSTS
        skews = [*_skews(custom, float(period), heads), *_skews_of_rate(custom, part.zone, float(period), heads)]
        rows = [(float(first), *pair) for first, pair in product(firsts, skews)]
        found = replace(part, zone=layout_of(part.zone, part.x, part.z, heads, float(period), rows))
        if found.score > best_score:
            best, best_score = found, found.score
    return best


def _skews(custom: Custom, period: float, heads: int) -> list[tuple[float, float]]:
    """Return track skews and extra skews of a cylinder, in turns, to try with tracks of `period` blocks."""
    sectors = {
        (rounded_track(custom.track_turns * period), rounded_extra(custom.extra_turns * period))
        for rounded_track, rounded_extra in product((np.floor, np.ceil), (np.floor, np.ceil))
    }
    sectors.add((np.rint(custom.track_sectors), np.rint(custom.extra_sectors)))
    # a track is a little longer than its blocks where spare sectors follow them
    return [(float(track) / np.ceil(period), float(extra) / np.ceil(period)) for track, extra in sorted(sectors)]


def _skews_of_rate(custom: Custom, zone: ZoneAngle, period: float, heads: int) -> list[tuple[float, float]]:
    """Return skews near the others' that together give the zone's own turns per cylinder, which are known best."""
    total = heads * (zone.turns_per_block * period - 1.0)
    return [(float(track), float(total - heads * track)) for track in custom.track_turns + NEAR_SKEWS_TURNS]


def _joined(parts: Sequence[Part], custom: Custom, heads: int) -> list[Part]:
    """Join neighbors of one density where that explains their angles as well."""
    out = [parts[0]]
    for part in parts[1:]:
        before = out[-1]
        rates = [p.zone.turns_per_block for p in (before, part)]
        is_same = abs(custom.advance / rates[0] - custom.advance / rates[1]) < SAME_BLOCKS
        if is_same and min(len(before.x), len(part.x)) > 0:
            both = _union(before, part, custom, heads)
            if both.score > before.score + part.score - MIN_GAIN:
                out[-1] = both
                continue
        out.append(part)
    return out


def _union(before: Part, part: Part, custom: Custom, heads: int) -> Part:
    x, z = np.concatenate([before.x, part.x]), np.concatenate([before.z, part.z])
    tried = []
    for zone in (before.zone, rebased(part.zone, before.zone.first)):
        whole = replace(zone, first=before.zone.first, last=part.zone.last)
        period, skew, extra = zone.track.period_blocks, zone.track.turns, zone.cylinder.turns
        rows = [(zone.track.first_block + step * period, skew, extra) for step in (-0.02, 0.0, 0.02)]
        tried.append(Part(layout_of(whole, x, z, heads, period, rows), x, z) if skew else Part(whole, x, z))
    best = max(tried, key=lambda one: one.score)
    return _offered(best, custom, heads)


def rebased(zone: ZoneAngle, first: float) -> ZoneAngle:
    """Return the same angles with the zone's addresses counted from another first block."""
    by = first - zone.first
    return replace(
        zone,
        first=first,
        offset=zone.offset + zone.turns_per_block * by,
        track=_moved(zone.track, by),
        cylinder=_moved(zone.cylinder, by),
        slips=tuple(slip - by for slip in zone.slips),
    )


def _moved(step: Step, by: float) -> Step:
    return replace(step, first_block=step.first_block - by)


def _borders(zones: Sequence[ZoneAngle], x: Floats, z: Complexes) -> list[ZoneAngle]:
    """Return the zones with each border where the angles change from one to the next."""
    out = list(zones)
    turns = np.angle(z) / (2 * np.pi)
    reach = BORDER_CELLS * zones[-1].last / N_CELLS
    for k in range(1, len(out)):
        left, right = out[k - 1], out[k]
        low = max(right.first - reach, (left.first + left.last) / 2)
        high = min(right.first + reach, (right.first + right.last) / 2)
        a, b = np.searchsorted(x, [low, high])
        if b - a < 3:
            continue
        gain = likelihood(turns[a:b] - left.at(x[a:b])) - likelihood(turns[a:b] - right.at(x[a:b]))
        total = np.concatenate([[0.0], np.cumsum(gain)])
        now = int(np.searchsorted(x[a:b], right.first))
        best = int(total.argmax())
        if total[best] > total[now] + MIN_GAIN / 2:
            near = np.concatenate([[low], x[a:b], [high]])
            border = float(np.rint((near[best] + near[best + 1]) / 2))
            out[k - 1] = replace(left, last=border, slips=tuple(s for s in left.slips if s < border - left.first))
            out[k] = rebased(right, border)
    return out
