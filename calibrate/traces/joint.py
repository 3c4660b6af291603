"""The last stage of a fit: a few parameters together, so that the engines' responses have the measured distributions.

The stages before fit one part after the other, each against what it alone explains. Here the engines replay the
requests, the same ones every time, and overheads, seeks and settle are moved together until the distributions of reads
and of writes lie nearest to the measured ones. What came of it is kept only if it also does better on later requests,
which the search did not see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from calibrate.score import demerit_ms
from calibrate.traces.replayed import Replay
from calibrate.traces.spectrum import Floats
from diskmodel.drive import Hdd
from diskmodel.drive.drawn import scalar_of, with_values
from diskmodel.errors import DescriptionError

#: Logarithms of the parameters stay within these.
MOST_CHANGE = 0.25
#: What a change of a parameter by a factor e costs, as a share of the mean squared: the stages before know something.
PRICE = 3e-3
MOST_RUNS = 160
LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Joint:
    """The drive after the last stage, and how far it was from the later requests before and after (shares of their
    mean); `is_kept` tells whether it was taken."""

    drive: Hdd
    is_kept: bool
    before_ratio: float
    after_ratio: float


def free_parameters(drive: Hdd) -> tuple[str, ...]:
    """What is moved: fields of the profile with dots, those at 0 left out."""
    names = ("read_overhead_ns", "write_overhead_ns", "seek.time_ms", "write_settle_ns")
    return tuple(name for name in names if scalar_of(drive, name) > 0)


def refine(drive: Hdd, fitted: Replay, later: Replay) -> Joint:
    """The drive with its free parameters moved together.

    Parameters
    ----------
    fitted : Replay
        Requests whose distributions are to come out.
    later : Replay
        Requests that decide whether that is worth something.
    """
    names = free_parameters(drive)
    start = np.array([scalar_of(drive, name) for name in names])

    def moved(step: Floats) -> Hdd:
        found = with_values(drive, dict(zip(names, (start * np.exp(step)).tolist(), strict=True)))
        assert isinstance(found, Hdd)
        return found

    def cost(step: Floats) -> float:
        try:
            return distance(moved(step), fitted) ** 2 + PRICE * float((step**2).sum())
        except DescriptionError:
            return float("inf")

    found = minimize(
        cost,
        np.zeros(len(names)),
        method="Powell",
        bounds=[(-MOST_CHANGE, MOST_CHANGE)] * len(names),
        options={"maxfev": MOST_RUNS, "xtol": 1e-3, "ftol": 1e-4},
    )
    best = moved(np.asarray(found.x))
    before, after = distance(drive, later), distance(best, later)
    if not after < before * (1.0 - LEAST_GAIN):
        return Joint(drive, False, before, after)
    return Joint(best, True, before, after)


def distance(drive: Hdd, replay: Replay) -> float:
    """Demerit of reads and of writes together, as a share of the mean response."""
    response, trace = replay.response_ms(drive), replay.trace
    total = 0.0
    for chosen in (trace.is_write, ~trace.is_write):
        if chosen.any():
            total += float(chosen.mean()) * demerit_ms(trace.response_ms[chosen], response[chosen]) ** 2
    return float(np.sqrt(total)) / float(trace.response_ms.mean())
