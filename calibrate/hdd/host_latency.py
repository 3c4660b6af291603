"""Delay of completions by the host, for reads from the platter: a processor that sleeps meanwhile wakes late.

A block ends at the same angle each time it is read, so a completion that is later than others of its block, apart from
whole revolutions, was delayed by the host. Cache hits do not show this: they are too short for the processor to sleep.
"""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats, wrapped
from calibrate.evidence import Measurement
from calibrate.hdd.angles import MIN_MEDIA_TURNS

#: Further than this from a block's usual angle, in turns, is something else: a stall, a block that was moved.
_OUTLIER_TURNS = 0.1
#: Reads of a block, and reads in all, that are needed.
_MIN_OF_A_BLOCK, _MIN_READS = 4, 100
#: Quantile that counts as undelayed, of hits and of angles. The minimum would be an outlier; the median includes the
#: host.
HIT_QUANTILE = 0.1


def late_by_angle(measurement: Measurement, period_ns: float) -> Floats:
    """Return the delays of reads from the platter beyond the earliest ones, ns (n,); empty with few re-reads."""
    experiment = measurement.experiment("rotation_period")
    parts: list[tuple[Floats, Floats]] = []
    for run in experiment.runs if experiment is not None else ():
        samples = run.samples
        kept = samples.latency_ns > MIN_MEDIA_TURNS * period_ns
        done, offset = samples.completion_ns[kept].astype(np.float64), samples.offset_bytes[kept]
        for block in np.unique(offset):
            mine = done[offset == block]
            if len(mine) >= _MIN_OF_A_BLOCK:
                parts.append(_about_usual(mine, period_ns))
    if sum(len(late) for _, late in parts) < _MIN_READS:
        return np.empty(0)
    when, late = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    # an error of the period of a few millionths adds up, in seconds, to the delay of a host
    late = late - when * float(when @ late / (when @ when))
    return np.asarray(np.maximum(late - np.quantile(late, HIT_QUANTILE), 0.0))


def _about_usual(done: Floats, period_ns: float) -> tuple[Floats, Floats]:
    """Return times and angles (ns) of a block's completions, about their means and medians."""
    turns = done / period_ns
    usual = np.angle(np.exp(2j * np.pi * turns).mean()) / (2.0 * np.pi)
    away = wrapped(turns - usual)
    near = np.abs(away) < _OUTLIER_TURNS
    when, angle = done[near], away[near] * period_ns
    if not len(when):
        return when, angle
    return when - when.mean(), angle - np.median(angle)
