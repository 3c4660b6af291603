"""Writes that wait for room in the caches of hard disks: their longest waits are predicted too short."""

from __future__ import annotations

from diskmodel.array import Array

#: Free part of the buffer up to which it is full. One that writes wait for keeps less than 1 % free, and beside reads,
#: which let it fill to the half at most, 94 % or more.
FULL_FREE_RATIO = 0.1
#: Measured over predicted p99 of random writes that wait for room, at depths 1 to 16 of two drives: Samsung F1 and
#: WD Raptor in docs/explanation/validation-arrays.md.
MEASURED_P99_RATIO = (1.2, 4.2)


def waiting_writes(array: Array, free_bytes: float) -> str:
    """Return how much longer cached writes may wait than predicted, where they wait for room; "" elsewhere.

    With room they are done at once, and nothing is said (rules C7, C8). Shingled drives and those with a media cache
    were not measured in this way.

    Parameters
    ----------
    array : Array
    free_bytes : float
        Room for writes above the stationary level (rule Z9); nan where unknown.
    """
    drive = array.drive
    room = drive.write_cache_bytes if array.has_drive_write_cache else 0
    if not room or not free_bytes <= FULL_FREE_RATIO * room * array.layout.disks:
        return ""
    low, high = MEASURED_P99_RATIO
    full = "the disk's own cache is full" if array.layout.disks == 1 else "the disks' own caches are full"
    return (
        f"{full}, and writes wait for room; random ones were measured to have about the predicted rate and mean, and "
        f"{low} to {high} times the predicted p99"
    )
