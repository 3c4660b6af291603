"""How many heads: the number of tracks between cylinder steps that all zones together support.

A zone alone often takes a multiple of the number, or an accidental line, for the period of its cylinders. A number of
heads fixes that period by the track's, so every number can be tried in every zone, and the gains add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.geometry.agreement import agreed_zones
from calibrate.trace.geometry.angles import CYLINDER_TURNS, Step, ZoneAngle, best_sawtooth, log_gain
from calibrate.trace.geometry.likelihood import zone_likelihood
from calibrate.trace.geometry.staircase import SLIP_PENALTY, refine_zone

#: Largest number of heads that is tried: more than any drive of the traces has (14).
MAX_HEADS = 24
#: Accesses that a zone needs to take part.
MIN_POINTS = 40
#: Numbers of heads that are tried as whole cylinders: those with the largest gains.
N_TRIED = 3
#: A number whose gain is so many times the next one's is taken without a trial.
MIN_LEAD = 1.6
#: Zones in which numbers are tried, those with most accesses. One alone may be an odd one; each more costs as much
#: time.
N_PROBES = 2


def whole_cylinders(
    zones: Sequence[ZoneAngle], x: Floats, z: Complexes, heads: int | None, voted: int | None
) -> tuple[ZoneAngle, ...] | None:
    """Return the zones as whole cylinders of the likeliest number of heads, or None where no zone has a track step.

    Parameters
    ----------
    zones : sequence of ZoneAngle
        With their track steps; cylinder steps are ignored.
    x : (n,) float64
        Blocks whose angles were measured.
    z : (n,) complex128
        Their angles as unit phasors, without the drift of the clock.
    heads : int, optional
        Their number, where it is known.
    voted : int, optional
        The number from the zones' own cylinder steps.
    """
    inside = [np.flatnonzero((x >= zone.first) & (x < zone.last)) for zone in zones]
    parts = [(zone, x[mine], z[mine]) for zone, mine in zip(zones, inside, strict=True)]
    located = [part for part in parts if part[0].track.turns and len(part[1]) >= MIN_POINTS]
    if not located:
        return None
    advance = _usual_advance([part[0] for part in located])
    if heads is None:
        heads = _likeliest(located, advance, voted)
    return agreed_zones(tuple(refine_zone(*part, heads, advance) for part in parts), x, z, heads)


def _likeliest(located: Sequence[tuple[ZoneAngle, Floats, Complexes]], advance: float, voted: int | None) -> int:
    """Return the number of heads that explains the zones with most points best, of those that all zones support."""
    gains = np.array([_gains(*part) for part in located])
    probes = [located[k] for k in np.argsort([-len(part[1]) for part in located])[:N_PROBES]]
    tried = _worth_a_try(gains.sum(axis=0), voted)
    return max(tried, key=lambda number: _score(probes, number, advance)) if len(tried) > 1 else tried[0]


def _worth_a_try(gain: Floats, voted: int | None) -> list[int]:
    """Return the numbers of heads with the largest gains, those that divide them, and the one that was voted for."""
    best = [int(k) for k in np.argsort(-gain)[:N_TRIED]]
    if gain[best[0]] > MIN_LEAD * gain[best[1]]:
        return best[:1]
    divisors = [k for k in range(2, MAX_HEADS) if best[0] % k == 0]
    return sorted({*best, *divisors, *([] if voted is None else [voted])} - {0, 1})


def _score(probes: Sequence[tuple[ZoneAngle, Floats, Complexes]], heads: int, advance: float) -> float:
    """Return the log-likelihood of the probes as whole cylinders, less the penalty for tracks left out."""
    total = 0.0
    for zone, x, z in probes:
        found = refine_zone(zone, x, z, heads, advance)
        total += zone_likelihood(found, x, z) - SLIP_PENALTY * len(found.slips)
    return total


def _usual_advance(located: Sequence[ZoneAngle]) -> float:
    """Return the turns per track, skew included: the median over zones, weighted by points."""
    advances = np.array([zone.turns_per_block * zone.track.period_blocks for zone in located])
    order = np.argsort(advances)
    weight = np.cumsum(np.array([zone.n_points for zone in located])[order])
    return float(advances[order][np.searchsorted(weight, weight[-1] / 2)])


def _gains(zone: ZoneAngle, x: Floats, z: Complexes) -> Floats:
    """Return twice the log-likelihood that a cylinder step gains in one zone, by number of heads (0 for 0 and 1)."""
    bare = replace(zone, offset=0.0, cylinder=Step())
    left = z * np.exp(-2j * np.pi * bare.at(x))
    plain = abs(left.sum())
    out = np.zeros(MAX_HEADS + 1)
    placed = zone.placed(x)
    for heads in range(2, MAX_HEADS + 1):
        frequency = np.array([1.0 / (heads * zone.track.period_blocks)])
        best, _ = best_sawtooth(left, placed, frequency, CYLINDER_TURNS)
        out[heads] = log_gain(len(x), plain, best)
    return out
