"""Angle of sequential reads by sector: the part of a revolution that a sector takes, switches of tracks included.

A read from the platter ends where its last sector passes. Modulo a revolution the completions of a sequential run
therefore follow a line through the offsets, whose slope gives sectors per track and mean skew together. Lost
revolutions are whole ones and do not move it; single late completions are few among many on the line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import MAD_TO_SIGMA, Floats, wrapped
from calibrate.evidence import Measurement, Run

#: Reads that a run needs, and the most that are used.
_MIN_READS, _MAX_READS = 8, 1 << 12
#: Revolutions that a run must last, or its slope is no better than its rate; and more than any run takes.
_MIN_TURNS, _MAX_TURNS = 4.0, 4000.0
#: Coherence of the completions about the line, 0 to 1. Half accepts runs without a line; at 0.9 busy hosts lose most
#: runs.
_MIN_COHERENCE = 0.6
#: Range of the slope as a share of the slope by time, which lost revolutions make too large.
_MIN_SLOPE_RATIO, _MAX_SLOPE_RATIO = 0.3, 1.06
#: Steps of the slope for each turn over the run's length: at 3 the peak can lie between two steps.
_STEPS_PER_TURN = 6
#: Residuals beyond this many deviations, or this much of a turn if that is more, do not count.
_MAX_DEVIATIONS, _MIN_FAR_TURNS = 4.0, 0.03
#: Factor on the standard error: angles within a track and across its end differ by the skew, so that residuals of
#: neighbors are correlated.
_ALIKE = 1.5
#: A run whose slope is at least this share of the slope by time lost no revolutions regularly.
_MIN_STREAMING_RATIO = 0.75
#: A read takes at least this part of a revolution.
_MIN_READ_TURNS = 0.02


@dataclass(frozen=True)
class Stretches:
    """Slopes of sequential runs, one row each, by position.

    Attributes
    ----------
    sector : (n,) float
        Middle of the run.
    turns_per_sector : (n,) float
        Revolutions that a sector takes, head and cylinder switches included.
    stderr_ratio : (n,) float
        Relative standard error.
    whole_turn : (n,) float
        By how much the slope grows if every read loses one more revolution, which angles alone do not show.
    is_streaming : bool
        False: at least half of the runs took much longer than their angles imply, so revolutions were lost.
    """

    sector: Floats
    turns_per_sector: Floats
    stderr_ratio: Floats
    whole_turn: Floats
    is_streaming: bool

    def __len__(self) -> int:
        return len(self.sector)

    @classmethod
    def none(cls) -> Stretches:
        """Return no rows."""
        return cls(np.empty(0), np.empty(0), np.empty(0), np.empty(0), True)

    def losing(self, turns: int) -> Stretches:
        """Return the runs as if every read had lost `turns` revolutions, without those where nothing is left for the
        read."""
        slope = self.turns_per_sector - turns * self.whole_turn
        row = slope > _MIN_READ_TURNS * self.whole_turn
        ratio = self.stderr_ratio[row] * self.turns_per_sector[row] / slope[row]
        is_streaming = self.is_streaming and turns == 0
        return Stretches(self.sector[row], slope[row], ratio, self.whole_turn[row], is_streaming)


def find_stretches(measurement: Measurement, period_ns: float, sector_bytes: int) -> Stretches:
    """Return the slope of every sequential run that follows the platter."""
    experiment = measurement.experiment("zones")
    rows = [_stretch(run, period_ns, sector_bytes) for run in (experiment.runs if experiment is not None else ())]
    found = np.array([row for row in rows if row is not None], np.float64).reshape(-1, 5)
    found = found[np.argsort(found[:, 0], kind="stable")]
    is_streaming = bool(np.median(found[:, 4]) > _MIN_STREAMING_RATIO) if len(found) else True
    return Stretches(found[:, 0], found[:, 1], found[:, 2], found[:, 3], is_streaming)


def _stretch(run: Run, period_ns: float, sector_bytes: int) -> tuple[float, float, float, float, float] | None:
    """Return middle, slope, relative error, the slope of one more revolution per read, and the share of the slope by
    time."""
    samples = run.samples
    order = np.argsort(samples.completion_ns, kind="stable")[min(2 * run.queue_depth, len(samples) // 4) :]
    order = order[np.argsort(samples.offset_bytes[order], kind="stable")]
    if not _MIN_READS <= len(order) <= _MAX_READS:
        return None
    end_bytes = (samples.offset_bytes + samples.length_bytes)[order]
    end = (end_bytes - end_bytes[0]) / sector_bytes
    if (np.diff(end) <= 0.0).any():
        return None
    turns = (samples.completion_ns[order] - samples.completion_ns[order[0]]) / period_ns
    middle = float(end.mean())
    end, middle = end - middle, middle + float(end_bytes[0]) / sector_bytes
    by_time = _usual_slope(end, turns)
    span = float(np.ptp(end))
    if not _MIN_TURNS <= by_time * span <= _MAX_TURNS:
        return None
    # whole revolutions between two neighbors look like none: their slopes differ by this much
    alias = 1.0 / float(np.median(np.diff(end)))
    low, high = max(_MIN_SLOPE_RATIO * by_time, by_time - 0.8 * alias), _MAX_SLOPE_RATIO * by_time
    trial = np.arange(low, high, 1.0 / span / _STEPS_PER_TURN)
    together = np.array([abs(np.exp(2j * np.pi * (turns - slope * end)).mean()) for slope in trial])
    slope = float(trial[together.argmax()])
    if together.max() < _MIN_COHERENCE:
        return None
    slope, deviation = _refined(end, turns, slope)
    stderr = _ALIKE * deviation * float(np.sqrt(12.0 / len(end))) / (slope * span)
    return middle, slope, stderr, alias, slope / by_time


def _usual_slope(end: Floats, turns: Floats) -> float:
    """Return the median slope between reads a third of the run apart, which neither stalls nor late reads move."""
    lag = max(len(end) // 3, 1)
    return float(np.median((turns[lag:] - turns[:-lag]) / (end[lag:] - end[:-lag])))


def _refined(end: Floats, turns: Floats, slope: float) -> tuple[float, float]:
    """Return the slope of a robust line through the angles (bisquare weights), and the deviation from it."""
    left = turns - slope * end
    start = float(np.angle(np.exp(2j * np.pi * left).sum()) / (2 * np.pi))
    left = wrapped(left - start)
    design = np.stack([np.ones_like(end), end], axis=1)
    line = np.zeros(2)
    deviation = 0.0
    for _ in range(8):
        rest = left - design @ line
        deviation = MAD_TO_SIGMA * float(np.median(np.abs(rest)))
        weight = np.maximum(1.0 - (rest / max(_MAX_DEVIATIONS * deviation, _MIN_FAR_TURNS)) ** 2, 0.0)
        scaled = design * weight[:, None]
        line = np.linalg.lstsq(scaled, left * weight, rcond=None)[0]
    return slope + float(line[1]), deviation
