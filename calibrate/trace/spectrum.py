"""Coherence of platter angles: the spectrum of angle over block address.

If block x lies at angle nu·x (turns, modulo 1) over a stretch of the disk, two accesses that are dt apart in time and
dx blocks apart in address differ by f·dt - nu·dx whole turns. The mean of exp(2 pi i (f dt - nu dx)) over pairs is near
1 for the true f and nu and near 0 elsewhere. Pairs close in time need no long-lived clock. One FFT gives all nu at
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from calibrate.arrays import Flags, Floats, Ints

#: Shortest and longest track searched for, blocks (18 and 600 KB). A zone outside this range has no peak; a range
#: twice as wide lets harmonics in.
MIN_TRACK_BLOCKS = 35.0
MAX_TRACK_BLOCKS = 1200.0
#: Pairs of accesses that one spectrum uses. Half makes faint peaks noisier by a factor of 1.4; double takes twice the
#: time.
MAX_PAIRS = 20_000
#: Width of a bin of block distance, in blocks. Angles within a bin count as one: at 16 the tracks of 35 blocks blur
#: over half a turn; 4 doubles the length of every FFT.
GRAIN_BLOCKS = 8.0
#: Frequencies transformed together, and elements of such a batch: they keep the arrays within the processor's cache.
#: Both affect speed only.
MAX_AT_ONCE = 24
MAX_ELEMENTS = 40_000


@dataclass(frozen=True)
class Points:
    """Accesses whose completion gives an angle: block address x, time t_ms at which it passed, group (read or
    write)."""

    x: Floats
    t_ms: Floats
    group: Ints

    def __len__(self) -> int:
        return len(self.x)

    def take(self, chosen: Ints | Flags) -> Points:
        """Return some of the points, in order."""
        return Points(self.x[chosen], self.t_ms[chosen], self.group[chosen])


def pairs_within(points: Points, limit_ms: float, limit_blocks: float = np.inf) -> tuple[Floats, Floats, Floats]:
    """Return distances in blocks and in ms, and middle addresses, of pairs of one group close in time.

    The points must be in order of time.
    """
    firsts, seconds = [], []
    for lag in range(1, len(points)):
        near = np.flatnonzero(points.t_ms[lag:] - points.t_ms[:-lag] < limit_ms)
        if len(near) == 0:
            break
        keep = (points.group[near] == points.group[near + lag]) & (
            np.abs(points.x[near] - points.x[near + lag]) < limit_blocks
        )
        firsts.append(near[keep])
        seconds.append(near[keep] + lag)
    if not firsts:
        return np.empty(0), np.empty(0), np.empty(0)
    i, j = np.concatenate(firsts), np.concatenate(seconds)
    return points.x[j] - points.x[i], points.t_ms[j] - points.t_ms[i], (points.x[j] + points.x[i]) / 2


def thin(dx: Floats, dt: Floats, limit: int = MAX_PAIRS) -> tuple[Floats, Floats]:
    """Return at most `limit` of the pairs, evenly spaced."""
    if len(dx) <= limit:
        return dx, dt
    keep = np.linspace(0, len(dx) - 1, limit).astype(np.int64)
    return dx[keep], dt[keep]


def pair_spectrum(dx: Floats, dt: Floats, turns_per_ms: float, width: float, over: float) -> tuple[Floats, Floats]:
    """Return the coherence of pairs at every slope nu (turns per block) between the shortest and the longest track."""
    spectra = PairSpectra(dx, dt, width, over)
    (power,) = next(spectra.at(np.array([turns_per_ms])))
    return np.asarray(power, dtype=np.float64) / max(len(dx), 1) / 2, spectra.slopes


class PairSpectra:
    """Spectra of the same pairs at many rotation frequencies.

    Parameters
    ----------
    dx, dt : (n,) float64
        Distances of pairs in blocks and in ms.
    width, over : float
        Blocks that a spectrum covers, and by how much it is resolved further.
    """

    def __init__(self, dx: Floats, dt: Floats, width: float, over: float) -> None:
        self._n = n = fft.next_fast_len(int(width * over / GRAIN_BLOCKS))
        low, high = (int(n * GRAIN_BLOCKS / track) for track in (MAX_TRACK_BLOCKS, MIN_TRACK_BLOCKS))
        self._band = low, high
        bins = np.rint(np.abs(dx) / GRAIN_BLOCKS).astype(np.int64)
        # only the real part is needed: a bin counts as much as its conjugate at the other end, which half a series
        # takes
        is_far = bins > n // 2
        bins[is_far] = n - bins[is_far]
        order = np.argsort(bins, kind="stable")
        self._taken, self._first = np.unique(bins[order], return_index=True)
        self._turning = 2j * np.pi * (dt * np.where((dx < 0) ^ is_far, -1.0, 1.0))[order]
        # a series counts all bins twice, but for the first, and the last of an even number
        self._once = np.flatnonzero((self._taken == 0) | (2 * self._taken == n))

    @property
    def slopes(self) -> Floats:
        """Turns per block of a spectrum's entries."""
        return np.asarray(np.arange(*self._band) / self._n / GRAIN_BLOCKS, dtype=np.float64)

    def strongest(self, frequencies: Floats) -> Floats:
        """Return the largest coherence of `pair_spectrum` at each of evenly spaced frequencies (turns per ms), (n,)."""
        highest = [power.max(axis=1) for power in self.at(frequencies)]
        return np.asarray(np.concatenate(highest) / max(len(self._turning), 1) / 2, dtype=np.float64)

    def at(self, frequencies: Floats) -> Iterator[NDArray[np.float32]]:
        """Yield spectra at evenly spaced frequencies, some at a time, as twice the sum over pairs."""
        n, turning = self._n, self._turning
        low, high = self._band
        step = np.exp(turning * (frequencies[1] - frequencies[0])) if len(frequencies) > 1 else np.ones(len(turning))
        at_once = int(np.clip(MAX_ELEMENTS // max(n, len(turning)), 1, MAX_AT_ONCE))
        for k in range(0, len(frequencies), at_once):
            some = frequencies[k : k + at_once]
            spikes = np.empty((len(some), len(turning)), dtype=np.complex128)
            spikes[0] = np.exp(turning * some[0])
            for row in range(1, len(some)):
                np.multiply(spikes[row - 1], step, out=spikes[row])
            sums = np.add.reduceat(spikes, self._first, axis=1)
            sums[:, self._once] *= 2
            half = np.zeros((len(some), n // 2 + 1), dtype=np.complex64)
            half[:, self._taken] = sums
            yield fft.hfft(half, n, axis=1)[:, low:high]
