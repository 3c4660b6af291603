"""Signs in the rates that a disk has something which the fitted drive has not: two arms, or shingled tracks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calibrate.hdd.from_fio.conditions import Condition
from diskmodel.drive import Hdd

#: By how much the rate of reads may grow from one outstanding to so many before a single arm cannot be the reason.
#: Disks of one arm that order commands were measured at up to 1.1 and 1.3, and the simulated Exos 2X18 makes 1.47 and
#: 1.83. At half of the growth, ordering passes for a second arm; at double, a second arm does not show.
ONE_ARM = {2: 1.3, 4: 1.6}
#: Least rate of random writes as a part of that of reads one at a time: a write settles longer and may lose a
#: revolution. At a tenth, half of the shingled disks pass; at 1, a disk without a write cache does not.
SLOWEST_WRITES_RATIO = 0.4


def signs(reads: Sequence[Condition], writes: Sequence[Condition], drive: Hdd) -> Iterator[str]:
    """Yield what a single disk must have that the drive has not.

    Parameters
    ----------
    reads, writes : sequence of Condition
        Of a disk alone; the first reads are one at a time.
    drive : Hdd
        As fitted.
    """
    single = reads[0]
    faster = [c for c in reads if c.iops > ONE_ARM.get(c.depth, float("inf")) * single.iops]
    if faster and drive.actuators == 1:
        growth = faster[0].iops / single.iops
        yield (
            f"reads at queue depth {faster[0].depth} are {growth:.2f} times as fast as one at a time, which one arm "
            "cannot reach: if the drive has two actuators, name one that has (--drive seagate-exos-2x18); if these are "
            "several disks, describe them (--array)"
        )
    slow = [c for c in writes if c.iops < SLOWEST_WRITES_RATIO * single.iops]
    if slow and drive.media_cache is None:
        yield (
            f"random writes take {single.iops / slow[0].iops:.1f} times as long as reads, which no arm explains, but "
            "shingled tracks (SMR) that are written anew do; do not use this profile for random writes, but name a "
            "shingled drive (--drive seagate-archive-st8000as0002), or give the profile a [media_cache]"
        )
