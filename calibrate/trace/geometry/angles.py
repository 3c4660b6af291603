"""The angle of every block: a rate per zone and the two steps that make it a staircase.

Within a zone angle(x) = offset + nu·x + track step + cylinder step. Each step is a sawtooth: a skew hides the switch of
head or cylinder, so the angle jumps ahead at the end of each track and each cylinder. What the sawteeth do not explain
(slipped defects, spare tracks) is left to a smooth correction from measured neighbors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import fft

from calibrate.arrays import Complexes, Flags, Floats
from calibrate.trace.spectrum import GRAIN_BLOCKS
from diskmodel.engine.compiled import kernel as _kernel

#: Bins of a period in which residuals are summed: a step's place is found to a 48th of a track, then sharpened.
N_BINS = 48
#: Bins of blocks in the shortest period that is searched for, whose line then loses 0.6 % of its strength. With half it
#: loses 3 %, and other lines than the strongest may be taken.
BINS_OF_SHORTEST = 16
#: Heights of a step that differ by less than this (turns) count as one where many are compared: a hundredth of the
#: error of an angle (`drift.SIGMA_TURNS`). Half makes twice as many shapes; at ten times it, a sector is lost.
GRAIN_TURNS = 4e-4
#: Frequencies whose sums are compared at once, so that they stay in the processor's cache; affects speed only.
MAX_AT_ONCE = 200
#: Log-likelihood that a step must gain. Some hundred frequencies times heights are tried, so that noise reaches about
#: 6; at double, zones with few accesses have no step.
MIN_GAIN = 12.0
#: Heights of track steps that are tried, turns.
TRACK_TURNS = np.array([0.03, 0.06, 0.09, 0.12, 0.15, 0.18, 0.22, 0.27, 0.33])
#: Heights of cylinder steps that are tried, turns beyond the skew of a track. They may be negative: a fitted track
#: step can take part of them.
CYLINDER_TURNS = np.array([-0.3, -0.2, -0.1, -0.05, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.36, 0.42])


@dataclass(frozen=True)
class Step:
    """A sawtooth of angle: a step of `turns` every `period_blocks`, first at `first_block`; no step if `turns` is 0."""

    period_blocks: float = 1.0
    first_block: float = 0.0
    turns: float = 0.0

    def at(self, x: Floats) -> Floats:
        """Return its part of the angle, in turns."""
        periods = (x - self.first_block) / self.period_blocks
        return np.asarray(-self.turns * (periods - np.floor(periods) - 0.5))


@dataclass(frozen=True)
class ZoneAngle:
    """Angles of the blocks from `first` to `last` (excluded), in turns; at each of `slips` (counted from `first`)
    addresses leave out one track."""

    first: float
    last: float
    offset: float
    turns_per_block: float
    track: Step = field(default_factory=Step)
    cylinder: Step = field(default_factory=Step)
    coherence: float = 0.0
    n_points: int = 0
    slips: tuple[float, ...] = ()

    def placed(self, x: Floats) -> Floats:
        """Return blocks counted from the zone's first, including those of tracks that are left out."""
        relative = x - self.first
        if not self.slips:
            return np.asarray(relative)
        return relative + self.track.period_blocks * np.searchsorted(np.array(self.slips), relative, side="right")

    def at(self, x: Floats) -> Floats:
        """Return the angle of blocks, in turns, not reduced modulo 1."""
        relative = self.placed(x)
        return self.offset + self.turns_per_block * relative + self.track.at(relative) + self.cylinder.at(relative)


def fit_steps(zone: ZoneAngle, x: Floats, phasor: Complexes, is_seen: Flags) -> ZoneAngle:
    """Return the zone with rate and steps fitted to the measured angles of its blocks (unit phasors)."""
    chosen = is_seen & (x >= zone.first) & (x < zone.last)
    relative, z = x[chosen] - zone.first, phasor[chosen]
    if len(relative) < 30:
        return zone
    zone = _best_rate(zone, relative, z)
    for _ in range(2):
        zone = _best_track(zone, relative, z)
        zone = _best_cylinder(zone, relative, z)
    left = z * np.exp(-2j * np.pi * zone.at(x[chosen]))
    mean = left.mean()
    offset = zone.offset + float(np.angle(mean)) / (2 * np.pi)
    return replace(zone, offset=offset, coherence=float(abs(mean)), n_points=len(relative))


def _left(zone: ZoneAngle, relative: Floats, z: Complexes, **without: Step) -> Complexes:
    bare = replace(zone, offset=0.0, **without)  # type: ignore[arg-type]
    return np.asarray(z * np.exp(-2j * np.pi * bare.at(relative + zone.first)))


def _best_rate(zone: ZoneAngle, relative: Floats, z: Complexes) -> ZoneAngle:
    left = _left(zone, relative, z)
    extent = zone.last - zone.first
    shift = np.arange(-20, 21) * 0.1 / extent
    score = np.abs(np.exp(-2j * np.pi * np.outer(shift, relative)) @ left)
    return replace(zone, turns_per_block=zone.turns_per_block + float(shift[score.argmax()]))


def _lines(angle: Floats, relative: Floats, low: float, high: float, extent: float, count: int) -> Floats:
    """Return the frequencies (steps per block) of the strongest periodic parts of a residual angle."""
    coarser = 1 << max(int(np.log2(1.0 / (high * BINS_OF_SHORTEST * GRAIN_BLOCKS))), 0)
    grain = GRAIN_BLOCKS * coarser
    n = int(2 ** np.ceil(np.log2(extent * 2 / GRAIN_BLOCKS + 2))) // coarser
    series = np.bincount(np.rint(relative / grain).astype(np.int64), angle, n)
    first, last = int(np.ceil(low * n * grain)), int(high * n * grain)
    lines = fft.rfft(series.astype(np.float32))[first : last + 1]
    power = lines.real**2 + lines.imag**2
    strongest = np.argpartition(-power, count)[:count] if len(power) > count else np.arange(len(power))
    return (first + strongest[np.argsort(-power[strongest])]) / n / grain


def _gathered(left: Complexes, relative: Floats, frequencies: Floats) -> Complexes:
    """Return residuals summed by their place within a period, (frequencies, bins)."""
    return _kernel.folded(relative, left, frequencies, N_BINS)


def best_sawtooth(
    left: Complexes, relative: Floats, frequencies: Floats, heights: Floats, fits: Flags | None = None
) -> tuple[float, Step]:
    """Return the sawtooth, of all frequencies and heights, that makes the residual most coherent, and its coherent
    sum; `fits` (heights, frequencies) leaves some of them out."""
    best, step = 0.0, Step()
    if len(frequencies) == 0:
        return best, step
    tooth = (np.arange(N_BINS) + 0.5) / N_BINS - 0.5
    shapes = np.conj(np.fft.fft(np.exp(-2j * np.pi * heights[:, None] * tooth), axis=1))
    # a later start shifts the shape round: all starts at once by circular correlation
    spectra = np.fft.fft(_gathered(left, relative, frequencies), axis=1)
    for k, (height, shape) in enumerate(zip(heights, shapes, strict=True)):
        rows = np.arange(len(frequencies)) if fits is None else np.flatnonzero(fits[k])
        if len(rows) == 0:
            continue
        score = np.abs(np.fft.ifft(spectra[rows] * shape, axis=1))
        row, column = divmod(int(score.argmax()), N_BINS)
        if score[row, column] > best:
            best = float(score[row, column])
            period = 1.0 / float(frequencies[rows[row]])
            step = Step(period, column / N_BINS * period, float(height))
    return best, step


def sawtooth_scores(
    left: Complexes, relative: Floats, frequencies: Floats, heights: Sequence[Floats]
) -> list[tuple[Floats, Floats]]:
    """Return coherent sum and start (in periods) of each frequency's best sawtooth, (n,) each, per set of heights."""
    tooth = (np.arange(N_BINS) + 0.5) / N_BINS - 0.5
    # a shape for each height that differs
    levels, level = np.unique(np.rint(np.concatenate(heights) / GRAIN_TURNS), return_inverse=True)
    shapes = np.conj(np.fft.fft(np.exp(-2j * np.pi * GRAIN_TURNS * levels[:, None] * tooth), axis=1))
    shapes = shapes.astype(np.complex64)
    out = [(np.empty(len(frequencies)), np.empty(len(frequencies))) for _ in heights]
    for k in range(0, len(frequencies), MAX_AT_ONCE):
        some = slice(k, k + MAX_AT_ONCE)
        # 24 bits are enough to compare sums by
        spectra = fft.fft(_gathered(left, relative, frequencies[some]).astype(np.complex64), axis=1)
        for chosen, (best, start) in zip(np.split(level, len(heights)), out, strict=True):
            sums = fft.ifft(spectra * shapes[chosen[some]], axis=1)
            score = sums.real**2 + sums.imag**2
            column = score.argmax(axis=1)
            best[some] = np.sqrt(score[np.arange(len(score)), column])
            start[some] = column / N_BINS
    return out


def _best_track(zone: ZoneAngle, relative: Floats, z: Complexes) -> ZoneAngle:
    left = _left(zone, relative, z, track=Step())
    plain = abs(left.sum())
    nu, extent = zone.turns_per_block, zone.last - zone.first
    angle = np.angle(left * np.exp(-1j * np.angle(left.mean()))) / (2 * np.pi)
    lines = _lines(angle, relative, nu / 1.45, nu / 1.02, extent, 60)
    near = (lines[:, None] + np.array([-0.2, -0.1, 0.0, 0.1, 0.2]) / extent).ravel()
    fits = np.abs(TRACK_TURNS[:, None] / (nu / near - 1.0) - 0.72) < 0.32
    best, step = best_sawtooth(left, relative, near, TRACK_TURNS, fits)
    gain = log_gain(len(relative), plain, best)
    return replace(zone, track=step if gain > 2 * MIN_GAIN else Step())


def _best_cylinder(zone: ZoneAngle, relative: Floats, z: Complexes) -> ZoneAngle:
    left = _left(zone, relative, z, cylinder=Step())
    plain = abs(left.sum())
    track = zone.track.period_blocks if zone.track.turns else 0.85 / zone.turns_per_block
    extent = zone.last - zone.first
    angle = np.angle(left * np.exp(-1j * np.angle(left.mean()))) / (2 * np.pi)
    lines = _lines(angle, relative, 1 / (24 * track), 1 / (1.8 * track), extent, 60)
    near = (lines[:, None] + np.array([-0.2, -0.1, 0.0, 0.1, 0.2]) / extent).ravel()
    best, step = best_sawtooth(left, relative, near, CYLINDER_TURNS)
    gain = log_gain(len(relative), plain, best)
    return replace(zone, cylinder=step if gain > 2 * MIN_GAIN else Step())


def log_gain(n: int, plain: float, best: float) -> float:
    """Return twice the gain in log-likelihood when the coherent sum of n points rises from `plain` to `best`."""
    return float(2.0 * n * np.log(max(1 - plain / n, 1e-6) / max(1 - best / n, 1e-6)))
