"""How many sectors a track holds, by position: from sequential rates, and from the angle between neighbouring blocks.

Two single reads of blocks δ sectors apart on one track end δ / sectors-per-track of a revolution apart, modulo a
revolution. That fixes the density itself; sequential rates tell how it falls towards the inner edge, and, being lower
by the time of head and cylinder switches, the mean skew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from calibrate.measure.document import Measurement, Samples

Floats = NDArray[np.float64]

#: Shares of a track between two blocks that tell its density: less is too coarse, more often crosses to the next track.
_SHARE = (0.06, 0.35)
_AGREE = 0.02
_FEWEST_PAIRS = 12
_MOST_SKEW = 0.6
_N_ZONES = 48
#: Relative errors of densities from one sequential rate and from one pair.
_RATE_ERROR = 0.015
_PAIR_ERROR = 0.003


@dataclass(frozen=True)
class Tracks:
    """Density of tracks by position.

    Attributes
    ----------
    edges_sectors : (n + 1,) float
        Zones of equal size, in sectors from the outer edge.
    per_track : (n,) float
        Sectors on a track.
    skew_turns : float
        Mean skew from one track to the next, in revolutions.
    stderr_ratio : float
        Relative standard error of the density.
    is_identified : bool
        Whether angles told the density; else it comes from rates and an assumed skew.
    has_rates : bool
        Whether sequential rates were usable.
    """

    edges_sectors: Floats
    per_track: Floats
    skew_turns: float
    stderr_ratio: float
    is_identified: bool
    has_rates: bool

    def track_of(self, sector: Floats) -> Floats:
        """Number of tracks from the outer edge to a sector, with its fraction."""
        edges = np.concatenate([[0.0], np.cumsum(np.diff(self.edges_sectors) / self.per_track)])
        return np.asarray(np.interp(sector, self.edges_sectors, edges))


ASSUMED_SKEW_TURNS = 0.12


def find_tracks(measurement: Measurement, period_ns: float, sector_bytes: int) -> Tracks | None:
    """Density by position, or None when neither rates nor angles tell it."""
    n_sectors = measurement.size_bytes // sector_bytes
    places, rates = zone_rates(measurement)
    x, delta, phase = _pairs(measurement, period_ns, sector_bytes)
    if len(rates) >= 2:
        rough = rates * period_ns / 1e9 / sector_bytes
        guess = np.interp(x, places / sector_bytes, rough)
    else:
        density = _density_alone(delta, phase)
        if density is None:
            return None
        guess, rough = np.full(len(x), density), np.empty(0)
    pairs = _agreeing(delta, phase, guess)
    is_identified = len(pairs) >= _FEWEST_PAIRS
    known = delta[pairs] / phase[pairs]
    ratio = float(np.median(known / guess[pairs])) if is_identified else 1.0 + ASSUMED_SKEW_TURNS
    stderr = float(np.std(known / guess[pairs]) / np.sqrt(len(pairs))) if is_identified else 0.05
    edges = np.linspace(0.0, float(n_sectors), _N_ZONES + 1)
    where, density = places / sector_bytes, rough * ratio
    weight = np.full(len(where), _RATE_ERROR**-2)
    if is_identified:
        where, density = np.concatenate([where, x[pairs]]), np.concatenate([density, known])
        weight = np.concatenate([weight, np.full(len(pairs), _PAIR_ERROR**-2)])
    elif not len(where):
        return None
    order = np.argsort(where)
    falling = isotonic_regression(density[order], weights=weight[order], increasing=False).x
    per_track = np.interp((edges[:-1] + edges[1:]) / 2, where[order], falling)
    has_rates = len(rates) >= 2
    skew = ratio - 1.0 if has_rates else ASSUMED_SKEW_TURNS
    return Tracks(edges, per_track, float(np.clip(skew, 0.0, _MOST_SKEW)), stderr, is_identified, has_rates)


def zone_rates(measurement: Measurement) -> tuple[Floats, Floats]:
    """Positions in bytes and sequential rates in bytes per s, the median of passes; the run-in is left out."""
    experiment = measurement.experiment("zones")
    found: dict[int, list[float]] = {}
    middle: dict[int, list[float]] = {}
    for run in experiment.runs if experiment is not None else ():
        samples = run.samples
        order = np.argsort(samples.completion_ns)
        done, length = samples.completion_ns[order], samples.length_bytes[order]
        skip = min(2 * run.queue_depth, len(done) // 4)
        if len(done) < 8 or done[-1] <= done[skip]:
            continue
        rate = float(length[skip + 1 :].sum()) * 1e9 / float(done[-1] - done[skip])
        found.setdefault(int(run.parameters["position_bytes"]), []).append(rate)
        middle.setdefault(int(run.parameters["position_bytes"]), []).append(float(samples.offset_bytes.mean()))
    keys = sorted(found, key=lambda key: float(np.mean(middle[key])))
    return (
        np.array([np.mean(middle[key]) for key in keys]),
        np.array([np.median(found[key]) for key in keys]),
    )


def single_reads(measurement: Measurement) -> list[Samples]:
    """Runs of reads one at a time, in order of issue."""
    names = ("rotation_period", "seek_profile", "track_boundaries", "random_reads")
    runs = []
    for name in names:
        experiment = measurement.experiment(name)
        for run in experiment.runs if experiment is not None else ():
            if run.queue_depth == 1 and len(run.samples) > 1 and not run.samples.op.any():
                runs.append(run.samples)
    return runs


def _pairs(measurement: Measurement, period_ns: float, sector_bytes: int) -> tuple[Floats, Floats, Floats]:
    """Place, distance in sectors, and angle in turns between consecutive single reads of neighbouring blocks."""
    columns: list[tuple[Floats, Floats, Floats]] = []
    for samples in single_reads(measurement):
        end = (samples.offset_bytes + samples.length_bytes) / sector_bytes
        step = np.diff(end)
        turns = np.diff(samples.completion_ns.astype(np.float64)) / period_ns
        near = (np.abs(step) > 8) & (np.abs(step) < 8192) & (samples.latency_ns[1:] > 0.02 * period_ns)
        sign = np.sign(step[near])
        columns.append((end[1:][near], np.abs(step[near]), np.mod(turns[near] * sign, 1.0)))
    if not columns:
        return np.empty(0), np.empty(0), np.empty(0)
    x, delta, phase = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return x, delta, phase


def _agreeing(delta: Floats, phase: Floats, guess: Floats) -> NDArray[np.int64]:
    """Pairs on one track: those of a usable distance whose density is in the proportion to the guess on which most
    agree. Pairs across a track's end are a skew apart and fall out."""
    low, high = _SHARE
    with np.errstate(divide="ignore"):
        ratio = np.where(phase > 0, delta / phase, np.inf) / guess
    usable = (delta / guess > low) & (delta / guess < high) & (ratio > 0.85) & (ratio < 1.0 + _MOST_SKEW)
    rows = np.flatnonzero(usable)
    if not len(rows):
        return rows
    votes = [(np.abs(ratio[rows] / r - 1.0) < _AGREE).sum() for r in ratio[rows]]
    centre = ratio[rows[int(np.argmax(votes))]]
    return rows[np.abs(ratio[rows] / centre - 1.0) < 2.5 * _AGREE]


def _density_alone(delta: Floats, phase: Floats) -> float | None:
    """Density that most pairs agree on, without rates to start from."""
    chosen = (phase > _SHARE[0]) & (phase < _SHARE[1])
    if chosen.sum() < _FEWEST_PAIRS:
        return None
    density = delta[chosen] / phase[chosen]
    votes = [(np.abs(density / d - 1.0) < 2 * _AGREE).sum() for d in density]
    return float(density[int(np.argmax(votes))])
