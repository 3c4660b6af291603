"""Angles between blocks that were read one after the other, and how likely they are on tracks of a given density.

Two single reads of blocks δ sectors apart on one track end δ / sectors-per-track of a revolution apart, modulo a
revolution; the end of a track between them adds a skew. Completions delayed by the host, and cache hits, make heavy
tails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrate.arrays import MAD_TO_SIGMA, Floats, wrapped
from calibrate.evidence import Measurement, Run, Samples

#: Distances of pairs that are used, sectors: nearer ones have an angle within the noise, further ones are more than a
#: track apart.
_MIN_DISTANCE_SECTORS, _MAX_DISTANCE_SECTORS = 8, 8192
#: A completion sooner than this after its issue, in turns (170 µs at 7,200 rpm), may be a cache hit. Half lets hits
#: in; double drops reads that happened to arrive in time.
MIN_MEDIA_TURNS = 0.02
#: Reads of one run at a constant stride that are used: more say nothing new, since all are at one place.
_MAX_OF_A_RUN = 250
#: Degrees of freedom of Student's t for the delay of completions, and share of pairs that follow no rule. A normal
#: distribution would let single late completions decide.
_FREEDOM, _OUTLIERS = 1.5, 0.08
#: Limits of the scale of an angle's error, turns: 2.5 µs and 420 µs at 7,200 rpm.
_MIN_NOISE, _MAX_NOISE = 0.0003, 0.05
#: Scale of the error where too few blocks were read again, turns.
_USUAL_NOISE = 0.001
#: Largest skew from one track or cylinder to the next, turns: an arm that needs longer would lose a revolution. At 0.3
#: cylinder skews of fast drives are excluded; at 1 every angle is one.
MAX_SKEW_TURNS = 0.6
#: Density of Student's t at 0 with `_FREEDOM` degrees of freedom.
_PEAK = math.gamma((_FREEDOM + 1) / 2) / (math.sqrt(_FREEDOM * math.pi) * math.gamma(_FREEDOM / 2))


@dataclass(frozen=True)
class Skews:
    """Skews in turns, and the share of the tracks' ends that are ends of cylinders."""

    track_turns: float
    cylinder_turns: float
    cylinder_ratio: float

    @property
    def mean_turns(self) -> float:
        """Return the mean skew from one track to the next."""
        return (1.0 - self.cylinder_ratio) * self.track_turns + self.cylinder_ratio * self.cylinder_turns


@dataclass(frozen=True)
class Pairs:
    """Pairs of reads one after the other of blocks near each other.

    Attributes
    ----------
    sector : (n,) float
        Position.
    distance_sectors : (n,) float
    phase_turns : (n,) float, in [0, 1)
        Angle between the two reads.
    noise_turns : float
        Scale of the error of an angle, from re-reads of single blocks.
    """

    sector: Floats
    distance_sectors: Floats
    phase_turns: Floats
    noise_turns: float

    def __len__(self) -> int:
        return len(self.sector)

    def rows(self, which: NDArray[np.generic]) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.sector[which], self.distance_sectors[which], self.phase_turns[which], self.noise_turns)

    def log_likelihood(self, per_track: Floats, skews: Skews | None) -> Floats:
        """Return the log-likelihood of each pair (rows) on tracks of `per_track` sectors (columns, or one value per
        pair).

        Without skews, a pair across the end of a track shows only that its skew is below `MAX_SKEW_TURNS`.
        """
        share = self.distance_sectors[:, None] / per_track
        left = wrapped(self.phase_turns[:, None] - share)
        if skews is None:
            across = ((left > 0.0) | (left < MAX_SKEW_TURNS - 1.0)) / MAX_SKEW_TURNS
        else:
            across = (1.0 - skews.cylinder_ratio) * self._density(left - skews.track_turns)
            across += skews.cylinder_ratio * self._density(left - skews.cylinder_turns)
        density = np.maximum(1.0 - share, 0.0) * self._density(left) + np.minimum(share, 1.0) * across
        # blocks more than a track apart show nothing
        return np.asarray(np.where(share < 1.0, np.log(_OUTLIERS + (1.0 - _OUTLIERS) * density), 0.0))

    def _density(self, left: Floats) -> Floats:
        """Return the density of Student's t about 0, in turns."""
        left = wrapped(left)
        scaled = (left / self.noise_turns) ** 2 / _FREEDOM
        return np.asarray(_PEAK / self.noise_turns * (1.0 + scaled) ** (-(_FREEDOM + 1.0) / 2.0))


def find_pairs(measurement: Measurement, runs: list[Samples], period_ns: float, sector_bytes: int) -> Pairs:
    """Return all pairs in runs of reads one at a time."""
    columns: list[tuple[Floats, Floats, Floats]] = []
    for samples in runs:
        end = (samples.offset_bytes + samples.length_bytes) / sector_bytes
        step = np.diff(end)
        turns = np.diff(samples.completion_ns.astype(np.float64)) / period_ns
        is_near = (np.abs(step) > _MIN_DISTANCE_SECTORS) & (np.abs(step) < _MAX_DISTANCE_SECTORS)
        near = np.flatnonzero(is_near & (samples.latency_ns[1:] > MIN_MEDIA_TURNS * period_ns))
        if len(near) > _MAX_OF_A_RUN and len(np.unique(step[near])) == 1:
            near = near[np.linspace(0, len(near) - 1, _MAX_OF_A_RUN).astype(np.int64)]
        columns.append((end[1:][near], np.abs(step[near]), np.mod(turns[near] * np.sign(step[near]), 1.0)))
    noise = noise_of_angles(measurement, period_ns)
    if not columns:
        return Pairs(np.empty(0), np.empty(0), np.empty(0), noise)
    sector, distance, phase = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return Pairs(sector, distance, phase, noise)


def noise_of_angles(measurement: Measurement, period_ns: float) -> float:
    """Return the scale, in turns, by which re-reads of a block differ from whole revolutions."""
    experiment = measurement.experiment("rotation_period")
    left = [_misses(run, period_ns) for run in (experiment.runs if experiment is not None else ())]
    missed = np.concatenate(left) if left else np.empty(0)
    if len(missed) < 20:
        return _USUAL_NOISE
    return float(np.clip(MAD_TO_SIGMA * np.median(np.abs(missed)), _MIN_NOISE, _MAX_NOISE))


def _misses(run: Run, period_ns: float) -> Floats:
    samples = run.samples
    done, offset = samples.completion_ns, samples.offset_bytes
    kept = samples.latency_ns > MIN_MEDIA_TURNS * period_ns
    done, offset = done[kept], offset[kept]
    order = np.lexsort((done, offset))
    is_same = np.diff(offset[order]) == 0
    turns = np.diff(done[order])[is_same] / period_ns
    return wrapped(turns)
