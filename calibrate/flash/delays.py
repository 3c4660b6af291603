"""How single reads of a flash drive scatter, as a table of delays in its profile (rule F19).

Means of responses determine a drive's times. At queue depth 1 nothing waits, so the percentiles there show how one
read differs from the next: pages that are read slower, reads that the drive's memory answers. The fit has their mean
in the latency. Here a part of it becomes delays with the same mean, so that rates stay as they were fitted.

Writes get none: the buffer answers them nearly alike, and the host's own time is longer than their scatter.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibrate.arrays import Floats

#: Values of a table. With a tenth, none is beyond p99; ten times as many make the profile long to read.
N_DELAYS = 128
#: Percentiles that a table needs: with one alone, nothing scatters.
_MIN_PERCENTILES = 2


def responses_ns(percentiles_ns: Mapping[float, float]) -> Floats:
    """Return `N_DELAYS` equally likely responses in ns, ascending, of a distribution with these percentiles.

    Responses between two known percentiles are log-uniform; none is faster than the lowest or slower than the highest.
    """
    percents = sorted(percentiles_ns)
    at = 100.0 * (np.arange(N_DELAYS) + 0.5) / N_DELAYS
    return np.asarray(np.exp(np.interp(at, percents, np.log([percentiles_ns[percent] for percent in percents]))))


def delays_ns(percentiles_ns: Mapping[float, float], latency_ns: int) -> tuple[int, ...]:
    """Return equally likely delays in ns, ascending, whose mean is at most `latency_ns`; empty where none is known.

    Parameters
    ----------
    percentiles_ns : mapping
        Percent → response in ns at queue depth 1.
    latency_ns : int
        Part of the mean response that overlaps with other commands. Responses that would be faster than all other parts
        are raised to them.
    """
    if len(percentiles_ns) < _MIN_PERCENTILES:
        return ()
    responses = responses_ns(percentiles_ns)
    # sum of what lies above each response: a floor lowered by 1 ns adds 1 ns for each response above it
    above = np.cumsum(responses[::-1])[::-1] - responses * np.arange(N_DELAYS, 0, -1)
    first = int(np.argmax(above <= latency_ns * N_DELAYS))
    spare = latency_ns * N_DELAYS - above[first] if first > 0 else 0.0
    floor = responses[first] - spare / (N_DELAYS - first)
    delays = np.maximum(responses - floor, 0.0).astype(np.int64)
    return tuple(delays.tolist()) if delays[-1] > 0 else ()


def latency_besides_ns(latency_ns: int, delays: tuple[int, ...]) -> int:
    """Return the latency that, with the mean of the delays, is `latency_ns`; at least 1 ns, for logarithms."""
    return max(latency_ns - round(sum(delays) / len(delays)), 1) if delays else latency_ns
