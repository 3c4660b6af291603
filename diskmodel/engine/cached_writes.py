"""Cached writes that wait for room in a hard disk: their longest waits are predicted too short."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.drive.hdd import Hdd

#: Free part of the disks' buffers up to which they are full. Those that writes wait for keep less than 1 % free, and
#: with a fifth of reads, which let buffers fill to the half at most, 23 % or more with two copies and 94 % with one.
FULL_FREE_RATIO = 0.1
#: Measured over predicted p99 of random writes that wait for room, at depths 1 to 16 of two drives: Samsung F1 and
#: WD Raptor in docs/explanation/validation-arrays.md.
MEASURED_P99_RATIO = (1.2, 4.1)


def waiting_writes(array: Array, free_bytes: float) -> str:
    """Return how much longer cached writes may wait than predicted, where they wait for room; "" elsewhere.

    With room they are done at once, and nothing is said (rules C7, C8). Shingled drives and those with a media cache
    were not measured in this way. Parity is not looked at: before it writes it reads, and its buffers do not fill.

    Parameters
    ----------
    array : Array
    free_bytes : float
        Room for writes above the stationary level (rule Z9); nan where unknown.
    """
    drive, layout = array.drive, array.layout
    if not isinstance(drive, Hdd) or drive.cache is None or layout.kind.family == "parity":
        return ""
    if drive.media_cache is not None or drive.recording == "shingled":
        return ""
    is_cached = array.has_drive_write_cache and drive.cache.write_back
    if not is_cached or not free_bytes <= FULL_FREE_RATIO * layout.disks * drive.cache.size_bytes:
        return ""
    low, high = MEASURED_P99_RATIO
    return (
        "the disks' own caches are full, and writes wait for room; random ones were measured to have about the "
        f"predicted rate and mean, and {low} to {high} times the predicted p99"
    )
