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
#: Relative error of the density from one sequential rate; error in turns of the angle between two blocks.
_RATE_ERROR = 0.015
_PAIR_ERROR = 0.0006
#: Turns by which angles of far pairs may miss; less than any skew.
_NEAR = 0.03


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
    is_skew_identified : bool
    is_streaming : bool
        False: sequential reads lost revolutions between requests, so that their rates tell no density.
    """

    edges_sectors: Floats
    per_track: Floats
    skew_turns: float
    stderr_ratio: float
    is_identified: bool
    is_skew_identified: bool
    is_streaming: bool

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
    has_rates, rough, guess = False, np.empty(0), np.zeros(len(x))
    pairs = np.empty(0, np.int64)
    if len(rates) >= 2:
        rough = rates * period_ns / 1e9 / sector_bytes
        guess = np.interp(x, places / sector_bytes, rough)
        pairs, usable = _agreeing(delta, phase, guess)
        # a drive that loses revolutions between requests has rates far below its density: few pairs agree with them
        has_rates = usable < _FEWEST_PAIRS or len(pairs) > usable / 2
    if not has_rates:
        guess = _profile(x / n_sectors, delta, phase)
        pairs, _ = _agreeing(delta, phase, guess)
    is_identified = len(pairs) >= _FEWEST_PAIRS
    if not is_identified and not has_rates:
        return None
    pairs = _widened(x, delta, phase, pairs) if is_identified else pairs
    known = delta[pairs] / phase[pairs]
    ratio = float(np.median(known / guess[pairs])) if is_identified else 1.0 + ASSUMED_SKEW_TURNS
    stderr = float(np.std(known / guess[pairs]) / np.sqrt(len(pairs))) if is_identified else 0.05
    where, density, error = x[pairs], known, _PAIR_ERROR / phase[pairs]
    if has_rates:
        where, density = np.concatenate([where, places / sector_bytes]), np.concatenate([density, rough * ratio])
        error = np.concatenate([error, np.full(len(places), _RATE_ERROR)])
    order = np.argsort(where)
    falling = isotonic_regression(density[order], weights=error[order] ** -2, increasing=False).x
    edges = np.linspace(0.0, float(n_sectors), _N_ZONES + 1)
    per_track = np.interp((edges[:-1] + edges[1:]) / 2, where[order], falling)
    skew, is_skew_known = ratio - 1.0, has_rates and is_identified
    if not has_rates:
        skew, is_skew_known = _skew(delta, phase, np.interp(x, where[order], falling))
    return Tracks(
        edges,
        per_track,
        float(np.clip(skew, 0.0, _MOST_SKEW)),
        stderr,
        is_identified,
        is_skew_known,
        has_rates or len(rates) < 2,
    )


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
        if len(done) < 8 or done[-1] <= done[skip] or run.parameters.get("position_bytes") is None:
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


def _agreeing(delta: Floats, phase: Floats, guess: Floats) -> tuple[NDArray[np.int64], int]:
    """Pairs on one track: those of a usable distance whose density is in the proportion to the guess on which most
    agree; and how many were usable. Pairs across a track's end are a skew apart and fall out."""
    low, high = _SHARE
    usable = (delta / guess > low) & (delta / guess < high)
    rows = np.flatnonzero(usable & (phase > 0))
    ratio = delta[rows] / phase[rows] / guess[rows]
    rows, ratio = rows[(ratio > 0.85) & (ratio < 1.0 + _MOST_SKEW)], ratio[(ratio > 0.85) & (ratio < 1.0 + _MOST_SKEW)]
    if not len(rows):
        return rows, int(usable.sum())
    votes = [(np.abs(ratio / r - 1.0) < _AGREE).sum() for r in ratio]
    centre = ratio[int(np.argmax(votes))]
    return rows[np.abs(ratio / centre - 1.0) < 2.5 * _AGREE], int(usable.sum())


def _widened(x: Floats, delta: Floats, phase: Floats, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """All pairs on one track, near or far, now that the density around each is known."""
    order = pairs[np.argsort(x[pairs])]
    falling = isotonic_regression(delta[order] / phase[order], increasing=False).x
    share = delta / np.interp(x, x[order], falling)
    return np.flatnonzero((share > _SHARE[0] / 2) & (share < 0.9) & (np.abs(phase - share) < _NEAR * np.sqrt(share)))


def _profile(place: Floats, delta: Floats, phase: Floats) -> Floats:
    """Density that falls along a line with position and explains most angles, without rates to start from."""
    best, found = 0.0, np.ones(len(place))
    for outer in np.geomspace(40.0, 8000.0, 400):
        for fall in np.linspace(0.0, 0.7, 15):
            density = outer * (1.0 - fall * place)
            share = delta / density
            near = (share > _SHARE[0]) & (share < _SHARE[1])
            n = int(near.sum())
            if n < _FEWEST_PAIRS:
                continue
            agreeing = np.count_nonzero(np.abs(phase[near] - share[near]) < 2 * _AGREE * share[near])
            if agreeing**2 / n > best:
                best, found = agreeing**2 / n, density
    return np.asarray(found)


def _skew(delta: Floats, phase: Floats, density: Floats) -> tuple[float, bool]:
    """Mean skew in turns from pairs with one track's end between them, and whether there were enough."""
    share = delta / density
    left = np.mod(phase - share, 1.0)
    crossing = left[(share > _SHARE[0]) & (share < 0.95) & (left > 0.02) & (left < _MOST_SKEW)]
    if len(crossing) < _FEWEST_PAIRS:
        return ASSUMED_SKEW_TURNS, False
    return float(crossing.mean()), True
