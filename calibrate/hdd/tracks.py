"""Sectors per track by position, from the angle between neighboring blocks and from sequential runs.

Angles between neighboring blocks determine the density itself. The angle that a sequential run advances per sector
shows much more sharply how the density falls towards the inner edge and, being longer by the time of head and cylinder
switches, the mean skew. Zones are the likeliest path of whole numbers through both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from calibrate.arrays import Flags, Floats
from calibrate.evidence import Measurement, Samples
from calibrate.hdd.angles import MAX_SKEW_TURNS, Pairs, Skews, find_pairs
from calibrate.hdd.sequential import Stretches, find_stretches
from calibrate.hdd.zones import likeliest_zones

#: Shares of a track between two blocks that show its density: nearer ones are too coarse, further ones more often
#: cross to the next track.
_SHARE = (0.06, 0.35)
#: Relative error up to which a pair agrees with a density, when there are no sequential runs.
_AGREE = 0.02
#: Pairs on one track that are needed. Half lets noise set the density; double fails for measurements of a minute.
_MIN_PAIRS = 12
#: Turns by which angles of far pairs may be off: less than any skew.
_NEAR = 0.03
#: Log-likelihood that another mean skew than that of the jumps between tracks, or another lost revolution, must gain.
_MIN_GAIN = 10.0
#: Revolutions per read of a sequential run that may have been lost.
_MAX_LOST = 4
#: Mean skew where nothing shows it, turns: 1 ms at 7,200 rpm, a head switch. Sequential rates are right whatever it
#: is; the density is off by the error of 1 + skew.
ASSUMED_SKEW_TURNS = 0.12


@dataclass(frozen=True)
class Tracks:
    """Density of tracks by position.

    Attributes
    ----------
    edges_sectors : (n + 1,) float
        Edges of the zones from the outer edge inwards, in sectors.
    per_track : (n,) float
        Sectors on a track.
    skew_turns : float
        Mean skew from one track to the next, in revolutions.
    stderr_ratio : float
        Relative standard error of the density.
    is_identified : bool
        Whether angles determine the density; else it comes from sequential runs and an assumed skew.
    is_skew_identified : bool
    is_streaming : bool
        False: sequential reads lost revolutions between requests.
    """

    edges_sectors: Floats
    per_track: Floats
    skew_turns: float
    stderr_ratio: float
    is_identified: bool
    is_skew_identified: bool
    is_streaming: bool

    def track_of(self, sector: Floats) -> Floats:
        """Return the number of tracks from the outer edge to a sector, with its fraction."""
        edges = np.concatenate([[0.0], np.cumsum(np.diff(self.edges_sectors) / self.per_track)])
        return np.asarray(np.interp(sector, self.edges_sectors, edges))


def find_tracks(
    measurement: Measurement, period_ns: float, sector_bytes: int, skews: Skews | None = None
) -> Tracks | None:
    """Return the density by position, or None when neither sequential runs nor angles determine it.

    Parameters
    ----------
    skews : Skews, optional
        From the jumps of the angle at the ends of tracks, if they were found.
    """
    n_sectors = measurement.size_bytes // sector_bytes
    stretches = find_stretches(measurement, period_ns, sector_bytes)
    pairs = find_pairs(measurement, single_reads(measurement), period_ns, sector_bytes)
    if len(stretches) >= 2:
        stretches, skew, is_known = _without_lost(pairs, stretches, skews)
        slope = _rising(stretches, pairs.sector)
        guess = (1.0 + skew) / slope
        numbers = (1.0 + skew) / stretches.turns_per_sector
    else:
        stretches = stretches.none()
        guess = numbers = _profile(pairs, n_sectors)
        skew, is_known = 0.0, False
    is_one_track = _are_on_one_track(pairs, guess)
    is_identified = int(is_one_track.sum()) >= _MIN_PAIRS
    if not is_identified and not len(stretches):
        return None
    if not len(stretches):
        pairs, numbers = pairs.rows(guess > 0), guess[is_one_track]
    edges, per_track = likeliest_zones(pairs, stretches, numbers, skew_turns=skew, skews=skews, n_sectors=n_sectors)
    density = per_track[np.clip(np.searchsorted(edges, pairs.sector) - 1, 0, len(per_track) - 1)]
    if not len(stretches):
        skew, is_known = _skew_of_crossings(pairs, density)
    return Tracks(
        edges,
        per_track,
        float(np.clip(skew, 0.0, MAX_SKEW_TURNS)),
        _error(pairs, density) if is_identified else 0.05,
        is_identified,
        is_known,
        stretches.is_streaming,
    )


def single_reads(measurement: Measurement) -> list[Samples]:
    """Return the runs of reads one at a time, in order of issue."""
    names = ("rotation_period", "seek_profile", "track_boundaries", "random_reads")
    runs = []
    for name in names:
        experiment = measurement.experiment(name)
        for run in experiment.runs if experiment is not None else ():
            if run.queue_depth == 1 and len(run.samples) > 1 and not run.samples.op.any():
                runs.append(run.samples)
    return runs


def _rising(stretches: Stretches, sector: Floats) -> Floats:
    """Return turns per sector at places between sequential runs."""
    rising = isotonic_regression(stretches.turns_per_sector, weights=1.0 / (stretches.stderr_ratio + 1e-3) ** 2).x
    return np.asarray(np.interp(sector, stretches.sector, rising))


def _without_lost(pairs: Pairs, stretches: Stretches, skews: Skews | None) -> tuple[Stretches, float, bool]:
    """Return the runs without the revolutions that every read lost, as far as pairs show any, the mean skew, and
    whether it is known."""
    best, found = -np.inf, (stretches, ASSUMED_SKEW_TURNS, False)
    for turns in range(_MAX_LOST + 1):
        trial = stretches.losing(turns)
        if len(trial) < 2:
            break
        skew, is_known, likelihood = _skew_between(pairs, _rising(trial, pairs.sector), skews)
        if likelihood > best + _MIN_GAIN:
            best, found = likelihood, (trial, skew, is_known)
    return found


def _skew_between(pairs: Pairs, slope: Floats, skews: Skews | None) -> tuple[float, bool, float]:
    """Return the mean skew, whether it is known, and the log-likelihood of the pairs.

    It is the share by which sequential runs are slower than pairs on one track. The skew of the jumps between tracks
    is used unless the pairs contradict it.
    """
    if not len(pairs):
        return (skews.mean_turns, True, 0.0) if skews else (ASSUMED_SKEW_TURNS, False, 0.0)
    best, width, step = MAX_SKEW_TURNS / 2, MAX_SKEW_TURNS / 2, 0.002
    while step > 1e-5:
        trial = np.arange(max(best - width, 0.0), best + width, step)
        likelihood = pairs.log_likelihood((1.0 + trial) / slope[:, None], skews).sum(axis=0)
        best, width, step = float(trial[likelihood.argmax()]), 2 * step, step / 5
    best_likelihood = float(likelihood.max())
    if skews:
        of_jumps = pairs.log_likelihood((1.0 + skews.mean_turns) / slope[:, None], skews).sum()
        if best_likelihood - of_jumps < _MIN_GAIN:
            return skews.mean_turns, True, best_likelihood
    if int(_are_on_one_track(pairs, (1.0 + best) / slope).sum()) < _MIN_PAIRS:
        return ASSUMED_SKEW_TURNS, False, best_likelihood
    return best, True, best_likelihood


def _are_on_one_track(pairs: Pairs, guess: Floats) -> Flags:
    """Return which pairs have the angle of two blocks on one track of about `guess` sectors."""
    share = pairs.distance_sectors / guess
    is_usable = (share > _SHARE[0] / 2) & (share < 0.9)
    return np.asarray(is_usable & (np.abs(pairs.phase_turns - share) < _NEAR * np.sqrt(share)))


def _error(pairs: Pairs, density: Floats) -> float:
    """Return the relative standard error of the density, from the scatter of pairs on one track about it."""
    rows = _are_on_one_track(pairs, density)
    if not rows.any():
        return 0.05
    off = pairs.distance_sectors[rows] / pairs.phase_turns[rows] / density[rows] - 1.0
    return float(np.std(off) / np.sqrt(len(off)))


def _profile(pairs: Pairs, n_sectors: int) -> Floats:
    """Return the density, falling linearly with position, that explains most angles; for use without sequential
    runs."""
    place, delta, phase = pairs.sector / n_sectors, pairs.distance_sectors, pairs.phase_turns
    best, found = 0.0, np.ones(len(place))
    for outer in np.geomspace(40.0, 8000.0, 400):
        for fall in np.linspace(0.0, 0.7, 15):
            density = outer * (1.0 - fall * place)
            share = delta / density
            near = (share > _SHARE[0]) & (share < _SHARE[1])
            n = int(near.sum())
            if n < _MIN_PAIRS:
                continue
            agreeing = np.count_nonzero(np.abs(phase[near] - share[near]) < 2 * _AGREE * share[near])
            if agreeing**2 / n > best:
                best, found = agreeing**2 / n, density
    return np.asarray(found)


def _skew_of_crossings(pairs: Pairs, density: Floats) -> tuple[float, bool]:
    """Return the mean skew in turns from pairs across the end of a track, and whether there were enough."""
    share = pairs.distance_sectors / density
    left = np.mod(pairs.phase_turns - share, 1.0)
    crossing = left[(share > _SHARE[0]) & (share < 0.95) & (left > 0.02) & (left < MAX_SKEW_TURNS)]
    if len(crossing) < _MIN_PAIRS:
        return ASSUMED_SKEW_TURNS, False
    return float(crossing.mean()), True
