"""How busy the disks are, with an interval from what each part of a run shows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from diskmodel.records import Int64, Run
from diskmodel.result.statistics.batches import Interval, mean_interval
from diskmodel.result.statistics.window import Window


def utilization_interval(run: Run, window: Window, *, per_request: bool = False, confidence: float = 0.95) -> Interval:
    """Return the mean utilization of all disks of a run, spares included.

    Parameters
    ----------
    run : Run
    window : Window
    per_request : bool
        Whether the rate of the requests is given: what counts then is the busy time that each request causes, and the
        randomness of arrivals is left out of the interval.
    confidence : float in (0, 1)

    Notes
    -----
    The estimate is that of the whole run, or of the window where that consists of whole rounds of the write cache's
    sweep. Its interval is by batch means over the records (rule Z7) in the window, between two of which as many
    requests complete: of the busy time less the utilization times what has passed, a ratio estimator.

    References
    ----------
    A. M. Law, *Simulation Modeling and Analysis*, 9.5.3 (batch means); W. G. Cochran, *Sampling Techniques*, 6.3
    (ratio estimators).
    """
    busy_ns, elapsed_ns = _between_records(run.levels, window)
    total_ns = float(elapsed_ns.sum())
    if window.n_rounds and total_ns:
        ratio = float(busy_ns.sum()) / total_ns
    else:
        ratio = float(np.mean(run.devices.busy_ns / max(run.end_ns, 1))) if len(run.devices.busy_ns) else 0.0
    mean_ns = float(busy_ns.mean()) if len(busy_ns) else 0.0
    if not mean_ns:
        return Interval(ratio, math.nan, math.nan) if ratio else Interval.exact(0.0)
    series = (
        busy_ns if per_request else busy_ns - float(busy_ns.sum()) / total_ns * (elapsed_ns - total_ns / len(busy_ns))
    )
    found = mean_interval(series, confidence=confidence, n_rounds=window.n_rounds)
    # the mean of the series is that of the busy time
    found = found.scaled(ratio / mean_ns).about(ratio)
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))


def _between_records(levels: Int64, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Mean busy time of the disks and the time from record to record of the window, ns; float64."""
    inside = levels[(levels[:, 0] >= window.start_ns) & (levels[:, 0] <= window.end_ns)]
    if window.start_ns == 0:
        inside = np.concatenate([np.zeros((1, levels.shape[1]), np.int64), inside])
    return np.diff(inside[:, 4]).astype(np.float64), np.diff(inside[:, 0]).astype(np.float64)
