"""The last stage for a measured hard disk: overheads, seek curve, write settle and queue, by response distributions.

The findings of the stages count as observations with their standard errors. They may be overruled, since such an error
is that of a method and means nothing where the method was wrong. So the penalty of a step grows only with its logarithm
(Student's t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import MIN_SEEK_NS
from calibrate.closed_loop import with_queue
from calibrate.hdd.conditions import Conditions
from calibrate.hdd.write_settle import MAX_SETTLE_TURNS
from calibrate.joint_fit import Joint, along_lines, move_together
from diskmodel.drive import DriveQueue, Hdd, SeekTable

#: Degrees of freedom of the penalty: a step of four errors costs hardly more than one of three. At 1 the stages hardly
#: count; at 30 they cannot be overruled.
FREEDOM = 4.0
#: Smallest standard error that a stage is credited with, ns.
MIN_ERROR_NS = 2_000.0
#: Physics: a command costs a microsecond to a quarter of a revolution.
MIN_OVERHEAD_NS, MAX_OVERHEAD_TURNS = 1_000.0, 0.25
#: Largest error of the stages: of the usual seek in revolutions, of the curve's stretch as a logarithm. A wider range
#: lets a whole revolution be exchanged between seek and wait.
MAX_SEEK_TURNS, MAX_STRETCH = 0.15, 0.25
#: Share of the cost that a round of the search must save: simulated distributions are not smooth, and the search ends
#: within their scatter.
MIN_FALL = 1e-2
#: Share of the held-out demerit that the moved drive must save, since a few thousand responses determine it no better:
#: in three measurements of one drive the same useless move changed it by -14, +4 and +14 %. At 0 chance keeps half of
#: all useless moves; at double, moves that are needed are not made.
MIN_GAIN = 0.15
#: Relative standard error of the stretch of the seek curve.
STRETCH_ERROR = 0.02


@dataclass(frozen=True)
class StageErrors:
    """Standard errors of the stages: of the overhead (None where assumed), of the time until the head is ready, and of
    the write settle (None without writes)."""

    overhead_ns: float | None
    ready_ns: float
    settle_ns: float | None


def refine(
    drive: Hdd, fitted: Conditions, apart: Conditions, errors: StageErrors, queues: Sequence[DriveQueue] = ()
) -> Joint | None:
    """Return the drive with overhead, seek curve, write settle and queue moved together; None without evidence.

    Parameters
    ----------
    fitted, apart : Conditions
        What is fitted, and what decides whether the result is kept.
    errors : StageErrors
    queues : sequence of DriveQueue
        Queues that mean responses cannot distinguish: their distributions can.
    """
    if not fitted.stretches or not apart.stretches:
        return None
    assert isinstance(drive.seek, SeekTable)
    space = Space(drive, errors)
    start = drive
    if len(queues) > 1:
        start = min((with_queue(drive, queue) for queue in queues), key=fitted.misfit)
    return move_together(
        lambda step: space.moved(start, step),
        space.bounds(),
        cost=fitted.misfit,
        price=space.price,
        later=apart.distance,
        before=drive,
        search=partial(along_lines, min_fall=MIN_FALL),
        min_gain=MIN_GAIN,
    )


class Space:
    """The parameters that are moved.

    They are steps, in revolutions, of the usual seek (one over a third of the drive), of the overhead and of the
    settle, and the logarithm by which the seek table is stretched about the usual seek. What the stages could not find
    stays.
    """

    def __init__(self, drive: Hdd, errors: StageErrors) -> None:
        self.drive, self.errors = drive, errors
        self.period_ns = float(drive.period_ns)
        assert isinstance(drive.seek, SeekTable)
        self.table_ms = np.array(drive.seek.time_ms)
        self.usual_ms = float(np.interp(drive.seek.distance[-1] / 3, drive.seek.distance, self.table_ms))
        #: Without writes of their own kind, writes are taken to cost what reads cost.
        self.is_write_as_read = drive.write_overhead_ns == drive.read_overhead_ns

    def bounds(self) -> list[tuple[float, float]]:
        period, overhead = self.period_ns, float(self.drive.read_overhead_ns)
        found = [(-MAX_SEEK_TURNS, MAX_SEEK_TURNS), (-MAX_STRETCH, MAX_STRETCH)]
        if self.errors.overhead_ns is not None:
            found.append((MIN_OVERHEAD_NS / period - overhead / period, MAX_OVERHEAD_TURNS - overhead / period))
        if self.errors.settle_ns is not None:
            settle = float(self.drive.write_settle_ns or 0) / period
            found.append((-settle, MAX_SETTLE_TURNS - settle))
        return found

    def parts(self, step: Floats) -> tuple[float, float, float, float]:
        """Return the change of the usual seek (ns), stretch of the table, changes of overhead and of settle (ns)."""
        rest = [float(value) * self.period_ns for value in step[2:]]
        overhead = rest.pop(0) if self.errors.overhead_ns is not None else 0.0
        settle = rest.pop(0) if self.errors.settle_ns is not None else 0.0
        return float(step[0]) * self.period_ns, float(step[1]), overhead, settle

    def moved(self, start: Hdd, step: Floats) -> Hdd:
        seek_ns, stretch, overhead_ns, settle_ns = self.parts(step)
        time = self.usual_ms + seek_ns / 1e6 + (self.table_ms - self.usual_ms) * np.exp(stretch)
        # the move to the next cylinder stays within the skew that was made for it
        time[0] = min(time[0], self.table_ms[0])
        time = np.maximum.accumulate(np.maximum(time, MIN_SEEK_NS / 1e6))
        read = round(self.drive.read_overhead_ns + overhead_ns)
        data = start.to_dict()
        data["seek"]["time_ms"] = [round(float(t), 5) for t in time]
        data["read_overhead_ns"] = read
        if self.is_write_as_read:
            data["write_overhead_ns"] = read
        if self.errors.settle_ns is not None:
            data["write_settle_ns"] = max(round((self.drive.write_settle_ns or 0) + settle_ns), 0)
        return Hdd.parse(data)

    def beliefs(self, step: Floats) -> Floats:
        """Return the steps from the stages' findings in units of their errors.

        The stages measure the time until the head is ready, overhead and seek together, so that steps of both that
        cancel cost only what the overhead's does. Then follow the stretch, overhead and settle.
        """
        seek, stretch, overhead, settle = self.parts(step)
        found = [(seek + overhead) / max(self.errors.ready_ns, MIN_ERROR_NS), stretch / STRETCH_ERROR]
        if self.errors.overhead_ns is not None:
            found.append(overhead / max(self.errors.overhead_ns, MIN_ERROR_NS))
        if self.errors.settle_ns is not None:
            found.append((seek + overhead + settle) / max(self.errors.settle_ns, MIN_ERROR_NS))
        return np.array(found)

    def price(self, step: Floats) -> float:
        return float(((FREEDOM + 1.0) * np.log1p(self.beliefs(step) ** 2 / FREEDOM)).sum())
