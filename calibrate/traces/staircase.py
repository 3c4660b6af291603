"""Zones as whole tracks and cylinders: a track's skew, a cylinder's, and the places where a track is left out.

The sawteeth of `angles` are found one by one, each with a period of its own. On the platter a cylinder is a whole
number of tracks, and where addresses leave out a spare or a bad track, every later block lies one track further on.
The likeliest such layout is found by a Viterbi path over "tracks left out so far" for each candidate of the skews.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrate.traces.angles import Complexes, Step, ZoneAngle
from calibrate.traces.spectrum import Floats, Ints

SIGMA_TURNS = 0.025
FLOOR = -5.0
SLIP_PRICE = 7.0
MAX_SLIPS = 14
MAX_SLIPS_IN_ALL = 40
MIN_POINTS = 40
MAX_POINTS = 350
MAX_LOSS = 3.0
MIN_GAIN = 15.0
# angles without any structure reach -3.6 a point when tracks may be left out at will
MIN_SCORE = -3.3
N_OFFSETS = 14


@dataclass(frozen=True)
class Candidates:
    """Layouts to compare, one a row: first block of a track, skews, and angle of the zone's start, all in turns."""

    first: Floats
    track: Floats
    cylinder: Floats
    offset: Floats


def likelihood(left_turns: Floats) -> Floats:
    """Logarithm of the likelihood of residual angles, in turns, bounded below for outliers."""
    wrapped = np.mod(left_turns + 0.5, 1.0) - 0.5
    return np.asarray(np.maximum(-0.5 * (wrapped / SIGMA_TURNS) ** 2, FLOOR))


def zone_likelihood(zone: ZoneAngle, x: Floats, z: Complexes) -> float:
    """Log-likelihood of measured angles (unit phasors at blocks x) under a zone."""
    return float(likelihood(np.angle(z) / (2 * np.pi) - zone.at(x)).sum())


def refine_zone(zone: ZoneAngle, x: Floats, z: Complexes, heads: int, advance: float) -> ZoneAngle:
    """The zone as whole cylinders of `heads` tracks, if the measured angles speak for it; else the zone as it was.

    Parameters
    ----------
    x : (n,) float64
        The ends of accesses within the zone.
    z : (n,) complex128
        Their angles as unit phasors, drift of the clock taken out.
    advance : float
        Turns a track in most zones of the drive, about 1.15.
    """
    if len(x) < MIN_POINTS:
        return zone
    order = np.argsort(x)
    x, z = x[order], z[order]
    best, best_score = zone, max(zone_likelihood(zone, x, z) + MIN_GAIN, MIN_SCORE * len(x))
    for period, firsts, skews in _track_guesses(zone, heads, advance):
        found = _best_layout(zone, x, z, heads, period, firsts, skews)
        score = zone_likelihood(found, x, z) - SLIP_PRICE * len(found.slips)
        if score > best_score:
            best, best_score = found, score
    return best


def _track_guesses(zone: ZoneAngle, heads: int, advance: float) -> list[tuple[float, Floats, Floats]]:
    """Blocks of a track, places of its start and skews (turns) that are worth a try."""
    guesses: list[tuple[float, Floats, Floats]] = []
    told = zone.track.period_blocks
    if zone.track.turns and abs(zone.turns_per_block * told - advance) < 0.025:
        firsts = np.asarray(zone.track.first_block + told * np.arange(-3, 4) * 0.03, dtype=np.float64)
        guesses.append((told, firsts, np.asarray(zone.track.turns + np.arange(-3, 4) * 0.01)))
    else:
        rough = advance / zone.turns_per_block
        skew = max(advance - 1.0, 0.02)
        skews = np.asarray(skew * (0.6 + 0.1 * np.arange(6)), dtype=np.float64)
        for blocks in (np.floor(rough), np.ceil(rough)):
            guesses.append((float(blocks), blocks * np.arange(12) / 12, skews))
    near = float(np.rint(told))
    if guesses[0][0] == told and told != near and abs(told - near) < 0.05:
        guesses.append((near, guesses[0][1], guesses[0][2]))
    return guesses


def _best_layout(
    zone: ZoneAngle, x: Floats, z: Complexes, heads: int, period: float, firsts: Floats, skews: Floats
) -> ZoneAngle:
    whole = heads * (zone.turns_per_block * period - 1.0)
    snapped = {round(whole * period) / period, round(whole * period - 0.5) / period, whole}
    rows = [(first, skew, total - heads * skew) for total in snapped for first in firsts for skew in skews]
    return layout_of(zone, x, z, heads, period, rows)


def layout_of(
    zone: ZoneAngle, x: Floats, z: Complexes, heads: int, period: float, rows: Sequence[tuple[float, float, float]]
) -> ZoneAngle:
    """The zone as whole cylinders of tracks of `period` blocks, after the likeliest of some candidates.

    Parameters
    ----------
    x : (n,) float64
        Blocks in order of address.
    z : (n,) complex128
        Their measured angles as unit phasors.
    rows : sequence of tuples
        Candidates: first block of a track (from the zone's first), skew of a track, extra skew of a cylinder (turns).
    """
    relative, angle = x - zone.first, np.angle(z) / (2 * np.pi)
    few = np.unique(np.linspace(0, len(relative) - 1, MAX_POINTS).astype(np.int64))
    first, skew, extra = (np.repeat(np.array(column), N_OFFSETS) for column in zip(*rows, strict=True))
    offset = np.tile(np.arange(N_OFFSETS) / N_OFFSETS, len(rows))
    tried = Candidates(first, skew, extra, offset)
    row, path = _viterbi(tried, relative[few], angle[few], heads, period)
    found = _polished(_as_zone(zone, tried, row, path, relative[few], heads, period), x, z, heads)
    once, path = _again(found, relative, angle, heads, period)
    return _polished(_as_zone(zone, once, 0, path, relative, heads, period), x, z, heads)


def _as_zone(
    zone: ZoneAngle, tried: Candidates, row: int, path: Ints, relative: Floats, heads: int, period: float
) -> ZoneAngle:
    """The candidate as a zone: sawteeth about a mean rate, and the blocks at which tracks are left out."""
    skew, extra = float(tried.track[row]), float(tried.cylinder[row])
    rate = (1.0 + skew + extra / heads) / period
    begin = float(tried.first[row]) - float(path[0]) * period
    jumps = np.flatnonzero(np.diff(path))
    slips = tuple(
        float(at) for k in jumps for at in np.repeat((relative[k] + relative[k + 1]) / 2, int(path[k + 1] - path[k]))
    )
    bare = replace(
        zone,
        turns_per_block=rate,
        track=Step(period, float(tried.first[row]), skew),
        cylinder=Step(heads * period, begin, extra),
        slips=slips,
        offset=0.0,
    )
    # the candidate's angle at the first point fixes what the sawteeth's middle leaves open
    k = np.floor((relative[:1] - tried.first[row]) / period) + path[0]
    there = (relative[:1] - tried.first[row]) / period + k * skew + np.floor(k / heads) * extra + tried.offset[row]
    return replace(bare, offset=float((there - bare.at(relative[:1] + zone.first))[0]))


def _again(zone: ZoneAngle, relative: Floats, angle: Floats, heads: int, period: float) -> tuple[Candidates, Ints]:
    """The zone's own layout as the one candidate, and the path through left-out tracks that fits it best."""
    first, skew, extra = zone.track.first_block, zone.track.turns, zone.cylinder.turns
    begun = round((first - zone.cylinder.first_block) / period)
    k = np.floor((relative[:1] - first) / period) + begun
    there = (relative[:1] - first) / period + k * skew + np.floor(k / heads) * extra
    offset = zone.at(relative[:1] + zone.first) - there
    once = Candidates(*(np.array([value]) for value in (first, skew, extra, float(offset[0]))))
    _, path = _viterbi(once, relative, angle, heads, period, MAX_SLIPS_IN_ALL, start=begun % heads)
    return once, path


def _layout(zone: ZoneAngle, heads: int, first: float, skew: float, total: float) -> ZoneAngle:
    """The zone with its tracks moved and its skews replaced; `total` turns a cylinder beyond whole ones."""
    period = zone.track.period_blocks
    moved = first - zone.track.first_block
    return replace(
        zone,
        turns_per_block=(1.0 + total / heads) / period,
        track=Step(period, first, skew),
        cylinder=Step(heads * period, zone.cylinder.first_block + moved, total - heads * skew),
    )


def _centred(zone: ZoneAngle, x: Floats, z: Complexes) -> ZoneAngle:
    """The zone with the offset under which most angles agree."""
    left = z * np.exp(-2j * np.pi * zone.at(x))
    mean = left.mean()
    for _ in range(2):
        near = np.real(left * np.conj(mean)) > 0.9 * abs(mean)
        mean = left[near].mean() if near.any() else mean
    return replace(zone, offset=zone.offset + float(np.angle(mean)) / (2 * np.pi))


def _polished(zone: ZoneAngle, x: Floats, z: Complexes, heads: int) -> ZoneAngle:
    """The zone with its first track, skew and cylinder skew sharpened; on whole sectors if that costs little."""
    period = zone.track.period_blocks

    def tried(first: float, skew: float, total: float) -> tuple[float, ZoneAngle]:
        moved = _centred(_layout(zone, heads, first, skew, total), x, z)
        return zone_likelihood(moved, x, z), moved

    def layout(of: ZoneAngle) -> tuple[float, float, float]:
        return of.track.first_block, of.track.turns, of.cylinder.turns + heads * of.track.turns

    drift_free = 0.25 / max((zone.last - zone.first) / (heads * period), 1.0)
    best_score, best = tried(*layout(zone))
    for first_step, skew_step, total_step in (
        (period / 40, 1.0 / period, drift_free),
        (period / 160, 0.5 / period, drift_free / 2),
        (0.5, 0.2 / period, drift_free / 4),
    ):
        first, skew, total = layout(best)
        for a in range(-4, 5):
            for b in range(-3, 4):
                score, moved = tried(first + a * first_step, skew + b * skew_step, total)
                if score > best_score:
                    best_score, best = score, moved
        first, skew, total = layout(best)
        for c in range(-4, 5):
            score, moved = tried(first, skew, total + c * total_step)
            if score > best_score:
                best_score, best = score, moved
    first, skew, total = layout(best)
    if abs(period - round(period)) < 1e-3:
        for whole in (round(total * period) / period, total):
            score, moved = tried(float(np.rint(first)), round(skew * period) / period, whole)
            if score > best_score - MAX_LOSS:
                return moved
    return best


def _viterbi(
    tried: Candidates,
    relative: Floats,
    angle: Floats,
    heads: int,
    period: float,
    max_slips: int = MAX_SLIPS,
    start: int | None = None,
) -> tuple[int, Ints]:
    """The likeliest candidate's row and, for each point, how many tracks were left out before it."""
    n_states = heads + max_slips
    states = np.arange(n_states)
    first = tried.first[:, None].astype(np.float32)
    begin = states < heads if start is None else states == start
    value = np.where(begin, 0.0, -1e9)[None, :].repeat(len(first), axis=0).astype(np.float32)
    k = np.floor((relative[None, :] - first) / period).astype(np.int64)
    lowest = int(k.min())
    track = np.arange(int(k.max()) - lowest + n_states + 1) + lowest
    # angles of the candidates before the point's own place within a track, by track
    steps: Floats = np.mod(
        np.outer(tried.track, track) + np.outer(tried.cylinder, np.floor(track / heads)) + tried.offset[:, None], 1.0
    ).astype(np.float32)
    rows = np.arange(len(first))[:, None]
    within = np.mod((relative[None, :] - first) / period, 1.0).astype(np.float32)
    slipped = np.zeros((len(relative), *value.shape), dtype=np.int8)
    price = np.float32(SLIP_PRICE)
    for i in range(len(relative)):
        one = value[:, :-1] - price
        more = one > value[:, 1:]
        value[:, 1:] = np.where(more, one, value[:, 1:])
        slipped[i, :, 1:] = more
        left = np.float32(angle[i]) - within[:, i, None] - steps[rows, (k[:, i] - lowest)[:, None] + states]
        left -= np.rint(left)
        left *= left
        left *= np.float32(-0.5 / SIGMA_TURNS**2)
        value += np.maximum(left, np.float32(FLOOR))
    row, state = divmod(int(value.argmax()), n_states)
    path = np.empty(len(relative), dtype=np.int64)
    for i in range(len(relative) - 1, -1, -1):
        path[i] = state
        state -= int(slipped[i, row, state])
    return row, path
