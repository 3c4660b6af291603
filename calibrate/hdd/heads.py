"""Heads and skews from reads at a constant stride.

Where a track ends, the angle jumps by the skew; where a cylinder ends it jumps by more. The number of tracks from one
large jump to the next is the number of heads.

After Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters" (1995), and Talagala,
Arpaci-Dusseau and Patterson, "Microbenchmark-based extraction of local and global disk characteristics" (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import MAD_TO_SIGMA, Flags, Floats, Ints, wrapped
from calibrate.evidence import Measurement, Run
from calibrate.hdd.angles import MAX_SKEW_TURNS, Skews, noise_of_angles

#: Smallest skew that is taken for the end of a track, turns, and by how much the skew of a cylinder must exceed that
#: of a track. Half lets jitter make jumps; double misses the small skews of slow drives.
_MIN_SKEW, _MIN_SKEW_GAP = 0.012, 0.006
#: Largest number of heads that is tried.
_MAX_HEADS = 40
#: Jumps needed, at least a dozen: every number of heads has its pattern among fewer.
_MIN_JUMPS = 12
#: Range about the first estimate of a track's length, as a share, and parts of a track at which its end is looked for.
#: A narrower range misses tracks whose estimate is off; a wider one takes time and finds ends in noise.
_LENGTH_RANGE, _PARTS = 0.012, 12
#: Log-likelihood by which a number of heads must exceed equal jumps, and any other number. All 180 measurements of
#: noisy drives have the right number (docs/explanation/calibration.md); lower values report numbers that noise
#: suggests.
_MIN_GAIN, _MIN_LEAD = 12.0, 4.0
#: Degrees of freedom of Student's t for jumps, and share of jumps that follow no rule. With a normal distribution one
#: late completion decides.
_FREEDOM, _OUTLIERS = 2.0, 0.05
#: Smallest scatter of a jump, turns: 4 µs at 7,200 rpm.
_MIN_SCALE = 0.0005
#: Advances that are tried as the usual one; affects speed only.
_MAX_VOTES = 400


@dataclass(frozen=True)
class Heads:
    """Number of heads, and skews in turns from one track to the next and from one cylinder to the next.

    `stderr_turns` is that of either skew: the scatter of single jumps over the root of the number of the rarer kind.
    """

    heads: int
    track_skew_turns: float
    cylinder_skew_turns: float
    stderr_turns: float
    n_jumps: int

    @property
    def skews(self) -> Skews:
        """Return both skews, with the share of the larger."""
        return Skews(self.track_skew_turns, self.cylinder_skew_turns, 1.0 / self.heads)


def find_heads(measurement: Measurement, period_ns: float, sector_bytes: int) -> Heads | None:
    """Return heads and skews, or None when the jumps cannot determine them (too few, equal, or without order)."""
    experiment = measurement.experiment("track_boundaries")
    runs = [run for run in (experiment.runs if experiment else ()) if run.parameters.get("stride") == "constant"]
    noise = noise_of_angles(measurement, period_ns)
    places = [_jumps(run, period_ns, sector_bytes, noise) for run in runs]
    places = [(number, size) for number, size in places if len(size) > 1]
    if sum(len(size) for _, size in places) < _MIN_JUMPS:
        return None
    sizes = np.concatenate([size for _, size in places])
    center = float(np.median(sizes))
    scale = max(_deviation(sizes), _MIN_SCALE)
    found: list[tuple[float, int, Flags]] = []
    # the scatter of all jumps contains the difference that is searched for: repeat with the residuals of the best
    for _ in range(3):
        alike = float(_log_likelihood(sizes - center, scale).sum())
        found = [
            (score - alike, heads, large)
            for heads in range(2, _MAX_HEADS + 1)
            for score, large in [_with_heads(places, heads, scale)]
        ]
        found.sort(key=lambda row: -row[0])
        usual, wide = sizes[~found[0][2]], sizes[found[0][2]]
        left = np.concatenate([usual - np.median(usual), wide - np.median(wide)])
        scale = max(_deviation(left), _MIN_SCALE)
    (gain, heads, large), runner_up = found[0], found[1][0]
    usual, wide = sizes[~large], sizes[large]
    if gain < _MIN_GAIN or gain - runner_up < _MIN_LEAD or np.median(wide) - np.median(usual) < _MIN_SKEW_GAP:
        return None
    return Heads(
        heads=heads,
        track_skew_turns=float(np.median(usual)),
        cylinder_skew_turns=float(np.median(wide)),
        stderr_turns=max(_deviation(usual), _deviation(wide)) / float(np.sqrt(min(len(usual), len(wide)))),
        n_jumps=len(sizes),
    )


def _with_heads(places: list[tuple[Ints, Floats]], heads: int, scale: float) -> tuple[float, Flags]:
    """Return the log-likelihood of jumps of which every `heads`-th is larger, less that of choosing the first, and
    which jumps are the larger ones."""
    kinds = []
    for number, size in places:
        trials = [number % heads == first for first in range(heads)]
        trials = [large for large in trials if large.any() and not large.all()]
        if not trials:
            kinds.append(np.zeros(len(number), np.bool_))
            continue
        scores = [_of_kinds(size, large, scale) for large in trials]
        kinds.append(trials[int(np.argmax(scores))])
    large = np.concatenate(kinds)
    sizes = np.concatenate([size for _, size in places])
    if not large.any() or large.all():
        return -np.inf, np.arange(len(sizes)) == 0
    return _of_kinds(sizes, large, scale) - len(places) * float(np.log(heads)), large


def _of_kinds(sizes: Floats, large: Flags, scale: float) -> float:
    """Return the log-likelihood of jumps about the medians of two kinds; jumps between cylinders are the larger."""
    usual, wide = np.median(sizes[~large]), np.median(sizes[large])
    middle = np.where(large, max(wide, usual), usual)
    return float(_log_likelihood(sizes - middle, scale).sum())


def _log_likelihood(left: Floats, scale: float) -> Floats:
    density = 0.3536 / scale * (1.0 + (left / scale) ** 2 / _FREEDOM) ** (-(_FREEDOM + 1.0) / 2.0)
    return np.asarray(np.log((1.0 - _OUTLIERS) * density + _OUTLIERS / MAX_SKEW_TURNS))


def _jumps(run: Run, period_ns: float, sector_bytes: int, noise: float) -> tuple[Ints, Floats]:
    """Return the number of each border between tracks (from any origin) and the jump of the angle there, in turns."""
    sector = run.samples.offset_bytes.astype(np.float64) / sector_bytes
    stride = -float(np.median(np.diff(sector))) if len(sector) > 1 else 0.0
    if stride <= 0 or len(sector) < _MIN_JUMPS:
        return np.empty(0, np.int64), np.empty(0)
    advance = np.mod(np.diff(run.samples.completion_ns) / period_ns, 1.0)
    off = wrapped(advance - _usual(advance, noise))
    track = _tracks(sector, off, stride / (1.0 - _usual(advance, noise)), noise)
    if track is None:
        return np.empty(0, np.int64), np.empty(0)
    is_within = np.diff(track) == 0
    off = wrapped(off - float(np.median(off[is_within]))) if is_within.any() else off
    # constant on a track: the angle without the part due to the place on it
    level = np.concatenate([[0.0], np.cumsum(off)])
    numbers, start, count = np.unique(-track, return_index=True, return_counts=True)
    numbers = -numbers
    middle = np.array([np.median(level[s : s + n]) for s, n in zip(start, count, strict=True)])
    # the angle of a track needs at least two reads
    is_known = (np.diff(numbers) == -1) & (np.minimum(count[:-1], count[1:]) >= 2)
    size = np.mod(middle[:-1] - middle[1:], 1.0)
    is_one = is_known & (size > _MIN_SKEW) & (size < MAX_SKEW_TURNS)
    return numbers[:-1][is_one], size[is_one]


def _usual(advance: Floats, noise: float) -> float:
    """Return the angle by which most neighboring reads are apart: those on the same track."""
    near = max(3 * noise, 0.006)
    tried = advance[:: max(len(advance) // _MAX_VOTES, 1)]
    votes = [np.count_nonzero(np.abs(wrapped(advance - a)) < near) for a in tried]
    center = tried[int(np.argmax(votes))]
    for _ in range(3):
        left = wrapped(advance - center)
        center += float(np.median(left[np.abs(left) < near]))
    return float(np.mod(center, 1.0))


def _tracks(sector: Floats, off: Floats, per_track: float, noise: float) -> Ints | None:
    """Return the track number of each read, for the length and first end under which the steps within tracks are
    likeliest to have the usual angle."""
    if not np.isfinite(per_track) or per_track <= 0:
        return None
    within = _log_likelihood(off, noise)
    across = np.where(np.mod(-off, 1.0) < MAX_SKEW_TURNS, -np.log(MAX_SKEW_TURNS), np.log(_OUTLIERS / MAX_SKEW_TURNS))
    gain = across - within
    n_tracks = float(np.ptp(sector)) / per_track
    # so fine that the last end moves by less than one part of a track
    lengths = (
        np.linspace(1.0 - _LENGTH_RANGE, 1.0 + _LENGTH_RANGE, 2 * int(_LENGTH_RANGE * n_tracks * 4) + 3) * per_track
    )
    best, found = -np.inf, None
    for length in lengths:
        place = sector / length
        number = np.floor(place[None, :] - (np.arange(_PARTS) / _PARTS)[:, None])
        scores = (np.diff(number, axis=1) != 0) @ gain
        if scores.max() > best:
            best, found = float(scores.max()), number[int(scores.argmax())]
    return None if found is None else found.astype(np.int64)


def _deviation(values: Floats) -> float:
    return MAD_TO_SIGMA * float(np.median(np.abs(values - np.median(values))))
