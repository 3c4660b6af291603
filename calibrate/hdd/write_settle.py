"""What a write costs beyond a read: the settle of the head, from durable writes and reads in random order.

A write that ended t after its issue found the head ready, and settled finely enough to write, within the revolution
before. With the seek curve known from reads, the settle is the shift that most writes agree with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from calibrate.arrays import Floats
from calibrate.evidence import DURABLE_WRITE, Measurement, Samples
from calibrate.hdd.seek import EARLY_SHARE, LATE_SHARE, SeekFit
from calibrate.hdd.tracks import Tracks

#: Durable writes that must have moved the arm: with half of them the interval left between them is that of a whole
#: settle.
_MIN_WRITES = 40
#: Longest settle, turns: 3.3 ms at 7,200 rpm, several times what data sheets give. With 0.9 a settle of nothing could
#: pass for nearly a revolution.
MAX_SETTLE_TURNS = 0.4
#: Steps of the search: 4 µs each at 7,200 rpm.
_STEPS = 801
#: Width of the edges of the wait, turns: twice that of `seek`, since the curve has an error too.
_SOFT_TURNS = 0.008


@dataclass(frozen=True)
class WriteSettle:
    """Settle of a write beyond that of a read, and the number of writes it rests on."""

    settle_ns: float
    stderr_ns: float
    n: int


def fit_write_settle(
    measurement: Measurement, tracks: Tracks, seek: SeekFit, *, period_ns: float, sector_bytes: int
) -> WriteSettle | None:
    """Return the write settle, or None when fewer than `_MIN_WRITES` durable writes moved the arm."""
    experiment = measurement.experiment("write_settle")
    found = [
        _turns_left(run.samples, tracks, seek, period_ns, sector_bytes)
        for run in (experiment.runs if experiment is not None else ())
        if run.queue_depth == 1 and len(run.samples) > 1
    ]
    left = np.concatenate(found) if found else np.empty(0)
    if len(left) < _MIN_WRITES:
        return None
    shifts = np.linspace(0.0, MAX_SETTLE_TURNS, _STEPS)
    best = float(shifts[int(np.argmax([_likelihood(left - shift) for shift in shifts]))])
    inside = (left - best)[(left >= best) & (left <= best + 1.0)]
    interval = (float(inside.min()) + 1.0 - float(inside.max())) / 2 if len(inside) else 0.5
    # the interval between writes, and the error of the seek curve
    of_curve = float(np.median(seek.stderr_ns)) / period_ns
    return WriteSettle(best * period_ns, float(np.hypot(interval, of_curve)) * period_ns, len(left))


def _turns_left(samples: Samples, tracks: Tracks, seek: SeekFit, period_ns: float, sector_bytes: int) -> Floats:
    """Return, for writes, the revolutions from when a read would have been ready until the first sector passed."""
    start = samples.offset_bytes / sector_bytes
    sectors = samples.length_bytes / sector_bytes
    zone = np.clip(np.searchsorted(tracks.edges_sectors, start, side="right") - 1, 0, len(tracks.per_track) - 1)
    waited = samples.latency_ns - sectors / tracks.per_track[zone] * period_ns
    away = np.abs(np.diff(tracks.track_of(start)))
    chosen = (samples.op[1:] == DURABLE_WRITE) & (away >= seek.distance[0])
    return np.asarray((waited[1:] - seek.at(away))[chosen] / period_ns)


def _likelihood(left: Floats) -> float:
    up, down = left / _SOFT_TURNS, (1.0 - left) / _SOFT_TURNS
    return float(
        np.log(np.exp(log_expit(up) + log_expit(down)) + EARLY_SHARE + (LATE_SHARE - EARLY_SHARE) * expit(-down)).sum()
    )
