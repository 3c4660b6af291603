"""A rebuild over a day in which the load runs for a part of the time."""

from __future__ import annotations

import math

import numpy as np

#: Hours of a day.
DAY = 24.0
#: Times of the day at which the disk fails, over which the mean is taken. With half as many it moves by less than 1 %.
_N_STARTS = 288


def over_the_day(beside_hours: float, alone_hours: float, busy_hours: float) -> float:
    """Return the mean hours of a rebuild where the load runs for some hours of each day, at one stretch.

    Parameters
    ----------
    beside_hours, alone_hours : float
        Of the rebuild beside the load all the time, and without it; inf: does not end, nan: unknown.
    busy_hours : float, in (0, 24]
        Of each day in which the load runs.

    Notes
    -----
    Disks fail at any time of the day alike. A rebuild that does not end beside the load counts as without end, since
    the array does not serve the load meanwhile.

    Examples
    --------
    >>> over_the_day(1000.0, 20.0, 24)
    1000.0
    >>> round(over_the_day(1000.0, 20.0, 8), 1)
    30.4
    """
    if busy_hours >= DAY or math.isnan(alone_hours) or not math.isfinite(beside_hours) or alone_hours >= beside_hours:
        return beside_hours
    done_busy = busy_hours / beside_hours
    done_in_a_day = done_busy + (DAY - busy_hours) / alone_hours
    whole_days = math.floor(1 / done_in_a_day)
    rest = 1 - whole_days * done_in_a_day
    hours = np.array([0.0, busy_hours, DAY, DAY + busy_hours, 2 * DAY])
    done = np.array([0.0, done_busy, done_in_a_day, done_in_a_day + done_busy, 2 * done_in_a_day])
    start = (np.arange(_N_STARTS) + 0.5) * DAY / _N_STARTS
    end = np.interp(np.interp(start, hours, done) + rest, done, hours)
    return whole_days * DAY + float((end - start).mean())
