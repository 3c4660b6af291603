"""The last stage for a measured hard disk: overheads, seek curve, write settle and queue, by response distributions.

What the stages found counts as an observation with the errors that they told. It may be overruled: such an error is
that of a method, and where the method was wrong it is no measure. So the price of a step grows with its logarithm only
(Student's t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats
from calibrate.assumptions import MIN_SEEK_NS
from calibrate.hdd.conditions import Conditions
from calibrate.hdd.write_settle import MAX_SETTLE_TURNS
from calibrate.joint_fit import Joint, move_together
from diskmodel.drive import DriveQueue, Hdd
from diskmodel.drive.seek import SeekTable

#: Degrees of freedom of the price: four errors away a step costs hardly more than three.
FREEDOM = 4.0
#: No stage is believed more than this.
MIN_ERROR_NS = 2_000.0
#: Physics: a command costs a microsecond to a quarter of a revolution, no arm moves in less than 50 µs, no head takes
#: longer to settle than 0.4 of a revolution.
MIN_OVERHEAD_NS, MAX_OVERHEAD_TURNS = 1_000.0, 0.25
#: The stages are not further off than this: seeks in revolutions, their spread as a logarithm.
MAX_SEEK_TURNS, MAX_STRETCH = 0.15, 0.25
#: Simulated distributions are not smooth; the search ends within what they scatter.
MIN_FALL = 1e-2
#: Nor is a distance from a few thousand responses more exact than this.
MIN_GAIN = 0.05
#: Relative standard error of how far the seek curve is spread.
STRETCH_ERROR = 0.02


@dataclass(frozen=True)
class StageErrors:
    """Standard errors that the stages told: of the overhead (None where it was assumed), of the time until the head is
    ready, and of the write settle (None where no writes tell it)."""

    overhead_ns: float | None
    ready_ns: float
    settle_ns: float | None


def refine(
    drive: Hdd, fitted: Conditions, apart: Conditions, errors: StageErrors, queues: Sequence[DriveQueue] = ()
) -> Joint | None:
    """The drive with overhead, seek curve, write settle and queue moved together; None where nothing can decide.

    Parameters
    ----------
    fitted, apart : Conditions
        What is to come out, and what decides whether that is worth something.
    errors : StageErrors
    queues : sequence of DriveQueue
        Orders of the queue that mean responses do not tell apart: their distributions do.
    """
    if not fitted.stretches or not apart.stretches:
        return None
    assert isinstance(drive.seek, SeekTable)
    space = Space(drive, errors)
    start = drive
    if len(queues) > 1:
        start = min((drive.model_copy(update={"queue": queue.to_dict()}) for queue in queues), key=fitted.misfit)
    return move_together(
        lambda step: space.moved(start, step),
        space.bounds(),
        cost=fitted.misfit,
        price=space.price,
        later=apart.distance,
        before=drive,
        min_fall=MIN_FALL,
        min_gain=MIN_GAIN,
    )


class Space:
    """What is moved: steps in revolutions, of the usual seek (one over a third of the drive), of the overhead and the
    settle; and the logarithm by which the seek table is stretched about the usual seek. What the stages did not see is
    left where it is."""

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
        """Change of the usual seek (ns), stretch of the table, changes of overhead and of settle (ns)."""
        rest = [float(value) * self.period_ns for value in step[2:]]
        overhead = rest.pop(0) if self.errors.overhead_ns is not None else 0.0
        settle = rest.pop(0) if self.errors.settle_ns is not None else 0.0
        return float(step[0]) * self.period_ns, float(step[1]), overhead, settle

    def moved(self, start: Hdd, step: Floats) -> Hdd:
        seek_ns, stretch, overhead_ns, settle_ns = self.parts(step)
        time = self.usual_ms + seek_ns / 1e6 + (self.table_ms - self.usual_ms) * np.exp(stretch)
        # the move to the next cylinder stays hidden by the skew that was made for it
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
        """Steps from what the stages saw, in units of their errors: the time until the head is ready, overhead and
        seek, so that steps of both that cancel cost only what the overhead's does; the stretch; overhead and settle."""
        seek, stretch, overhead, settle = self.parts(step)
        found = [(seek + overhead) / max(self.errors.ready_ns, MIN_ERROR_NS), stretch / STRETCH_ERROR]
        if self.errors.overhead_ns is not None:
            found.append(overhead / max(self.errors.overhead_ns, MIN_ERROR_NS))
        if self.errors.settle_ns is not None:
            found.append((seek + overhead + settle) / max(self.errors.settle_ns, MIN_ERROR_NS))
        return np.array(found)

    def price(self, step: Floats) -> float:
        return float(((FREEDOM + 1.0) * np.log1p(self.beliefs(step) ** 2 / FREEDOM)).sum())
