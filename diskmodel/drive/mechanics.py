"""Mechanics of one command on a hard disk: seek, rotation, transfer (rules M1 to M9).

Pure functions of the tables, the state of the arm and the time; integers only. Angles are expressed as times: the
fraction of a revolution, in nanoseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from diskmodel.drive.draws import USUAL, AccessDraw
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.records import WRITE


@dataclass
class Spindle:
    """Rotation of one disk.

    Attributes
    ----------
    revolution_ns : int
    phase_ns : int
        Angle of the platter at time 0.
    """

    revolution_ns: int
    phase_ns: int


@dataclass
class Arm:
    """Position of an arm."""

    cylinder: int = 0
    head: int = 0


class Place(NamedTuple):
    """Position of a block: zone, cylinder (from the first of its actuator), head, sector."""

    zone: int
    cylinder: int
    head: int
    sector: int


class Access(NamedTuple):
    """One access to the media: the components of its time, and the position of the arm afterwards.

    `first_end_ns` is when the first sector has passed under the head, `first_wait_ns` how long the head waits on its
    track for that sector.
    """

    seek_ns: int
    rotation_ns: int
    transfer_ns: int
    first_end_ns: int
    end_ns: int
    cylinder: int
    head: int
    first_wait_ns: int


class Mechanics:
    """Mechanics of one drive, without state; lists of plain integers instead of arrays for speed."""

    def __init__(self, tables: HddTables) -> None:
        self.tables = tables
        self.zone_first_lba: list[int] = tables.zone_first_lba.tolist()
        self.zone_first_cylinder: list[int] = tables.zone_first_cylinder.tolist()
        self.sectors_per_track: list[int] = tables.sectors_per_track.tolist()
        self.start_skew: list[int] = tables.start_skew.tolist()
        self.track_skew: list[int] = tables.track_skew.tolist()
        self.cylinder_skew: list[int] = tables.cylinder_skew.tolist()
        self.blocks_per_track: list[int] = tables.blocks_per_track.tolist()
        self.blocks_per_cylinder: list[int] = tables.blocks_per_cylinder.tolist()
        self.seek_ns: list[int] = tables.seek_ns.tolist()
        self.write_seek_ns: list[int] = self.seek_ns if tables.write_seek_ns is None else tables.write_seek_ns.tolist()
        # together the whole difference, also where it is odd
        self.outward_ns = -(tables.seek_inward_ns // 2)
        self.inward_ns = tables.seek_inward_ns + self.outward_ns

    def place(self, lba: int) -> Place:
        """Return the position of block `lba` of one actuator (rule M1)."""
        zone = bisect_right(self.zone_first_lba, lba) - 1
        cylinder, rest = divmod(lba - self.zone_first_lba[zone], self.blocks_per_cylinder[zone])
        head, sector = divmod(rest, self.blocks_per_track[zone])
        return Place(zone, self.zone_first_cylinder[zone] + cylinder, head, sector)

    def left_on_track(self, place: Place) -> int:
        """Return the sectors from `place` to the end of its track, without spares."""
        zone, _, head, sector = place
        per_track = self.blocks_per_track[zone]
        # spares of a cylinder can fill more than the last track
        end = min(per_track, self.blocks_per_cylinder[zone] - head * per_track)
        return end - sector

    def angle_index(self, place: Place) -> int:
        """Return how many sectors after the index mark a place begins, 0 … sectors per track - 1 (rule M2)."""
        zone, cylinder, head, sector = place
        per_cylinder = (self.tables.heads - 1) * self.track_skew[zone] + self.cylinder_skew[zone]
        skew = (cylinder - self.zone_first_cylinder[zone]) * per_cylinder + head * self.track_skew[zone]
        return (self.start_skew[zone] + skew + sector) % self.sectors_per_track[zone]

    def move_ns(self, arm: Arm, cylinder: int, head: int, op: int) -> int:
        """Return the time to move `head` to `cylinder`: longer of seek and head switch, plus write settle (rule M3)."""
        inward = cylinder - arm.cylinder
        if inward == 0 and head == arm.head:
            return 0
        move = (self.write_seek_ns if op == WRITE else self.seek_ns)[abs(inward)]
        if inward:
            move += self.inward_ns if inward > 0 else self.outward_ns
        if head != arm.head and self.tables.head_switch_ns > move:
            move = self.tables.head_switch_ns
        return move + (self.tables.write_settle_ns if op == WRITE else 0)

    def wait_ns(self, spindle: Spindle, place: Place, at_ns: int) -> int:
        """Return the time from `at_ns` until the start of `place` passes under the head (rule M4)."""
        revolution = spindle.revolution_ns
        target = self.angle_index(place) * revolution // self.sectors_per_track[place.zone]
        wait = (target - at_ns - spindle.phase_ns) % revolution
        return 0 if wait > revolution - revolution // 100_000 else wait

    def positioning_ns(
        self, arm: Arm, spindle: Spindle, lba: int, op: int, at_ns: int, margin_ns: int = 0, move_256ths: int = 0
    ) -> int:
        """Return seek plus rotational latency of an access that starts at `at_ns` (rule Q6).

        A latency below `margin_ns` and a part of the move costs a revolution more, as if the head came too late
        (rule Q12).
        """
        place = self.place(lba)
        move = self.move_ns(arm, place.cylinder, place.head, op)
        wait = self.wait_ns(spindle, place, at_ns + move)
        is_missed = move and wait < margin_ns + move // 256 * move_256ths
        return move + wait + (spindle.revolution_ns if is_missed else 0)

    def access(
        self,
        arm: Arm,
        spindle: Spindle,
        op: int,
        lba: int,
        n: int,
        at_ns: int,
        extra_ns: int = 0,
        data_ns: int = 0,
        drawn: AccessDraw = USUAL,
    ) -> Access:
        """Return the access to `n` sectors from block `lba` that starts at `at_ns` (rules M3 to M7, M9); keep `arm`.

        `extra_ns` is travel before the seek (to the edge and back, rule Q4); no data passes under the head before
        `data_ns` (rule D9). `drawn` is what the access has drawn.
        """
        zero_latency = self.tables.zero_latency and not drawn.in_order
        now, seek, rotation, transfer = at_ns + extra_ns, extra_ns, 0, 0
        here = Arm(arm.cylinder, arm.head)
        first_end = first_wait = 0
        while n:
            place = self.place(lba)
            move = self.move_ns(here, place.cylinder, place.head, op)
            arrived = max(now + move, data_ns)
            wait = self.wait_ns(spindle, place, arrived)
            take = min(n, self.left_on_track(place))
            per_track, index = self.sectors_per_track[place.zone], self.angle_index(place)
            revolution = spindle.revolution_ns
            start = index * revolution // per_track
            pass_ns = (index + take) * revolution // per_track - start
            is_first = not first_end
            if is_first:
                first_end = arrived + wait + (index + 1) * revolution // per_track - start
            if zero_latency and wait + pass_ns > revolution:
                # the head arrives within the requested range: one revolution from there reads all of it (rule M6)
                wait = max(revolution - pass_ns, 0)
            if is_first:
                first_wait = wait
            transfer += arrived - now - move + pass_ns
            seek, rotation, now = seek + move, rotation + wait, arrived + wait + pass_ns
            here.cylinder, here.head = place.cylinder, place.head
            lba, n = lba + take, n - take
        first_end = min(first_end, now) + drawn.late_ns
        now, rotation = now + drawn.late_ns, rotation + drawn.late_ns
        return Access(seek, rotation, transfer, first_end, now, here.cylinder, here.head, first_wait)
