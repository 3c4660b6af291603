"""Zones as whole tracks and cylinders: the skew of a track, of a cylinder, and the places where a track is left out.

The sawteeth of `angles` are found one by one, each with a period of its own. On the platter a cylinder is a whole
number of tracks, and where addresses leave out a spare or a bad track, every later block lies one track further on. The
likeliest such layout is found by a Viterbi path over "tracks left out so far" for each candidate of the skews.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrate.arrays import Complexes, Floats, Ints
from calibrate.trace.geometry.angles import Step, ZoneAngle, sawtooth_scores
from calibrate.trace.geometry.likelihood import FLOOR, SIGMA_TURNS, polished, zone_likelihood
from diskmodel.engine.compiled import kernel as _kernel

#: Penalty in log-likelihood for each track left out: e⁷, one left out in a thousand accesses. Half explains noise by
#: slips; double misses slips with few accesses behind them.
SLIP_PENALTY = 7.0
#: Tracks that a candidate may leave out while skews are searched, and the final layout. More take time in proportion.
MAX_SLIPS = 14
MAX_SLIPS_IN_ALL = 40
#: Accesses that a zone needs, and those used while candidates are compared (all of them after that).
MIN_POINTS = 40
MAX_POINTS = 350
#: Log-likelihood by which whole cylinders are ahead of steps that each have a period of their own: two numbers more
#: explain so much by accident. Drives whose layout is known keep periods that they do not have where whole cylinders
#: must gain as much instead; at double, few zones change.
WHOLE_CYLINDERS = 5.0
#: Log-likelihood by which tracks of a whole number of blocks are ahead of others: without spare sectors there are no
#: others, and the number's own error is worth as much.
WHOLE_BLOCKS = 3.0
#: Lowest log-likelihood per access of a layout: angles without any structure reach -3.6 when tracks may be left out
#: freely.
MIN_SCORE = -3.3
#: Angles of the zone's start that are tried with each candidate: 14 are 0.07 turns apart, three standard errors.
N_OFFSETS = 14
#: Candidates that are so far behind the best (log-likelihood) are dropped, first after `FIRST_CULL` accesses and then
#: every `CULL_EVERY`. At `likelihood.FLOOR` an access, catching up takes 18 outliers in a row; half drops true layouts
#: in noisy zones.
MAX_BEHIND = 90.0
FIRST_CULL = 40
CULL_EVERY = 10
#: Starts of the first track that are tried where nothing says where it is, evenly over a track. Half misses the start
#: by more than `polished` can move it.
N_FIRSTS = 12
#: A zone may have taken an accidental line for its tracks. Where its turns per track are half of this from the other
#: zones', the strongest line so near to theirs is tried, too: turns. Half misses skews that are the same in sectors;
#: double tries other accidents.
NEAR_USUAL = 0.008
#: Heights of that line that are tried, as a share of the turns beyond one: the rest is the cylinder's step.
SHARES = (0.6, 0.7, 0.8, 0.9, 1.0)
JUDGEMENT = {
    "per_square": -0.5 / SIGMA_TURNS**2,
    "floor": FLOOR,
    "slip": SLIP_PENALTY,
    "max_behind": MAX_BEHIND,
    "first_cull": FIRST_CULL,
    "cull_every": CULL_EVERY,
}


@dataclass(frozen=True)
class Candidates:
    """Layouts to compare, one per row: first block of a track, and skews in turns.

    Each is tried with every `offset`, the angle of the zone's start in turns."""

    first: Floats
    track: Floats
    cylinder: Floats
    offset: Floats


def refine_zone(zone: ZoneAngle, x: Floats, z: Complexes, heads: int, advance: float) -> ZoneAngle:
    """Return the zone as whole cylinders of `heads` tracks where the measured angles support it, else unchanged.

    Parameters
    ----------
    x : (n,) float64
        The ends of accesses within the zone.
    z : (n,) complex128
        Their angles as unit phasors, without the drift of the clock.
    advance : float
        Turns per track in most zones of the drive, about 1.15.
    """
    if len(x) < MIN_POINTS:
        return zone
    order = np.argsort(x)
    x, z = x[order], z[order]
    best, best_score = zone, max(zone_likelihood(zone, x, z) - WHOLE_CYLINDERS, MIN_SCORE * len(x))
    for period, firsts, skews in [*_track_guesses(zone, heads, advance), *_usual_track(zone, x, z, advance)]:
        found = _best_layout(zone, x, z, heads, period, firsts, skews)
        score = zone_likelihood(found, x, z) - SLIP_PENALTY * len(found.slips)
        score += WHOLE_BLOCKS * (period == np.rint(period))
        if score > best_score:
            best, best_score = found, score
    return best


def _track_guesses(zone: ZoneAngle, heads: int, advance: float) -> list[tuple[float, Floats, Floats]]:
    """Return blocks of a track, places of its start and skews (turns) to try."""
    guesses: list[tuple[float, Floats, Floats]] = []
    fitted = zone.track.period_blocks
    if zone.track.turns:
        guesses += _as_found_and_whole(fitted, zone.track.first_block, zone.track.turns)
    if not zone.track.turns or abs(zone.turns_per_block * fitted - advance) >= 0.025:
        rough = advance / zone.turns_per_block
        skew = max(advance - 1.0, 0.02)
        skews = np.asarray(skew * (0.6 + 0.1 * np.arange(6)), dtype=np.float64)
        for blocks in (np.floor(rough), np.ceil(rough)):
            guesses.append((float(blocks), blocks * np.arange(N_FIRSTS) / N_FIRSTS, skews))
    return guesses


def _usual_track(zone: ZoneAngle, x: Floats, z: Complexes, advance: float) -> list[tuple[float, Floats, Floats]]:
    """Return the likeliest track of those with about the turns of the other zones', unless the zone has such a one."""
    nu = zone.turns_per_block
    if zone.track.turns and abs(nu * zone.track.period_blocks - advance) < NEAR_USUAL / 2:
        return []
    left = z * np.exp(-2j * np.pi * replace(zone, offset=0.0, track=Step(), cylinder=Step(), slips=()).at(x))
    ends = nu / (advance + NEAR_USUAL), nu / (advance - NEAR_USUAL)
    frequencies = np.arange(*ends, 0.1 / (zone.last - zone.first))
    heights = [share * (nu / frequencies - 1.0) for share in SHARES]
    best = (0.0, 1.0, 0.0, 0.0)
    for height, (score, start) in zip(
        heights, sawtooth_scores(left, x - zone.first, frequencies, heights), strict=True
    ):
        k = int(score.argmax())
        best = max(best, (float(score[k]), 1.0 / float(frequencies[k]), float(start[k]), float(height[k])))
    _, period, begin, skew = best
    return _as_found_and_whole(period, begin * period, skew)


def _as_found_and_whole(period: float, first: float, skew: float) -> list[tuple[float, Floats, Floats]]:
    """Return what to try around tracks that were found: their own period, and a whole number of blocks if near."""
    firsts = np.asarray(first + period * np.arange(-3, 4) * 0.03, dtype=np.float64)
    skews = np.asarray(skew + np.arange(-3, 4) * 0.01)
    guesses, near = [(period, firsts, skews)], float(np.rint(period))
    if period != near and abs(period - near) < 0.05:
        # over a whole zone the difference may add up to a part of a track
        anywhere = near * np.arange(N_FIRSTS) / N_FIRSTS
        guesses.append((near, np.concatenate([firsts, anywhere]), skews))
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
    """Return the zone as whole cylinders of tracks of `period` blocks, with the likeliest of some candidates.

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
    first, skew, extra = (np.array(column) for column in zip(*rows, strict=True))
    tried = Candidates(first, skew, extra, np.arange(N_OFFSETS) / N_OFFSETS)
    row, offset, path = _likeliest(tried, relative[few], angle[few], heads, period)
    found = polished(_as_zone(zone, rows[row], offset, path, relative[few], heads, period), x, z, heads)
    once, offset, path = _again(found, relative, angle, heads, period)
    return polished(_as_zone(zone, once, offset, path, relative, heads, period), x, z, heads)


def _as_zone(
    zone: ZoneAngle,
    layout: tuple[float, float, float],
    offset: float,
    path: Ints,
    relative: Floats,
    heads: int,
    period: float,
) -> ZoneAngle:
    """Return the candidate as a zone: sawteeth about a mean rate, and the blocks at which tracks are left out."""
    first, skew, extra = (float(value) for value in layout)
    rate = (1.0 + skew + extra / heads) / period
    begin = first - float(path[0]) * period
    jumps = np.flatnonzero(np.diff(path))
    slips = tuple(
        float(at) for k in jumps for at in np.repeat((relative[k] + relative[k + 1]) / 2, int(path[k + 1] - path[k]))
    )
    bare = replace(
        zone,
        turns_per_block=rate,
        track=Step(period, first, skew),
        cylinder=Step(heads * period, begin, extra),
        slips=slips,
        offset=0.0,
    )
    # the candidate's angle at the first point determines the offset of the sawteeth
    k = np.floor((relative[:1] - first) / period) + path[0]
    there = (relative[:1] - first) / period + k * skew + np.floor(k / heads) * extra + offset
    return replace(bare, offset=float((there - bare.at(relative[:1] + zone.first))[0]))


def _again(
    zone: ZoneAngle, relative: Floats, angle: Floats, heads: int, period: float
) -> tuple[tuple[float, float, float], float, Ints]:
    """Return the zone's own layout as the one candidate, and the path through left-out tracks that fits it best."""
    first, skew, extra = zone.track.first_block, zone.track.turns, zone.cylinder.turns
    begun = round((first - zone.cylinder.first_block) / period)
    k = np.floor((relative[:1] - first) / period) + begun
    there = (relative[:1] - first) / period + k * skew + np.floor(k / heads) * extra
    offset = float((zone.at(relative[:1] + zone.first) - there)[0])
    once = Candidates(*(np.array([value]) for value in (first, skew, extra, offset)))
    _, _, path = _likeliest(once, relative, angle, heads, period, MAX_SLIPS_IN_ALL, start=begun % heads)
    return (first, skew, extra), offset, path


def _likeliest(
    tried: Candidates,
    relative: Floats,
    angle: Floats,
    heads: int,
    period: float,
    max_slips: int = MAX_SLIPS,
    start: int | None = None,
) -> tuple[int, float, Ints]:
    """Return the likeliest candidate's row and offset and, for each point, how many tracks were left out before it."""
    layouts = {**vars(tried), "heads": heads, "period": period, "max_slips": max_slips, "start": start}
    row, offset, path = _kernel.likeliest_layout(relative, angle, layouts, JUDGEMENT)
    return row, float(tried.offset[offset]), np.array(path)
