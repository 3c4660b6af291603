"""Disks with two actuators, of which a workload uses only one."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.workload import TraceWorkload, Workload


def idle_arm_message(array: Array, workload: Workload | TraceWorkload) -> tuple[str, ...]:
    """Return a message when all requests fall on the blocks of one actuator; otherwise nothing.

    Each actuator has half of a disk's blocks (rule D8), and data that is stored from the front of an array is at the
    front of its disks. Arrays whose copies are elsewhere on the disks, and several disks that are filled one after the
    other, are not looked at.
    """
    drive, layout = array.drive, array.layout
    is_elsewhere = layout.arrangement == "far" or (layout.level == "jbod" and layout.disks > 1)
    if drive.arms <= 1 or is_elsewhere or isinstance(workload, TraceWorkload):
        return ()
    usable, tables = array.usable_bytes, array.tables()
    spaces = [workload.space(stream, usable) for stream in workload.streams]
    ends = (min(space.first_byte for space in spaces), max(space.first_byte + space.span_bytes for space in spaces) - 1)
    first, last = (tables.data_offset + int(place / usable * tables.member) for place in ends)
    per_arm = drive.tables().arm_sectors
    if first // per_arm != last // per_arm:
        return ()
    return (
        f"all requests fall on the blocks of one of the {drive.arms} actuators of {drive.name}, and the other is "
        "idle: both serve data that lies on both halves of the disks (a partition of each)",
    )
