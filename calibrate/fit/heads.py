"""Surfaces and skews from reads at a constant stride: where a track ends, the angle jumps by the skew, and where a
cylinder ends it jumps by more; the number of tracks from one large jump to the next is the number of heads.

After Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters" (1995), and Talagala,
Arpaci-Dusseau and Patterson, "Microbenchmark-based extraction of local and global disk characteristics" (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrate.fit.angles import Skews
from calibrate.measure.document import Measurement, Run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Angles nearer than this (in turns) are the same; skews differ by more.
_SAME = 0.012
#: The two kinds of jumps are told apart when they differ by this, and by so many standard deviations.
_LEAST_GAP, _GAP_IN_DEVIATIONS = 0.006, 4.0
_CANDIDATES = 8
_MOST_SKEW = 0.6
_MOST_HEADS = 40
_FEWEST_JUMPS = 12
#: Share of the jumps that must be of the kind that the number of heads says.
_AGREEING = 0.9


@dataclass(frozen=True)
class Heads:
    """Number of surfaces, and the skews in turns from one track to the next and from one cylinder to the next.

    `stderr_turns` is that of either skew: the scatter of single jumps over the root of the number of the rarer kind.
    """

    heads: int
    track_skew_turns: float
    cylinder_skew_turns: float
    stderr_turns: float
    n_jumps: int

    @property
    def skews(self) -> Skews:
        """Both, with the share of the larger."""
        return Skews(self.track_skew_turns, self.cylinder_skew_turns, 1.0 / self.heads)


def find_heads(measurement: Measurement, period_ns: float, sector_bytes: int) -> Heads | None:
    """Heads and skews, or None when the jumps do not tell them (too few, all alike, or in no order)."""
    experiment = measurement.experiment("track_boundaries")
    runs = [run for run in (experiment.runs if experiment else ()) if run.parameters.get("stride") == "constant"]
    places = [_jumps(run, period_ns, sector_bytes) for run in runs]
    places = [(number, size) for number, size in places if len(size) > 1]
    if sum(len(size) for _, size in places) < _FEWEST_JUMPS:
        return None
    sizes = np.concatenate([size for _, size in places])
    places = [(number[common], size[common]) for number, size in places for common in [_are_common(size, sizes)]]
    sizes = np.concatenate([size for _, size in places])
    best = (_AGREEING, 0, 0.0)
    for border in _borders_between_kinds(sizes):
        large = [(number, size > border) for number, size in places]
        for heads in range(2, _MOST_HEADS + 1):
            # of equal ones the least: multiples agree as well where few cylinders were seen
            if (agreement := _agreement(large, heads)) > best[0] + 1e-9:
                best = (agreement, heads, border)
    _, heads, border = best
    if not heads:
        return None
    usual, wide = sizes[sizes <= border], sizes[sizes > border]
    return Heads(
        heads=heads,
        track_skew_turns=float(np.median(usual)),
        cylinder_skew_turns=float(np.median(wide)),
        stderr_turns=max(_deviation(usual), _deviation(wide)) / float(np.sqrt(min(len(usual), len(wide)))),
        n_jumps=len(sizes),
    )


def _jumps(run: Run, period_ns: float, sector_bytes: int) -> tuple[Ints, Floats]:
    """Number of the border between tracks (from any origin) and jump of the angle there, in turns."""
    sector = run.samples.offset_bytes.astype(np.float64) / sector_bytes
    stride = -float(np.median(np.diff(sector))) if len(sector) > 1 else 0.0
    if stride <= 0 or len(sector) < _FEWEST_JUMPS:
        return np.empty(0, np.int64), np.empty(0)
    advance = np.mod(np.diff(run.samples.completion_ns) / period_ns, 1.0)
    usual = _usual(advance)
    per_track = stride / (1.0 - usual)
    # constant on a track: the angle without the part that comes from the place on it
    level = np.mod(np.concatenate([[0.0], np.cumsum(usual - advance)]), 1.0)
    start, where = _levels(level)
    if len(start) < 2:
        return np.empty(0, np.int64), np.empty(0)
    size = np.mod(np.diff(start), 1.0)
    # from the last read on one track to the first on the next; between them lies exactly one border
    before, after = where[:-1, 1], where[1:, 0]
    middle = (sector[before] + sector[after]) / 2
    number = np.rint((sector[0] - middle) / per_track - _phase((sector[0] - middle) / per_track)).astype(np.int64)
    is_one = (after - before <= 2) & (size > _SAME) & (size < _MOST_SKEW)
    return number[is_one], size[is_one]


def _usual(advance: Floats) -> float:
    """The angle by which most reads are apart: those on the same track."""
    votes = [np.count_nonzero(np.abs(_wrapped(advance - a)) < _SAME / 2) for a in advance]
    centre = advance[int(np.argmax(votes))]
    near = _wrapped(advance - centre)
    return float(np.mod(centre + np.mean(near[np.abs(near) < _SAME / 2]), 1.0))


def _levels(level: Floats) -> tuple[Floats, Ints]:
    """Levels that at least two reads in a row agree on, and their first and last reads; single strays are left out."""
    found: list[list[float]] = []
    where: list[list[int]] = []
    for i, value in enumerate(level):
        if where and abs(_wrapped(value - found[-1][-1])) < _SAME and i - where[-1][1] <= 2:
            found[-1].append(float(value))
            where[-1][1] = i
        elif i + 1 < len(level) and abs(_wrapped(level[i + 1] - value)) < _SAME:
            found.append([float(value)])
            where.append([i, i])
    middle = [values[0] + float(np.median(_wrapped(np.array(values) - values[0]))) for values in found]
    return np.array(middle), np.array(where, np.int64).reshape(-1, 2)


def _phase(tracks: Floats) -> float:
    """Common fraction of numbers that are whole but for it."""
    return float(np.angle(np.exp(2j * np.pi * tracks).sum()) / (2 * np.pi))


def _are_common(size: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Which jumps have as many like them as the rarer kind must have; the others are reads that came late."""
    near = (np.abs(size[:, None] - sizes[None, :]) < _LEAST_GAP / 2).sum(axis=1)
    return np.asarray(near > max(3.0, len(sizes) / _MOST_HEADS))


def _borders_between_kinds(sizes: Floats) -> list[float]:
    """Sizes that may lie between the two kinds of jumps: in the widest gaps."""
    ascending = np.sort(sizes)
    widest = np.argsort(np.diff(ascending))[::-1][:_CANDIDATES] + 1
    found = []
    for k in widest:
        small, large = ascending[:k], ascending[k:]
        apart = float(np.median(large) - np.median(small))
        if apart > max(_LEAST_GAP, _GAP_IN_DEVIATIONS * max(_deviation(small), _deviation(large))):
            found.append(float(ascending[k - 1] + ascending[k]) / 2)
    return found


def _deviation(values: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))


def _agreement(places: list[tuple[Ints, NDArray[np.bool_]]], heads: int) -> float:
    """Share of the jumps that are large where and only where every `heads`-th border lies; each kind counts as half."""
    right = np.zeros(2)
    total = np.zeros(2)
    for number, is_large in places:
        best = max(range(heads), key=lambda first: np.count_nonzero((number % heads == first) == is_large))
        agrees = (number % heads == best) == is_large
        right += [np.count_nonzero(agrees & ~is_large), np.count_nonzero(agrees & is_large)]
        total += [np.count_nonzero(~is_large), np.count_nonzero(is_large)]
    return float(np.mean(right / np.maximum(total, 1)))


def _wrapped(turns: Floats | float) -> Floats:
    return np.asarray(np.mod(np.asarray(turns) + 0.5, 1.0) - 0.5)
