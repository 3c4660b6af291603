"""How fast a scan of a pool of OpenZFS goes on: a resilver or a scrub (rules X14, X20 to X22 and X25)."""

from __future__ import annotations

from typing import NamedTuple

#: Records that are read and not written yet, bytes for each data disk of the vdev (`zfs_scan_vdev_limit`, 4 MiB before
#: 2.2). At half, a hard disk's writes are as long: they are at most 1 MiB.
IN_FLIGHT_BYTES = 16 << 20
#: Most that a step of a sequential resilver takes of each data disk, bytes (`zfs_rebuild_max_segment`), and of all of
#: them (`SPA_MAXBLOCKSIZE`).
SEGMENT_BYTES, LONGEST_SEGMENT_BYTES = 1 << 20, 16 << 20
#: Data that a sequential resilver has begun and not written yet, bytes for each disk of the vdev
#: (`zfs_rebuild_vdev_limit`). At half, hard disks are as busy.
REBUILT_AT_ONCE_BYTES = 64 << 20
#: A transaction group waits so long for a resilver or a scrub at least, ns (`zfs_resilver_min_time_ms`, 1.5 s since
#: 2.4; `zfs_scrub_min_time_ms`, 750 ms since 2.4).
RESILVER_LEAST_NS = 3_000_000_000
SCRUB_LEAST_NS = 1_000_000_000
#: Reads of a scan that a disk is given at once, beside other commands and alone (`zfs_vdev_scrub_min_active`,
#: `_max_active`).
ACTIVE_READS = (1, 3)
#: Reads of a scan that must have ended since the last other command before a disk is given more of them
#: (`zfs_vdev_nia_delay`), and those that it is given while the others that it has do not end (`zfs_vdev_nia_credit`).
QUIET_READS, CREDIT = 5, 5
#: How full a pool is unless it is said: OpenZFS is used up to about 80 %, above which it finds free space slowly.
USUAL_USED_RATIO = 0.8


class ScanTables(NamedTuple):
    """A scan in whole numbers.

    Attributes
    ----------
    records : int
        Records that are stored, of the whole pool, from the first on.
    in_flight : int
        Sectors of records that are read and not written yet (rule X20).
    segment : int
        Blocks of a vdev that a step of a sequential resilver takes at most (rule X25); 0: it goes through records.
    least_ns : int
        A transaction group waits so long at least (rule X21).
    active_least, active_most, quiet, credit : int
        Reads that a disk is given (rule X14).
    """

    records: int
    in_flight: int
    segment: int
    least_ns: int
    active_least: int
    active_most: int
    quiet: int
    credit: int
