"""The last stage for a trace: overheads, seeks and settle are moved while the engines replay the requests.

The engines replay the first part of the requests, the same ones every time; later ones decide (`calibrate.joint_fit`).
"""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats
from calibrate.joint_fit import Joint, by_parabolas, move_together
from calibrate.score.agreement import demerit_ms
from calibrate.trace.engine.replay import Replay
from diskmodel.drive import Hdd, scalar_of, with_values

#: Parameters stay within this logarithm of their values, about 28 %. A wider range lets overhead and seek trade
#: places.
MAX_LOG_STEP = 0.25
#: Cost of a change by a factor e, as a share of the mean squared: what the stages before know. At 0 parameters that
#: the trace cannot determine wander; at ten times it hardly anything moves.
PENALTY = 3e-3
#: Runs with other draws, the same for every drive that is tried.
N_RUNS = 4


def free_parameters(drive: Hdd) -> tuple[str, ...]:
    """Return the names of the fields that are moved, with dots, without those that are 0."""
    names = ["read_overhead_ns", "write_overhead_ns", "seek.time_ms"]
    names += ["write_settle_ns"] if drive.write_seek is None else ["write_seek.time_ms"]
    return tuple(name for name in names if scalar_of(drive, name) > 0)


def refine(drive: Hdd, fitted: Replay, later: Replay) -> Joint:
    """Return the drive with its free parameters moved together.

    Parameters
    ----------
    fitted : Replay
        Requests whose distributions are fitted.
    later : Replay
        Requests that decide whether the moved drive is kept.
    """
    names = free_parameters(drive)
    start = np.array([scalar_of(drive, name) for name in names])

    def moved(step: Floats) -> Hdd:
        found = with_values(drive, dict(zip(names, (start * np.exp(step)).tolist(), strict=True)))
        assert isinstance(found, Hdd)
        return found

    return move_together(
        moved,
        [(-MAX_LOG_STEP, MAX_LOG_STEP)] * len(names),
        cost=lambda drive: distance(drive, fitted) ** 2,
        price=lambda step: PENALTY * float((step**2).sum()),
        later=lambda drive: distance(drive, later),
        before=drive,
        search=by_parabolas,
    )


def distance(drive: Hdd, replay: Replay) -> float:
    """Return the demerit of reads and of writes together, as a share of the mean response."""
    draws, trace = replay.draws_ms(drive, N_RUNS), replay.trace
    total = 0.0
    for chosen in (trace.is_write, ~trace.is_write):
        if chosen.any():
            total += float(chosen.mean()) * demerit_ms(trace.response_ms[chosen], draws[chosen].ravel()) ** 2
    return float(np.sqrt(total)) / float(trace.response_ms.mean())
