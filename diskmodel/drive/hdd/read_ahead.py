"""Read-ahead: after a read the head continues reading into the segment (rules C3 to C5).

No events are simulated meanwhile: the progress is computed when it is needed.
"""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.drive.mechanics import Arm, Mechanics, Spindle
from diskmodel.records import READ


class Streamed(NamedTuple):
    """Progress of read-ahead: the next block, and the position of the arm."""

    front: int
    arm: Arm


def streamed(
    mechanics: Mechanics, spindle: Spindle, arm: Arm, lba: int, limit: int, from_ns: int, at_ns: int
) -> Streamed:
    """Return the progress at `at_ns` of a read that began at `from_ns` at block `lba` with the arm at `arm`.

    A block counts when it has completely passed the head; the read ends before block `limit`.
    """
    now, here = from_ns, Arm(arm.cylinder, arm.head)
    while lba < limit:
        place = mechanics.place(lba)
        move = mechanics.move_ns(here, place.cylinder, place.head, READ)
        start = now + move + mechanics.wait_ns(spindle, place, now + move)
        if start >= at_ns:
            break
        here.cylinder, here.head = place.cylinder, place.head
        take = min(limit - lba, mechanics.left_on_track(place))
        per_track, index = mechanics.sectors_per_track[place.zone], mechanics.angle_index(place)
        first = index * spindle.revolution_ns // per_track
        end = start + (index + take) * spindle.revolution_ns // per_track - first
        if end > at_ns:
            # sector k has passed at start + (index + k) * revolution // per_track - first
            passed = ((at_ns - start + first + 1) * per_track - 1) // spindle.revolution_ns - index
            return Streamed(lba + max(0, min(passed, take)), here)
        lba, now = lba + take, end
    return Streamed(lba, here)
